/** Returns values that a handler may throw and that throw when inspected, keyed by a name for test titles. */
export function hostileValues(): Readonly<Record<string, unknown>> {
  const fail = (): never => {
    throw new Error("This value must not be inspected.");
  };
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const traps = new Proxy({}, { get: () => fail });
  return {
    "a revoked proxy": revoked,
    "a proxy whose every trap throws": new Proxy({}, traps),
    "an error whose message throws": Object.defineProperty(new Error(), "message", { get: fail }),
    "an error whose stack throws": Object.defineProperty(new Error("no GPU"), "stack", { get: fail }),
    "an error whose cause is a revoked proxy": new Error("no GPU", { cause: revoked }),
    "an error with a field that throws": Object.defineProperty(new Error("no GPU"), "job", {
      get: fail,
      enumerable: true,
    }),
    "an object whose code throws": Object.defineProperty({ message: "no GPU" }, "code", { get: fail }),
    "an object that claims every brand": new Proxy({}, { has: () => true, get: fail }),
    "an object whose toString throws": { toString: fail },
    "an object whose toJSON throws": { message: "no GPU", toJSON: fail },
    "an object without a prototype": Object.create(null),
    "a retry time that is a revoked proxy": Object.assign(new Error("no GPU"), { retryAt: revoked }),
  };
}
