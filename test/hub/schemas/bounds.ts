import { readFileSync } from "node:fs";
import * as z from "zod/mini";
/** One rule of the specification for a place in a body, with valid and invalid values. */
export interface Bound {
  /** The rule as a phrase. */
  rule: string;
  /** The place in the body, such as `job.labels`; an empty string is the body itself. */
  at: string;
  accepted: unknown[];
  /** Invalid values, each with the field that the error must name if it is not `at`. `undefined` removes the field. */
  refused: { value: unknown; names?: string }[];
  /** Values that are accepted and dropped, as if they were left out. */
  ignored?: unknown[];
}

/** One body that a test checks. */
export interface BoundCase {
  title: string;
  body: unknown;
  /** The field that the error must name, for an invalid body. */
  names?: string;
  /** The body after parsing, if a part of it is dropped. */
  left?: unknown;
}

/** Copies `body` with `value` at `at`, through JSON like a real request. */
function place({ body, at, value }: { body: JsonObject; at: string; value: unknown }): unknown {
  if (at === "") return asJson(value);
  const placed: JsonObject = structuredClone(body);
  const keys = at.split(/\.|\[|\]\.?/).filter((key) => key !== "");
  const last = keys.pop();
  if (last === undefined) throw new Error("A bound needs a place.");
  let parent: object = placed;
  for (const key of keys) {
    const next: unknown = Reflect.get(parent, key);
    if (typeof next !== "object" || next === null) throw new Error(`There is no ${key} in the body for ${at}.`);
    parent = next;
  }
  Reflect.set(parent, last, value);
  return asJson(placed);
}

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Makes the bodies of a table of bounds from a valid body. */
export function casesOf({ bounds, body }: { bounds: Bound[]; body: JsonObject }): {
  accepted: BoundCase[];
  refused: BoundCase[];
  ignored: BoundCase[];
} {
  const accepted = bounds.flatMap(({ rule, at, accepted }) =>
    accepted.map((value) => ({ title: titleOf({ rule, at, value }), body: place({ body, at, value }) })),
  );
  const refused = bounds.flatMap(({ rule, at, refused }) =>
    refused.map(({ value, names = at }) => ({
      title: titleOf({ rule, at, value }),
      body: place({ body, at, value }),
      names,
    })),
  );
  const ignored = bounds.flatMap(({ rule, at, ignored = [] }) =>
    ignored.map((value) => ({
      title: titleOf({ rule, at, value }),
      body: place({ body, at, value }),
      left: place({ body, at, value: undefined }),
    })),
  );
  return { accepted, refused, ignored };
}

function titleOf({ rule, at, value }: { rule: string; at: string; value: unknown }): string {
  const shown = JSON.stringify(value) ?? "left out";
  return `${rule}: ${at} ${shown.length > 60 ? `${shown.slice(0, 60)}… (${shown.length})` : shown}`;
}

/** Returns the fields that an error names, such as `watched[0].type`. */
export function namedFields(error: z.core.$ZodError): string[] {
  const paths = error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  return [...new Set(paths.map(fieldName))];
}

function fieldName(path: PropertyKey[]): string {
  return path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
}

/** The rules of the specification for one body, and the two schemas that must follow them: ours and the document's. */
export interface BoundTable {
  /** The name of the body in test titles. */
  subject: string;
  /** A valid body, into which each value is inserted. */
  body: JsonObject;
  bounds: Bound[];
  schema: z.ZodMiniType;
  /** The name of the schema in the document. */
  component: string;
  /** Fields that parsing adds if they are missing. */
  defaults?: JsonObject;
}

/** A table of a request body. */
export interface RequestTable extends BoundTable {
  /** The request that it belongs to, such as `PATCH /api/settings/watch`. */
  line: string;
}

const body = z.record(z.string(), z.unknown());

/** Returns the bodies of a fixture file with their names, written from the text of the specification. */
export function readBodies(
  file: "jobs" | "least-bodies" | "webhook-requests" | "webhooks",
): [name: string, body: JsonObject][] {
  const text = readFileSync(new URL(`fixtures/${file}.json`, import.meta.url), "utf8");
  return Object.entries(z.record(z.string(), body).parse(JSON.parse(text)));
}

/** A JSON object of unknown shape. */
export type JsonObject = Record<string, unknown>;
