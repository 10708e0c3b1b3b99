import { describe, expect, test } from "vitest";
import { editPayload, type PayloadEdit } from "../../src/payload/samples.ts";

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
  ])("whose path does not exist is refused: %s", (path, told) => {
    expect(() => edited({ path, value: 1 })).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID", message: expect.stringContaining(told) }),
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
