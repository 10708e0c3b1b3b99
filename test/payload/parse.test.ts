import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePayload, WebhookError } from "../../src/index.ts";
import { scopes } from "../../src/payload/names.ts";
import { changedAt, fixtureNames, pathsIn, readFixture, valueAt } from "../support/payloads.ts";

/** Returns the message of the `PAYLOAD_INVALID` error, or `undefined` if the payload is valid. */
function refusal(value: unknown): string | undefined {
  try {
    parsePayload(value);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ name: "WebhookError", code: "PAYLOAD_INVALID", status: 422, retryable: false });
    return error instanceof Error ? error.message : undefined;
  }
}

describe("A payload of the Hub", () => {
  test.each(fixtureNames)("is returned unchanged: %s", (name) => {
    const value = readFixture(name);
    expect(parsePayload(value)).toBe(value);
    expect(value).toEqual(readFixture(name));
  });
});

/** Values that the field cannot have: the Hub sends `null` only for the commits of a new or deleted ref. */
const wrongFor = (path: string) => (/\.(old|new)Sha$/.test(path) ? [() => {}] : [() => {}, null]);

const requiredOfAll = [
  ..."event event.action event.scope".split(" "),
  ..."repo repo.type repo.name repo.id repo.private repo.url repo.url.web repo.owner repo.owner.id".split(" "),
  ..."webhook webhook.id webhook.version".split(" "),
];

const requiredOfDiscussions = [
  ..."discussion discussion.id discussion.num discussion.title discussion.status discussion.isPullRequest".split(" "),
  ..."discussion.author discussion.author.id discussion.url discussion.url.web discussion.url.api".split(" "),
];

const requiredOfComments =
  "comment.id comment.author comment.author.id comment.hidden comment.url comment.url.web".split(" ");

const furtherRequired: Readonly<Record<string, readonly string[]>> = {
  "repo-move-model": ["movedTo.name", "movedTo.owner", "movedTo.owner.id"],
  "content-update-model": ["updatedRefs", "updatedRefs.0.ref", "updatedRefs.1.oldSha", "updatedRefs.1.newSha"],
  "content-update-space": ["updatedRefs"],
  "content-ref-created": ["updatedRefs", "updatedRefs.0.oldSha"],
  "content-update-bucket": ["updatedFiles", "updatedFiles.0.path", "updatedFiles.1.action"],
  "config-update-private": ["updatedConfig"],
  "discussion-create-pull-request": [...requiredOfDiscussions, ...requiredOfComments, "discussion.changes.base"],
  "discussion-update-merged": requiredOfDiscussions,
  "comment-create": [...requiredOfDiscussions, "comment", ...requiredOfComments],
};

describe("A payload without a required field", () => {
  test.each(fixtureNames)("is rejected with the path, as is one with another type: %s", (name) => {
    for (const path of [...requiredOfAll, ...(furtherRequired[name] ?? [])]) {
      for (const wrong of [undefined, ...wrongFor(path)]) {
        const broken = changedAt(readFixture(name), path.split("."), wrong);
        expect(refusal(broken)).toMatch(new RegExp(`^Invalid payload: ${path.replaceAll(".", "\\.")}: [^;]+\\.$`));
      }
    }
  });

  test.each([
    ["repo-create-dataset", "repo.headSha"],
    ["repo-create-dataset", "repo.url.api"],
    ["repo-move-model", "repo.tags"],
    ["repo-move-model", "movedTo"],
    ["content-update-space", "repo.subdomain"],
    ["content-update-bucket", "updatedFiles.0.xetHash"],
    ["content-update-bucket", "updatedFiles.0.size"],
    ["content-update-bucket-truncated", "updatedFilesTruncated"],
    ["config-update-private", "updatedConfig.private"],
    ["discussion-create-pull-request", "comment"],
    ["discussion-create-pull-request", "discussion.changes"],
    ["discussion-update-merged", "discussion.pinned"],
    ["discussion-update-merged", "discussion.changes.mergeCommitId"],
    ["comment-create", "comment.content"],
  ])("is accepted without an optional field: %s without %s", (name, path) => {
    const slimmer = changedAt(readFixture(name), path.split("."), undefined);
    expect(slimmer).not.toEqual(readFixture(name));
    expect(parsePayload(slimmer)).toBe(slimmer);
    for (const wrong of wrongFor(path)) {
      expect(refusal(changedAt(readFixture(name), path.split("."), wrong))).toContain(`${path}: `);
    }
  });
});

describe("A payload with unknown values", () => {
  test.each([
    ["scope", "repo-create-dataset", "event.scope", "repo.seals"],
    ["scope of no known family", "repo-create-dataset", "event.scope", "organisation"],
    ["action", "repo-create-dataset", "event.action", "archive"],
    ["repository type", "repo-create-dataset", "repo.type", "scroll"],
    ["version", "repo-create-dataset", "webhook.version", 4],
    ["file action", "content-update-bucket", "updatedFiles.0.action", "rename"],
    ["discussion status", "comment-create", "discussion.status", "locked"],
  ])("is taken: a new %s", (_what, name, path, value) => {
    const payload = changedAt(readFixture(name), path.split("."), value);
    expect(parsePayload(payload)).toBe(payload);
  });

  test("does not need the fields of its broader scope", () => {
    expect(refusal(readFixture("config-dois-unknown"))).toBeUndefined();
    expect(valueAt(readFixture("config-dois-unknown"), ["updatedConfig"])).toBeUndefined();
  });

  test("does not need refs or files if the repository type is unknown", () => {
    const kernel = changedAt(readFixture("content-update-kernel"), ["updatedBuilds"], undefined);
    expect(refusal(kernel)).toBeUndefined();
    expect(refusal(changedAt(kernel, ["updatedRefs"], "none"))).toMatch(/^Invalid payload: updatedRefs: /);
    expect(refusal(changedAt(kernel, ["repo", "type"], "dataset"))).toMatch(/^Invalid payload: updatedRefs: /);
    expect(refusal(changedAt(kernel, ["repo", "type"], "bucket"))).toMatch(/^Invalid payload: updatedFiles: /);
  });
});

describe("The error of an invalid payload", () => {
  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a string", "payload"],
    ["a number", 3],
    ["a list", [readFixture("repo-create-dataset")]],
  ])("for %s reports that this is not a payload", (_what, value) => {
    expect(refusal(value)).toMatch(/^Invalid payload: payload: /);
  });

  test("lists the three required fields for an empty object", () => {
    expect(refusal({})).toMatch(/^Invalid payload: event: [^;]+; repo: [^;]+; webhook: [^;(]+\.$/);
  });

  test("lists the first three problems and counts the others", () => {
    expect(refusal({ event: {}, repo: {}, webhook: {} })).toMatch(
      /^Invalid payload: event\.action: [^;]+; event\.scope: [^;]+; repo\.type: [^;]+ \(and 7 more\)\.$/,
    );
  });

  test("does not contain the invalid value", () => {
    const planted = changedAt(readFixture("comment-create"), ["comment", "hidden"], "planted-value");
    expect(refusal(planted)).not.toContain("planted");
  });

  test("is short for a very long name or path", () => {
    const long = changedAt(readFixture("repo-create-dataset"), ["repo", "name"], "n".repeat(1_000_000));
    const message = refusal(long);
    expect(message).toMatch(/^Invalid payload: repo\.name: /);
    expect(message?.length).toBeLessThan(500);
  });

  const names = ["repo.name", "repo.id", "repo.type", "event.scope", "event.action", "webhook.id"];
  test.each(names)("is thrown for a %s of 513 characters, but not of 512", (path) => {
    const withLength = (length: number) =>
      refusal(changedAt(readFixture("repo-create-dataset"), path.split("."), "n".repeat(length)));
    expect([withLength(512), withLength(513)]).toEqual([undefined, expect.stringContaining(`${path}: `)]);
  });

  test("stops after the first few of a hundred thousand invalid items", () => {
    let looked = 0;
    const broken = () => ({
      get ref() {
        looked += 1;
        return 5;
      },
    });
    const updatedRefs = Array.from({ length: 100_000 }, broken);
    const value = { ...Object(readFixture("content-ref-created")), updatedRefs };
    expect(refusal(value)).toMatch(/^Invalid payload: updatedRefs\.0\.ref: .+\(and \d more\)\.$/);
    expect(looked).toBeLessThan(10);
  });

  test("lists three invalid items at most", () => {
    const broken = Array.from({ length: 10 }, () => ({ ref: 5, oldSha: null, newSha: null }));
    expect(refusal(changedAt(readFixture("content-ref-created"), ["updatedRefs"], broken))).toMatch(
      /^Invalid payload: updatedRefs\.0\.ref: [^;]+; updatedRefs\.1\.ref: [^;]+; updatedRefs\.2\.ref: [^;(]+\.$/,
    );
  });

  test("finds an invalid item after many valid ones", () => {
    const whole = Array.from({ length: 20 }, () => ({ ref: "refs/heads/main", oldSha: null, newSha: null }));
    const value = changedAt(readFixture("content-ref-created"), ["updatedRefs"], [...whole, { ref: "refs/pr/1" }]);
    expect(refusal(value)).toMatch(/^Invalid payload: updatedRefs\.20\.oldSha: .+; updatedRefs\.20\.newSha: .+\.$/);
  });
});

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
