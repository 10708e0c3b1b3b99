import type * as z from "zod/mini";

/** Reads a field of any value. Returns `undefined` if the field is missing or its getter throws. Never throws. */
export function readField(value: unknown, name: PropertyKey): unknown {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}

/** Reads a field of parsed JSON. Returns `undefined` if the field is missing or inherited, such as `constructor`. */
export function readOwnField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Whether a value of parsed JSON is an object, and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A thrown value as plain data: safe to log, store, and send to another process. */
export interface ErrorDescription {
  /** The name of the error, such as `TypeError`, or the type of any other thrown value, such as `string`. */
  name: string;
  message: string;
  /** An error code such as `ECONNREFUSED`. */
  code?: string | number;
  stack?: string;
  /** The cause of the error. Causes are at most {@link maxCauses} levels deep. */
  cause?: ErrorDescription;
}

const maxCauses = 5;

/** Describes any thrown value. Never throws, even for a revoked `Proxy` or an object whose getters throw. */
export function describeError(thrown: unknown, causesLeft: number = maxCauses): ErrorDescription {
  if ((typeof thrown !== "object" && typeof thrown !== "function") || thrown === null) {
    return { name: thrown === null ? "null" : typeof thrown, message: String(thrown) };
  }
  const code = readField(thrown, "code");
  const stack = readField(thrown, "stack");
  const cause = causesLeft > 0 ? readField(thrown, "cause") : undefined;
  return {
    name: readName(thrown),
    message: readMessage(thrown),
    ...((typeof code === "string" || typeof code === "number") && { code }),
    ...(typeof stack === "string" && { stack }),
    ...(cause !== undefined && { cause: describeError(cause, causesLeft - 1) }),
  };
}

/** Returns the thrown value if it is an error, otherwise an error that describes the value. Never throws. */
export function toError(thrown: unknown): Error {
  return isInstanceOf(thrown, Error) ? thrown : new Error(describeError(thrown).message);
}

/** Like `instanceof`, but returns `false` for a revoked `Proxy`. Never throws. */
export function isInstanceOf<Type>(value: unknown, type: new () => Type): value is Type {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

/** Returns the message of an error, or the text of any other thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  return describeError(thrown).message;
}

function readName(thrown: object): string {
  const candidates = [readField(thrown, "name"), readField(readField(thrown, "constructor"), "name")];
  return candidates.find((name): name is string => typeof name === "string" && name !== "") ?? "Object";
}

/**
 * Returns the message of an error. Falls back to the first nested error, because Node throws an `AggregateError`
 * without a message when all addresses of a host fail.
 */
function readMessage(thrown: object): string {
  const message = readField(thrown, "message");
  if (typeof message === "string" && message !== "") return message;
  if (typeof message === "number") return String(message);
  const firstMessage = readField(readField(readField(thrown, "errors"), 0), "message");
  if (typeof firstMessage === "string") return firstMessage;
  return typeof message === "string" ? message : toText(thrown);
}

function toText(thrown: object): string {
  try {
    return String(thrown);
  } catch {
    return "The thrown value cannot be inspected.";
  }
}

/**
 * Creates messages for issues whose schema does not define a message. Pass this function as `error` to the parser, because zod/mini
 * has no built-in messages, and zod's messages depend on zod's global configuration.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "required";
      // A query parameter that occurs more than once is parsed as an array.
      if (issue.expected === "string" && Array.isArray(issue.input)) return "expected only one value";
      return `expected ${issue.expected}, received ${typeName(issue.input)}`;
    case "invalid_value":
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      if (issue.minimum === 1 && issue.origin === "array") return "expected at least one item";
      if (issue.minimum === 1 && issue.origin === "string") return "must not be empty";
      return `expected ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `expected ${issue.inclusive ? "at most" : "less than"} ${issue.maximum}${unitOf(issue.origin)}`;
    case "invalid_format":
      return `invalid ${issue.format}`;
    default:
      return "invalid value";
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : typeof value;
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " items" : "";
}
