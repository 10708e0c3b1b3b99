/** Returns all text in a value that a logger could write: keys, strings, bytes, and all properties of an error. */
function textsIn(value: unknown, seen = new Set<object>()): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString("latin1")];
  if (typeof value !== "object" || value === null) return [String(value)];
  if (seen.has(value)) return [];
  seen.add(value);
  const hidden = value instanceof Error ? [value.message, value.stack, value.cause] : [];
  return [...hidden, ...Object.entries(value).flat()].flatMap((part) => textsIn(part, seen));
}

/** Whether a value contains `secret`, also encoded as hex, base64, or a list of bytes. */
export function holdsSecret(value: unknown, secret: string): boolean {
  const bytes = Buffer.from(secret);
  const forms = [secret, bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), [...bytes].join(",")];
  return textsIn(value).some((text) => forms.some((form) => text.includes(form)));
}

/** Values with a secret that a handler may throw, keyed by the location of the secret. */
export function errorsWithSecret(secret: string): Readonly<Record<string, unknown>> {
  const looped: Error & { self?: Error } = new Error(`Refused: ${secret}`);
  looped.self = looped;
  return {
    "its message": new Error(`The API refused ${secret}.`),
    "its stack": Object.assign(new Error("no"), { stack: `Error: no\n    at call (https://api?key=${secret})` }),
    "its cause": new Error("no", { cause: new Error(`401 for ${secret}`) }),
    "the cause of its cause": new Error("no", { cause: new Error("no", { cause: `401 for ${secret}` }) }),
    "one of several errors": new AggregateError([new Error(secret), new Error("no")], "all failed"),
    "a field of it": Object.assign(new Error("no"), { config: { headers: { authorization: `Bearer ${secret}` } } }),
    "the name of a field": Object.assign(new Error("no"), { headers: { [secret]: 1 } }),
    "JSON in its message": new Error(JSON.stringify({ headers: { authorization: secret } })),
    "a URL in its message": new Error(`GET https://api?key=${encodeURIComponent(secret)}`),
    "a URL of it": Object.assign(new Error("no"), { url: new URL(`https://api/?key=${encodeURIComponent(secret)}`) }),
    "a map of it": Object.assign(new Error("no"), { headers: new Map([["authorization", secret]]) }),
    "headers of it": Object.assign(new Error("no"), { headers: new Headers({ authorization: secret }) }),
    "what it makes of itself as JSON": { toJSON: () => ({ secret }), toString: () => secret },
    "an error that refers to itself": looped,
    "a text": `no access with ${secret}`,
    "an object": { reason: { secret } },
    "a list": [[secret]],
  };
}
