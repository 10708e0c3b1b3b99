import { describe, expect, test } from "vitest";
import type { HubEvent } from "../../../src/local-hub.ts";
import { data, pushed } from "../support/hub.ts";
import { openWatchedTarget, triggerAndReceive } from "../support/target.ts";

describe("A repository", () => {
  test("is created by its first event, and keeps its id and its head", async () => {
    const heard = await openWatchedTarget();
    const first = await triggerAndReceive(heard, pushed);
    const second = await triggerAndReceive(heard, { repo: data, event: { scope: "repo.config", action: "update" } });
    expect([second.repo.id, second.repo.headSha]).toEqual([first.repo.id, first.repo.headSha]);
    const other = await triggerAndReceive(heard, { ...pushed, repo: { type: "model", name: data.name } });
    expect(other.repo.id).not.toBe(first.repo.id);
  });

  test("gets a new head only if the event lists the main branch", async () => {
    const heard = await openWatchedTarget();
    const { repo } = await triggerAndReceive(heard, pushed);
    const [a, b] = ["a".repeat(40), "b".repeat(40)];
    const refsOf = async (updatedRefs: HubEvent["updatedRefs"]) => triggerAndReceive(heard, { ...pushed, updatedRefs });
    expect((await refsOf([{ ref: "refs/pr/1", oldSha: null, newSha: a }])).repo.headSha).toBe(repo.headSha);
    expect((await refsOf([{ ref: "refs/heads/main", oldSha: null, newSha: null }])).repo.headSha).toBe(repo.headSha);
    const moved = await refsOf([
      { ref: "refs/convert/parquet", oldSha: null, newSha: a },
      { ref: "refs/heads/main", oldSha: a, newSha: b },
    ]);
    expect(moved.repo.headSha).toBe(b);
    // The commit of the event is invented, and the next push follows the commit that was really made.
    const [next] = (await triggerAndReceive(heard, pushed)).updatedRefs ?? [];
    expect(next?.oldSha).toMatch(/^[0-9a-f]{40}$/);
    expect([a, b, repo.headSha]).not.toContain(next?.oldSha);
  });

  test("has files but no commits if it is a bucket", async () => {
    const heard = await openWatchedTarget();
    const repo = { type: "bucket", name: "me/files" } as const;
    const updatedFiles = [{ path: "a.txt", action: "delete" }];
    const payload = await triggerAndReceive(heard, {
      repo,
      event: pushed.event,
      updatedFiles,
      updatedFilesTruncated: true,
    });
    expect(payload).toMatchObject({ updatedFiles, updatedFilesTruncated: true });
    expect(payload.repo).not.toHaveProperty("headSha");
    expect(payload).not.toHaveProperty("updatedRefs");
  });

  test("stays private or public until an event changes it", async () => {
    const heard = await openWatchedTarget();
    await heard.hub.create({ url: heard.target.url, watched: [{ type: "org", name: "acme" }] });
    const name = "acme/data";
    const happened = async (scope: string, changes: object = {}) => {
      const repo = { type: "dataset", name } as const;
      return (await triggerAndReceive(heard, { repo, event: { scope, action: "update" }, ...changes })).repo.private;
    };
    expect(await happened("repo.content", { repo: { type: "dataset", name, private: true } })).toBe(true);
    expect(await happened("repo.content")).toBe(true);
    expect(await happened("repo.config")).toBe(true);
    expect(await happened("repo.config", { updatedConfig: { private: false } })).toBe(false);
    expect(await happened("repo.content")).toBe(false);
    expect(await happened("repo.config", { updatedConfig: { private: true } })).toBe(true);
    expect(await happened("discussion")).toBe(true);
    expect(heard.target.payloads.at(-2)).toMatchObject({ updatedConfig: { private: true } });
  });

  test("is only updated by an unknown narrower scope", async () => {
    const heard = await openWatchedTarget();
    const first = await triggerAndReceive(heard, pushed);
    const narrower = await triggerAndReceive(heard, { repo: data, event: { scope: "repo.dois", action: "delete" } });
    expect(narrower.event).toEqual({ scope: "repo.dois", action: "delete" });
    expect((await triggerAndReceive(heard, pushed)).repo.id).toBe(first.repo.id);
    const discussed = await triggerAndReceive(heard, {
      repo: data,
      event: { scope: "discussion.reaction", action: "create" },
    });
    expect(discussed.comment).toBeUndefined();
    const opened = await triggerAndReceive(heard, { repo: data, event: { scope: "discussion", action: "create" } });
    expect(opened.discussion?.num).toBe(1);
  });
});
