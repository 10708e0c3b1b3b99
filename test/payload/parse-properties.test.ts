import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePayload, WebhookError } from "../../src/index.ts";
import { scopes } from "../../src/payload/names.ts";
import { changedAt, fixtureNames, pathsIn, readFixture, valueAt } from "../support/payloads.ts";

const fixture = fc.constantFrom(...fixtureNames).map(readFixture);

/** Generates deliveries of the Hub with one changed value. They are closer to valid ones than random values. */
const damaged = fixture.chain((value) =>
  fc
    .tuple(fc.constantFrom(...pathsIn(value)), fc.option(fc.jsonValue(), { nil: undefined }))
    .map(([path, change]) => changedAt(value, path, change)),
);

/** The same with another scope or repository type, which require other fields. */
const renamed = fc
  .tuple(
    damaged,
    fc.constantFrom(...scopes, "repo.content.lfs", "discussion.", "user", ""),
    fc.constantFrom("model", "dataset", "space", "bucket", "kernel", "__proto__", ""),
  )
  .map(([value, scope, type]) => changedAt(changedAt(value, ["event", "scope"], scope), ["repo", "type"], type));

const anything = fc.oneof(fc.jsonValue(), damaged, renamed);

/** Fields in the schemas. A wrong value in one of them must cause an error. */
const knownFields = new Set([
  ..."event action scope repo type name id private url web api owner headSha subdomain tags webhook version".split(" "),
  ..."movedTo updatedRefs ref oldSha newSha updatedFiles updatedFilesTruncated path xetHash size updatedConfig".split(
    " ",
  ),
  ..."discussion num title status isPullRequest author pinned changes base mergeCommitId".split(" "),
  ..."comment hidden content".split(" "),
]);

const unknownField = fc
  .oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "then", ""))
  .filter((key) => !knownFields.has(key));

const objectPaths = (value: unknown) => [
  [],
  ...pathsIn(value).filter((path) => {
    const at = valueAt(value, path);
    return typeof at === "object" && at !== null && !Array.isArray(at);
  }),
];

describe("For any JSON value, parsePayload", () => {
  test("returns the same value or throws a short PAYLOAD_INVALID", () => {
    fc.assert(
      fc.property(anything, (value) => {
        try {
          expect(parsePayload(value)).toBe(value);
        } catch (error) {
          if (!WebhookError.isInstance(error)) throw error;
          expect(error.code).toBe("PAYLOAD_INVALID");
          expect(error.message.length).toBeLessThan(1_000);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("accepts only fields of their types", () => {
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const payload = parsePayload(value);
          expect(mismatch(payload, typeTableOf(payload.event.scope, payload.repo.type), "payload")).toBeUndefined();
        } catch (error) {
          if (!WebhookError.isInstance(error)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });

  test("does not change it", () => {
    fc.assert(
      fc.property(anything, (value) => {
        const before = JSON.stringify(value);
        try {
          parsePayload(value);
        } catch {}
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });
});

test("For any delivery of the Hub, parsePayload accepts additional fields anywhere", () => {
  const extended = fixture.chain((value) =>
    fc
      .tuple(fc.constantFrom(...objectPaths(value)), unknownField, fc.jsonValue())
      .map(([path, key, further]) => ({ value: changedAt(value, [...path, key], further), path, key })),
  );
  fc.assert(
    fc.property(extended, ({ value, path, key }) => {
      expect(parsePayload(value)).toBe(value);
      expect(Object.keys(Object(valueAt(value, path)))).toContain(key);
    }),
    { numRuns: 150 },
  );
});

/**
 * The types of a payload, written a second time without the schemas: "string", "number?" (may be absent), "string|null", an
 * object of these, or a list of one.
 */
type TypeTable = string | readonly [TypeTable] | { readonly [key: string]: TypeTable };

const common = {
  event: { action: "string", scope: "string" },
  repo: {
    type: "string",
    name: "string",
    id: "string",
    private: "boolean",
    url: { web: "string", api: "string?" },
    owner: { id: "string" },
    headSha: "string?",
    subdomain: "string?",
  },
  webhook: { id: "string", version: "number" },
} as const;

const discussion = {
  id: "string",
  num: "number",
  title: "string",
  status: "string",
  isPullRequest: "boolean",
  author: { id: "string" },
  url: { web: "string", api: "string" },
  pinned: "boolean?",
} as const;

const comment = {
  id: "string",
  author: { id: "string" },
  hidden: "boolean",
  url: { web: "string" },
  content: "string?",
} as const;

const updatedRefs = [{ ref: "string", oldSha: "string|null", newSha: "string|null" }] as const;
const updatedFiles = [{ path: "string", action: "string", xetHash: "string?", size: "number?" }] as const;

function typeTableOf(scope: string, repoType: string): TypeTable {
  if (scope === "repo.config") return { ...common, updatedConfig: { private: "boolean?" } };
  if (scope === "discussion") return { ...common, discussion };
  if (scope === "discussion.comment") return { ...common, discussion, comment };
  if (scope !== "repo.content") return common;
  if (repoType === "bucket") return { ...common, updatedFiles };
  return ["model", "dataset", "space"].includes(repoType) ? { ...common, updatedRefs } : common;
}

/** Returns the first value that does not have its type. */
function mismatch(value: unknown, expected: TypeTable, path: string): string | undefined {
  if (typeof expected === "string") return isOf(value, expected) ? undefined : `${path} is not a ${expected}`;
  if (isList(expected)) {
    if (!Array.isArray(value)) return `${path} is not a list`;
    return firstOf(value.map((item, index) => [item, expected[0], `${path}.${index}`]));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${path} is not an object`;
  return firstOf(Object.entries(expected).map(([key, inner]) => [Reflect.get(value, key), inner, `${path}.${key}`]));
}

function firstOf(parts: readonly (readonly [unknown, TypeTable, string])[]): string | undefined {
  for (const part of parts) {
    const found = mismatch(...part);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isList(expected: TypeTable): expected is readonly [TypeTable] {
  return Array.isArray(expected);
}

function isOf(value: unknown, expected: string): boolean {
  if (expected.endsWith("?")) return value === undefined || isOf(value, expected.slice(0, -1));
  if (expected === "string|null") return value === null || typeof value === "string";
  return typeof value === expected;
}
