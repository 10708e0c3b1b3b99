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
