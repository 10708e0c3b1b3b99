import { describe, expect, test } from "vitest";
import { isScope, parsePayload } from "../../src/index.ts";
import { repoTypes, scopes } from "../../src/payload/names.ts";
import { editPayload, type PayloadEdit } from "../../src/payload/samples.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { pathsIn, readFixture } from "../support/payloads.ts";

const everySample = scopes.flatMap((scope) => repoTypes.map((type) => [scope, type] as const));

describe("A sample", () => {
  test.each(everySample)("is a valid payload: %s of a %s", (scope, type) => {
    const sample = webhookPayload(scope, { repo: { type } });
    expect(parsePayload(sample)).toBe(sample);
    expect([sample.event.scope, sample.repo.type, isScope(sample, scope)]).toEqual([scope, type, true]);
  });

  test.each([
    ["content-update-bucket", webhookPayload("repo.content", { repo: { type: "bucket" } })],
    ["content-update-space", webhookPayload("repo.content", { repo: { type: "space" } })],
    ["config-update-private", webhookPayload("repo.config")],
    ["discussion-create-pull-request", webhookPayload("discussion", { repo: { type: "model" } })],
    ["comment-create", webhookPayload("discussion.comment", { repo: { type: "space" } })],
  ])("has every field that a delivery of the Hub has: %s", (name, sample) => {
    // The lists of a sample have one item each, so compare only the first item.
    const fields = pathsIn(readFixture(name)).filter((path) => !path.some((key) => typeof key === "number" && key > 0));
    const sampled = pathsIn(sample).map((path) => path.join("."));
    expect(sampled).toEqual(expect.arrayContaining(fields.map((path) => path.join("."))));
  });

  test.each([
    ["model", "https://huggingface.co/acme/net", "https://huggingface.co/api/models/acme/net"],
    ["dataset", "https://huggingface.co/datasets/acme/net", "https://huggingface.co/api/datasets/acme/net"],
    ["space", "https://huggingface.co/spaces/acme/net", "https://huggingface.co/api/spaces/acme/net"],
    ["bucket", "https://huggingface.co/buckets/acme/net", "https://huggingface.co/api/buckets/acme/net"],
  ])("has URLs that follow the name and the type: of a %s", (type, web, api) => {
    const sample = webhookPayload("discussion", { repo: { type, name: "acme/net" } });
    expect(sample.repo.url).toEqual({ web, api });
    expect(sample.discussion.url).toEqual({ web: `${web}/discussions/7`, api: `${api}/discussions/7` });
    expect(sample.comment?.url.web).toBe(`${web}/discussions/7#${sample.comment?.id}`);
  });

  test("has a commit on `repo` scopes, and never of a bucket", () => {
    const withCommit = everySample.filter(
      ([scope, type]) => "headSha" in webhookPayload(scope, { repo: { type } }).repo,
    );
    expect(withCommit).toEqual(
      everySample.filter(([scope, type]) => scope.split(".")[0] === "repo" && type !== "bucket"),
    );
  });

  test("of a Space has a subdomain derived from the name", () => {
    const subdomain = (type: string) =>
      webhookPayload("repo", { repo: { type, name: "Acme/Rain_bot-99" } }).repo.subdomain;
    expect(["space", "dataset"].map(subdomain)).toEqual(["acme-rain-bot-99", undefined]);
  });

  test("of changed content lists the files of a bucket, and the refs of other repositories", () => {
    const listed = repoTypes.map((type) => {
      const { updatedFiles, updatedRefs } = webhookPayload("repo.content", { repo: { type: String(type) } });
      return [type, updatedFiles?.length, updatedRefs?.length];
    });
    expect(listed).toEqual(repoTypes.map((type) => (type === "bucket" ? [type, 1, undefined] : [type, undefined, 1])));
  });

  test("is a new object each time", () => {
    expect(webhookPayload("repo.content")).not.toBe(webhookPayload("repo.content"));
    webhookPayload("repo.content").updatedRefs.length = 0;
    expect(webhookPayload("repo.content").updatedRefs).toHaveLength(1);
  });
});

describe("A sample without changes", () => {
  test("is of a public dataset", () => {
    expect(scopes.map((scope) => [scope, webhookPayload(scope).event.action])).toEqual([
      ["repo", "update"],
      ["repo.content", "update"],
      ["repo.config", "update"],
      ["discussion", "create"],
      ["discussion.comment", "create"],
    ]);
    expect(webhookPayload("repo").repo).toMatchObject({ type: "dataset", name: "acme/data", private: false });
    expect(webhookPayload("repo.config").updatedConfig).toEqual({ private: false });
  });

  test("of a comment is visible, on an open pull request", () => {
    const { discussion, comment } = webhookPayload("discussion.comment");
    expect(discussion).toMatchObject({ status: "open", isPullRequest: true, changes: { base: "refs/heads/main" } });
    expect(comment).toMatchObject({ hidden: false, content: expect.stringMatching(/\w/) });
  });
});

describe("Changes of a sample", () => {
  test("replace the given fields and keep the others", () => {
    const plain = webhookPayload("repo.config");
    const changed = webhookPayload("repo.config", { event: { action: "delete" }, updatedConfig: { private: true } });
    expect(changed).toEqual({
      ...plain,
      event: { ...plain.event, action: "delete" },
      updatedConfig: { private: true },
    });
  });

  test("override values that are derived from the name", () => {
    const changes = { repo: { name: "acme/net", url: { web: "https://hub.example/acme/net" } } };
    expect(webhookPayload("repo", changes).repo.url).toEqual({
      web: "https://hub.example/acme/net",
      api: "https://huggingface.co/api/datasets/acme/net",
    });
  });

  test("replace a list as a whole", () => {
    const updatedRefs = [{ ref: "refs/pr/1", oldSha: null, newSha: "5" }];
    expect(webhookPayload("repo.content", { updatedRefs }).updatedRefs).toEqual(updatedRefs);
    expect(webhookPayload("repo", { repo: { tags: [] } }).repo.tags).toEqual([]);
  });

  test("add what the sample does not have", () => {
    const movedTo = { name: "other/data", owner: { id: "1" } };
    expect(webhookPayload("repo", { event: { action: "move" }, movedTo }).movedTo).toEqual(movedTo);
  });

  test("remove fields that are undefined", () => {
    expect(webhookPayload("discussion", { comment: undefined })).not.toHaveProperty("comment");
    expect(webhookPayload("repo", { repo: { headSha: undefined } }).repo).not.toHaveProperty("headSha");
  });

  test("do not set a prototype", () => {
    const { repo } = webhookPayload("repo", JSON.parse('{"repo":{"__proto__":{"private":true,"planted":true}}}'));
    expect([Object.getPrototypeOf(repo), Reflect.get(repo, "planted")]).toEqual([Object.prototype, undefined]);
  });

  test("are not modified", () => {
    const changes = { repo: { name: "acme/net" } };
    webhookPayload("repo", changes);
    expect(changes).toEqual({ repo: { name: "acme/net" } });
  });
});

describe("deliveryRequest", () => {
  test("creates the request that the Hub sends", async () => {
    const payload = webhookPayload("repo");
    const request = deliveryRequest({ endpoint: "acme/retrain", payload, secret: "s3cret", id: "d-1" });
    expect([request.method, request.url]).toEqual(["POST", "http://localhost/webhooks/acme/retrain"]);
    expect(Object.fromEntries(request.headers)).toEqual({
      "content-type": "application/json",
      "webhook-id": "d-1",
      "x-webhook-secret": "s3cret",
    });
    expect(await request.json()).toEqual(payload);
  });

  test("has no secret by default, and a new id each time", () => {
    const first = deliveryRequest({ endpoint: "retrain", payload: 1 });
    const second = deliveryRequest({ endpoint: "retrain", payload: 1 });
    expect(first.headers.has("x-webhook-secret")).toBe(false);
    expect(first.headers.get("webhook-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(second.headers.get("webhook-id")).not.toBe(first.headers.get("webhook-id"));
  });

  test("can have another base URL", () => {
    const request = deliveryRequest({ endpoint: "retrain", payload: 1, baseUrl: "https://acme-bot.hf.space" });
    expect(request.url).toBe("https://acme-bot.hf.space/webhooks/retrain");
  });
});

const payload = {
  event: { action: "update", scope: "repo.content" },
  repo: { name: "me/data", tags: ["a", "b", "c"] },
  updatedRefs: [{ ref: "refs/heads/main", oldSha: null }],
};

/** Applies an edit, given as path and value, and returns the payload. */
function edited(...edits: PayloadEdit[]): Record<string, unknown> {
  return editPayload(payload, edits);
}

describe("An edit", () => {
  test("keeps values beside its path that only JSON changes", () => {
    const url = new URL("https://hook.example/a");
    const edited = editPayload({ url, run: () => {} }, [{ path: "added", value: 1 }]);
    expect(JSON.stringify(edited)).toBe('{"url":"https://hook.example/a","added":1}');
  });

  test.each<[path: string, value: unknown, changed: object]>([
    ["repo.name", "me/new", { repo: { ...payload.repo, name: "me/new" } }],
    ["repo.private", true, { repo: { ...payload.repo, private: true } }],
    ["repo", 5, { repo: 5 }],
    ["extra", [{ deep: null }], { extra: [{ deep: null }] }],
    ["updatedRefs.0.ref", "refs/pr/1", { updatedRefs: [{ ref: "refs/pr/1", oldSha: null }] }],
    ["updatedRefs.0.oldSha", "5", { updatedRefs: [{ ref: "refs/heads/main", oldSha: "5" }] }],
    ["updatedRefs.1", "more", { updatedRefs: [...payload.updatedRefs, "more"] }],
    ["movedTo.owner.id", "7", { movedTo: { owner: { id: "7" } } }],
    ["updatedFiles.0.path", "a", { updatedFiles: [{ path: "a" }] }],
    ["updatedRefs.0.oldSha.deep", 1, { updatedRefs: [{ ref: "refs/heads/main", oldSha: { deep: 1 } }] }],
    ["constructor.name", "x", { constructor: { name: "x" } }],
  ])("puts at %s the value %j", (path, value, changed) => {
    expect(edited({ path, value })).toEqual({ ...payload, ...changed });
  });

  test.each<[path: string, changed: object]>([
    ["repo.tags.1", { repo: { name: "me/data", tags: ["a", "c"] } }],
    ["updatedRefs.0.oldSha", { updatedRefs: [{ ref: "refs/heads/main" }] }],
    ["repo.tags", { repo: { name: "me/data" } }],
    ["repo.tags.3", {}],
    ["repo.nothing.there", {}],
    ["updatedRefs.0.oldSha.deep", {}],
    ["repo.toString", {}],
    ["repo.name.length", {}],
  ])("takes away what is at %s", (path, changed) => {
    const { toString: _inherited, ...rest } = edited({ path, remove: true });
    expect(rest).toEqual({ ...payload, ...changed });
  });

  test("removes a whole field", () => {
    expect(Object.keys(edited({ path: "repo", remove: true }))).toEqual(["event", "updatedRefs"]);
  });

  test("applies to the result of earlier edits", () => {
    const { repo } = edited(
      { path: "repo", value: {} },
      { path: "repo.a", value: 1 },
      { path: "repo.b", value: 2 },
      { path: "repo.a", remove: true },
    );
    expect(repo).toEqual({ b: 2 });
  });

  test("does not change the given payload", () => {
    const before = structuredClone(payload);
    edited({ path: "repo.tags.0", value: "z" }, { path: "updatedRefs.0.ref", remove: true });
    expect(payload).toEqual(before);
  });

  test.each([
    ["repo.name.first", '"repo.name" is a string, not an object or a list'],
    ["updatedRefs.2", '"updatedRefs" is a list whose next index is 1'],
    ["updatedRefs.first", '"updatedRefs" is a list whose next index is 1'],
    ["updatedRefs.-1", '"updatedRefs" is a list'],
  ])("whose path does not exist is refused: %s", (path, message) => {
    expect(() => edited({ path, value: 1 })).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID", message: expect.stringContaining(message) }),
    );
  });

  test.each(["__proto__", "__proto__.polluted", "repo.__proto__.polluted", "constructor.prototype.polluted"])(
    "changes no prototype: %s",
    (path) => {
      const result = edited({ path, value: { polluted: true } });
      expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
      expect(Object.getPrototypeOf(result.repo)).toBe(Object.prototype);
      expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
      expect(JSON.stringify(result)).not.toContain("__proto__");
    },
  );
});
