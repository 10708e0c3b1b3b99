import type { Bound } from "./bounds.ts";

/** Rules for the values of a field, as in the specification: valid values, and values just outside the limits. */
export interface Kind {
  rule: string;
  accepted: unknown[];
  refused: unknown[];
}

/** Any text, including an empty one. */
export const text: Kind = {
  rule: "is a string",
  accepted: ["", "x", "é 😀\n", "x".repeat(5_000)],
  refused: [null, 1, true, {}, ["x"]],
};

/** Any number. */
export const number: Kind = {
  rule: "is a number",
  accepted: [0, 1, -1, 1.5, 9007199254740991],
  refused: [null, "1", true, {}, [1]],
};

/** `true` or `false`. */
export const boolean: Kind = {
  rule: "is a boolean",
  accepted: [true, false],
  refused: [null, "true", "", 0, 1, {}, [true]],
};

/** An id in a response. */
export const objectId: Kind = {
  rule: "is 24 lower-case hexadecimal digits",
  accepted: ["0123456789abcdef01234567", "0".repeat(24), "f".repeat(24)],
  refused: [
    null,
    "",
    1,
    "0".repeat(23),
    "0".repeat(25),
    "F".repeat(24),
    `${"0".repeat(23)}A`,
    `${"0".repeat(23)}g`,
    `${"0".repeat(24)}\n`,
    ` ${"0".repeat(24)}`,
    ["0".repeat(24)],
  ],
};

/** An id in some requests. */
export const objectIdInEitherCase: Kind = {
  rule: "is 24 hexadecimal digits in either case",
  accepted: ["0123456789abcdef01234567", "0123456789ABCDEF01234567", "aAbBcCdDeEfF001122334455", "F".repeat(24)],
  refused: [
    null,
    "",
    1,
    "0".repeat(23),
    "0".repeat(25),
    "F".repeat(23),
    "F".repeat(25),
    `${"0".repeat(23)}g`,
    `${"0".repeat(23)}G`,
    `${"0".repeat(24)}\n`,
    ` ${"0".repeat(24)}`,
    ["0".repeat(24)],
  ],
};

/** Timestamps as strings. */
export const timestamps = {
  accepted: [
    "2026-09-01T12:34:56Z",
    "2026-09-01T12:34:56.7Z",
    "2026-09-01T12:34:56.789012Z",
    "2024-02-29T23:59:59Z",
    "1970-01-01T00:00:00.000Z",
  ],
  refused: [
    "",
    "Z",
    "0",
    "2026-09-01",
    "2026-09-01T12:34:56",
    "2026-09-01T12:34Z",
    "2026-09-01 12:34:56Z",
    "2026-09-01T12:34:56+00:00",
    "2026-09-01T12:34:56-00:00",
    "2026-09-01T14:34:56+02:00",
    "2026-09-01T12:34:56.Z",
    "2026-09-01T24:34:56Z",
    "2026-09-01T12:60:56Z",
    "2026-13-01T12:34:56Z",
    "2026-02-30T12:34:56Z",
    "2026-09-01T12:34:56Z ",
    "Tue, 01 Sep 2026 12:34:56 GMT",
  ],
};

/** A time. */
export const timestamp: Kind = {
  rule: "is a date and time in UTC that ends in Z, the fraction optional",
  accepted: timestamps.accepted,
  refused: [null, 0, 1788266096000, true, {}, ...timestamps.refused],
};

/** The five repository types. */
export const repoTypes = ["dataset", "model", "space", "bucket", "kernel"];

/** One of five roles, or the name of a custom one. */
export const role: Kind = {
  rule: "is one of five roles, or the name of a custom one",
  accepted: ["admin", "write", "contributor", "read", "no_access", "Data Steward", "é", "x".repeat(300)],
  refused: [null, "", 1, true, {}, ["admin"]],
};

/** A kind of field: one of several strings. */
export function oneOf(values: string[]): Kind {
  const near = values.flatMap((value) => [`${value}s`, ` ${value}`, value.toUpperCase(), value.slice(0, -1)]);
  return {
    rule: `is one of ${values.length}`,
    accepted: values,
    refused: [null, "", 0, {}, [values[0]], ...near.filter((value) => !values.includes(value))],
  };
}

/** An array. Its items have their own rules. */
export const array: Kind = { rule: "is an array", accepted: [[]], refused: [null, "", 0, true, {}, { 0: "x" }] };

/** An array of at least one item. */
export const filledArray: Kind = {
  rule: "is an array of at least one item",
  accepted: [],
  refused: [[], ...array.refused],
};

/** An object. Its fields have their own rules. */
export const object: Kind = { rule: "is an object", accepted: [], refused: [null, "", 0, true, [], [{}]] };

/** Returns rules for required fields, by place. */
export function required(fields: Record<string, Kind>): Bound[] {
  return Object.entries(fields).map(([at, { rule, accepted, refused }]) => ({
    rule: `${rule}, and required`,
    at,
    accepted,
    refused: [undefined, ...refused].map((value) => ({ value })),
  }));
}

/** Returns rules for optional fields, by place. */
export function optional(fields: Record<string, Kind>): Bound[] {
  return Object.entries(fields).map(([at, { rule, accepted, refused }]) => ({
    rule: `${rule}, if given`,
    at,
    accepted: [undefined, ...accepted],
    refused: refused.map((value) => ({ value })),
  }));
}

/** Returns rules that reject unknown fields at these places. An empty string is the body itself. */
export function noOtherFields(places: string[]): Bound[] {
  return places
    .flatMap((place) => ["stranger", "Type", "ID"].map((name) => (place === "" ? name : `${place}.${name}`)))
    .map((at) => ({
      rule: "there are no other fields",
      at,
      accepted: [undefined],
      refused: [null, "x", false, {}].map((value) => ({ value })),
    }));
}

/** Returns rules by which the Hub drops unknown fields at these places. An empty string is the body itself. */
export function otherFieldsIgnored(places: string[]): Bound[] {
  return noOtherFields(places).map(({ at, refused }) => ({
    rule: "other fields are ignored",
    at,
    accepted: [],
    refused: [],
    ignored: refused.map(({ value }) => value),
  }));
}

/** Returns a rule by which the Hub drops a field that other bodies have. */
export function ignoredField(at: string, values: unknown[]): Bound {
  return { rule: "is ignored here", at, accepted: [], refused: [], ignored: values };
}

/** The body must be an object. */
export const objectBody: Bound = {
  rule: "the body is an object",
  at: "",
  accepted: [],
  refused: [null, [], [{}], "text", 1, true].map((value) => ({ value })),
};
