import { readFileSync } from "node:fs";
import * as z from "zod/mini";
/** What one sentence of hub-api.md lets through at a place of a body, and what it does not. */
export interface Bound {
  /** The sentence, in our words. */
  rule: string;
  /** Where in the body, as in `job.labels`; an empty text is the body itself. */
  at: string;
  accepted: unknown[];
  /** Each with the field that the refusal must name, where it is not `at` itself. `undefined` leaves the field out. */
  refused: { value: unknown; names?: string }[];
  /** What is accepted and dropped, as if it had been left out. */
  ignored?: unknown[];
}

/** One body of a bound: what a test runs on. */
export interface BoundCase {
  title: string;
  body: unknown;
  /** The field that must be named, of a body that is to be refused. */
  names?: string;
  /** What is left of the body, where a part of it is dropped. */
  left?: unknown;
}

/** A copy of `body` with `value` at `at`, as it would arrive: through JSON. */
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

/** The bodies that a table of bounds makes of one that is valid. */
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

/** The fields that a refusal names, as in `watched[0].type`. */
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

/** What hub-api.md says of one body, and the two that must hold to it: our schema and the document's. */
export interface BoundTable {
  /** What the body is of. */
  subject: string;
  /** A valid body, in which each value is placed. */
  body: JsonObject;
  bounds: Bound[];
  schema: z.ZodMiniType;
  /** The name of the schema in the document. */
  component: string;
  /** What is there once it is read, where it is left out. */
  defaults?: JsonObject;
}

/** A table of a body that is sent. */
export interface RequestTable extends BoundTable {
  /** A request that it goes with, such as `PATCH /api/settings/watch`. */
  line: string;
}

const body = z.record(z.string(), z.unknown());

/** The bodies of a fixture file, each with the name that tells what it is; written from the text of hub-api.md. */
export function readBodies(
  file: "jobs" | "least-bodies" | "webhook-requests" | "webhooks",
): [name: string, body: JsonObject][] {
  const text = readFileSync(new URL(`fixtures/${file}.json`, import.meta.url), "utf8");
  return Object.entries(z.record(z.string(), body).parse(JSON.parse(text)));
}

/** An object of JSON, of which nothing is known yet. */
export type JsonObject = Record<string, unknown>;
