/** All texts in a value that a logger could write: keys, strings, bytes, and every property of an error. */
function textsIn(value: unknown, seen = new Set<object>()): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString("latin1")];
  if (typeof value !== "object" || value === null) return [String(value)];
  if (seen.has(value)) return [];
  seen.add(value);
  const hidden = value instanceof Error ? [value.message, value.stack, value.cause] : [];
  return [...hidden, ...Object.entries(value).flat()].flatMap((part) => textsIn(part, seen));
}

/** Whether a value contains `secret`, also as hex, base64 or a list of bytes. */
export function holdsSecret(value: unknown, secret: string): boolean {
  const bytes = Buffer.from(secret);
  const forms = [secret, bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), [...bytes].join(",")];
  return textsIn(value).some((text) => forms.some((form) => text.includes(form)));
}
