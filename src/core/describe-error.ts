/** What is known of a thrown value, as plain data: safe to log, store and send to another process. */
export interface ErrorDescription {
  /** The name of the error, such as `TypeError`; the type of a thrown value that is no error, such as `string`. */
  name: string;
  message: string;
  /** Such as `ECONNREFUSED`. */
  code?: string | number;
  stack?: string;
  /** At most {@link maxCauses} deep. */
  cause?: ErrorDescription;
}

const maxCauses = 5;
const notReadable = "The thrown value cannot be inspected.";

/**
 * Describes whatever was thrown. Never throws: a handler may reject with a revoked `Proxy` or with an object whose
 * getters throw.
 *
 * @example
 * ```ts
 * try {
 *   await run();
 * } catch (error) {
 *   console.error(describeError(error).message);
 * }
 * ```
 */
export function describeError(thrown: unknown): ErrorDescription {
  return describe(thrown, maxCauses);
}

/** The thrown value itself where it is an error, otherwise an error that describes it. Never throws. */
export function toError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) return thrown;
  } catch {
    // A revoked `Proxy`: its prototype cannot be read.
  }
  return new Error(describeError(thrown).message);
}

/** A field of any value; `undefined` where there is none or where it cannot be read. Never throws. */
export function readField(value: unknown, name: PropertyKey): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}

function describe(thrown: unknown, causesLeft: number): ErrorDescription {
  if ((typeof thrown !== "object" && typeof thrown !== "function") || thrown === null) {
    return { name: thrown === null ? "null" : typeof thrown, message: String(thrown) };
  }
  const code = readField(thrown, "code");
  const stack = readField(thrown, "stack");
  const cause = causesLeft > 0 ? readField(thrown, "cause") : undefined;
  return {
    name: nameOf(thrown),
    message: messageOf(thrown),
    ...((typeof code === "string" || typeof code === "number") && { code }),
    ...(typeof stack === "string" && { stack }),
    ...(cause !== undefined && { cause: describe(cause, causesLeft - 1) }),
  };
}

function nameOf(thrown: object): string {
  const candidates = [readField(thrown, "name"), readField(readField(thrown, "constructor"), "name")];
  return candidates.find((name): name is string => typeof name === "string" && name !== "") ?? "Object";
}

/** An error of several addresses that could not be reached (`AggregateError`) has an empty message. */
function messageOf(thrown: object): string {
  const message = readField(thrown, "message");
  if (typeof message === "string" && message !== "") return message;
  if (typeof message === "number") return String(message);
  const first = readField(readField(thrown, "errors"), 0);
  const firstMessage = readField(first, "message");
  if (typeof firstMessage === "string") return firstMessage;
  return typeof message === "string" ? message : textOf(thrown);
}

function textOf(thrown: object): string {
  try {
    return String(thrown);
  } catch {
    return notReadable;
  }
}
