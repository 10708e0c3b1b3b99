/** One way in which a text may repeat a secret. */
export interface SecretForm {
  text: string;
  /** The character before `text` holds bits of the secret, too. */
  hasHead?: boolean;
  /** The character after `text` holds bits of the secret, too. */
  hasTail?: boolean;
}

/**
 * The forms in which a text may repeat a secret: as it is, in JSON, in JSON inside of JSON, percent-encoded and as a
 * form field. Base64 is not among them.
 */
export function secretForms(secret: string): string[] {
  return [...new Set([secret, inJson(secret), inJson(inJson(secret)), ...percentForms(secret.toWellFormed())])];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Libraries differ in what they escape beyond the reserved characters, in the case of the digits, and in the space. */
function percentForms(secret: string): string[] {
  const component = encodeURIComponent(secret);
  const strict = component.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const field = new URLSearchParams([["", secret]]).toString().slice(1);
  return [component, strict, component.replaceAll("%20", "+"), strict.replaceAll("%20", "+"), field].flatMap((form) => [
    form,
    form.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase()),
  ]);
}

/**
 * What stays the same of a secret in base64, as in `Basic <user:secret>`, whatever stands around it: one form for each
 * of the three places at which it may start in a group of three bytes, in both alphabets.
 */
export function base64Forms(secret: string): SecretForm[] {
  const bytes = Array.from(new TextEncoder().encode(secret), (byte) => String.fromCharCode(byte)).join("");
  return [0, 1, 2].flatMap((before) => {
    const bits = (before + bytes.length) * 8;
    const encoded = btoa("\0".repeat(before) + bytes);
    const text = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    const urlSafe = text.replaceAll("+", "-").replaceAll("/", "_");
    const edges = { hasHead: before > 0, hasTail: bits % 6 > 0 };
    return text === urlSafe ? [{ text, ...edges }] : [text, urlSafe].map((form) => ({ text: form, ...edges }));
  });
}
