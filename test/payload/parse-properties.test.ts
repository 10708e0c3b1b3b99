import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validate } from "zod/v4/core";
import { parsePayload, WebhookError } from "../../src/index.ts";
import { compile } from "../../src/payload/compiler.ts";
import { repoTypes, scopes } from "../../src/payload/names.ts";
import { type PayloadSchema, schemaOf } from "../../src/payload/schema.ts";
import { changedAt, fixtureNames, pathsIn, readFixture, valueAt } from "../support/payloads.ts";

const fixture = fc.constantFrom(...fixtureNames).map(readFixture);

/** Generates deliveries of the Hub with one changed value. They are closer to valid ones than random values. */
const damaged = fixture.chain((value) =>
  fc
    .tuple(fc.constantFrom(...pathsIn(value)), fc.option(fc.jsonValue(), { nil: undefined }))
    .map(([path, change]) => changedAt(value, path, change)),
);

const anything = fc.oneof(fc.jsonValue(), damaged);

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
      { numRuns: 500 },
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

  test("has the same result when it is called again", () => {
    const endOf = (value: unknown) => {
      try {
        return parsePayload(value);
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(anything, (value) => {
        expect(endOf(value)).toBe(endOf(value));
      }),
    );
  });
});

describe("For any delivery of the Hub, parsePayload", () => {
  test("accepts additional fields anywhere", () => {
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
      { numRuns: 300 },
    );
  });
});

describe("A compiled payload schema", () => {
  const schemas = [...scopes, "unknown"].flatMap((scope) => repoTypes.map((type) => schemaOf(scope, type)));
  // With `strict`, a schema that cannot be compiled throws.
  const compiled = new Map(
    schemas.map((schema): [PayloadSchema, PayloadSchema] => [schema, compile(schema, { strict: true })]),
  );

  test("accepts exactly the payloads that the schema accepts", () => {
    const results = new Set<boolean>();
    fc.assert(
      fc.property(anything, (value) => {
        for (const [schema, fast] of compiled) {
          const { success } = schema.safeParse(value);
          expect(validate(fast, value)).toBe(success);
          results.add(success);
        }
      }),
      { numRuns: 300 },
    );
    expect(results).toEqual(new Set([true, false]));
  });

  test("replaces the schema after 500 payloads, with the same results and errors", async () => {
    const payload = readFixture(String(fixtureNames[0]));
    const invalid = { ...Object(payload), webhook: { id: "1", version: "3" } };
    const expected = "Invalid payload: webhook.version: expected number, received string.";
    const parse = () => {
      expect(parsePayload(payload)).toBe(payload);
      expect(() => parsePayload(invalid)).toThrow(expected);
    };
    parse();
    for (let parsed = 0; parsed < 500; parsed += 1) parsePayload(payload);
    // The compiler is imported meanwhile.
    await import("../../src/payload/compiler.ts");
    await new Promise(setImmediate);
    parse();
  });
});
