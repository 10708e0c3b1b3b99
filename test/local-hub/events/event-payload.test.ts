import { describe, expect, test } from "vitest";
import type { HubEvent } from "../../../src/local-hub.ts";
import { repoTypes } from "../../../src/payload/names.ts";
import { knownEvents } from "../../support/payloads.ts";
import { data, pushed } from "../support/hub.ts";
import { openWatchedTarget, triggerAndReceive } from "../support/target.ts";

const id = expect.stringMatching(/^[0-9a-f]{24}$/);
const sha = expect.stringMatching(/^[0-9a-f]{40}$/);

const paths = { model: "", dataset: "datasets/", space: "spaces/", bucket: "buckets/", kernel: "kernels/" };

function eventOf([scope, action]: readonly [string, string], repo: HubEvent["repo"]): HubEvent {
  return { repo, event: { scope, action }, ...(action === "move" && { movedTo: { name: "you/thing" } }) };
}

describe("A payload", () => {
  test.each(repoTypes)("of a %s follows version 3", async (type) => {
    const heard = await openWatchedTarget();
    for (const [number, [scope, action]] of knownEvents.entries()) {
      const name = `me/thing${number}`;
      const payload = await triggerAndReceive(heard, eventOf([scope, action], { type, name }));
      const moved = action === "move";
      const web = `${heard.hub.url}/${paths[type]}${name}`;
      const discussion = {
        id,
        num: 1,
        title: expect.any(String),
        status: "open",
        isPullRequest: false,
        author: { id },
        url: { web: `${web}/discussions/1`, api: `${heard.hub.url}/api/${type}s/${name}/discussions/1` },
      };
      const comment = {
        id,
        author: { id },
        hidden: false,
        url: { web: expect.stringContaining(`${web}/discussions/1#`) },
        content: expect.any(String),
      };
      expect(payload).toEqual({
        event: { scope, action },
        repo: {
          type,
          name,
          id,
          private: false,
          url: { web, api: `${heard.hub.url}/api/${type}s/${name}` },
          owner: { id },
          ...(scope.startsWith("repo") && type !== "bucket" && { headSha: sha }),
          ...(type === "space" && { subdomain: name.replace("/", "-") }),
        },
        ...(moved && { movedTo: { name: "you/thing", owner: { id } } }),
        ...(scope === "repo.content" &&
          type !== "bucket" && { updatedRefs: [{ ref: "refs/heads/main", oldSha: sha, newSha: sha }] }),
        ...(scope === "repo.content" &&
          type === "bucket" && {
            updatedFiles: [
              { path: expect.any(String), action: "add", xetHash: expect.any(String), size: expect.any(Number) },
            ],
          }),
        ...(scope === "repo.config" && { updatedConfig: {} }),
        ...(scope.startsWith("discussion") && { discussion }),
        ...((scope === "discussion.comment" || (scope === "discussion" && action === "create")) && { comment }),
        webhook: { id: heard.webhookId, version: 3 },
      });
    }
  });

  test("contains the same owner ID for all repositories of an owner, in every local Hub", async () => {
    const [first, second] = [await openWatchedTarget(), await openWatchedTarget()];
    const one = await triggerAndReceive(first, pushed);
    const two = await triggerAndReceive(second, { ...pushed, repo: { type: "model", name: "me/net" } });
    expect(two.repo.owner).toEqual(one.repo.owner);
    expect(two.repo.id).not.toEqual(one.repo.id);
  });

  test("of an unknown scope has the fields of the broader scope, and its own name", async () => {
    const heard = await openWatchedTarget();
    for (const [scope, shape] of [
      ["repo.config.dois", { updatedConfig: {} }],
      ["repo.content.lfs", { updatedRefs: [{ ref: "refs/heads/main", oldSha: sha, newSha: sha }] }],
      ["repo.stars", {}],
      ["discussion.comment.reaction", { discussion: expect.anything(), comment: expect.anything() }],
    ] as const) {
      const { event, repo, webhook, ...rest } = await triggerAndReceive(heard, {
        repo: data,
        event: { scope, action: "pin" },
      });
      expect(event).toEqual({ scope, action: "pin" });
      expect([repo.name, webhook.version, rest]).toEqual([data.name, 3, shape]);
    }
  });

  test("contains every field of the event, known or unknown", async () => {
    const heard = await openWatchedTarget();
    const payload = await triggerAndReceive(heard, {
      repo: { ...data, tags: ["region:eu"], likes: 5, url: { web: "https://hub.example/me" } },
      event: { ...pushed.event, actor: { name: "ada" } },
      updatedRefs: [{ ref: "refs/pr/7", oldSha: null, newSha: "5", note: "x" }],
      extra: { deep: [1, { two: null }] },
    });
    expect(payload).toMatchObject({
      repo: { tags: ["region:eu"], likes: 5, url: { web: "https://hub.example/me", api: expect.any(String) } },
      event: { scope: "repo.content", action: "update", actor: { name: "ada" } },
      updatedRefs: [{ ref: "refs/pr/7", oldSha: null, newSha: "5", note: "x" }],
      extra: { deep: [1, { two: null }] },
    });
  });

  test("contains its own webhook, regardless of the event's content", async () => {
    const heard = await openWatchedTarget();
    await heard.hub.hub.push(data, { webhook: { id: "another", version: 9 }, note: 7 });
    const webhook = { id: heard.webhookId, version: 3 };
    expect(heard.target.payloads).toMatchObject([{ event: pushed.event, note: 7, webhook }]);
  });
});

describe("A property name of every object, such as __proto__,", () => {
  test("changes no prototype if an event contains it", async () => {
    const heard = await openWatchedTarget();
    const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},';
    const text = `${evil}"repo":{"__proto__":{"polluted":1},"type":"dataset","name":"me/data"},"event":{"scope":"repo.content","action":"update","__proto__":{"polluted":1}},"discussion":{"__proto__":{"polluted":1}}}`;
    expect((await heard.hub.request("POST /_local/events?wait=true", { text })).status).toBe(200);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
    expect(Object.hasOwn({}.constructor.prototype, "polluted")).toBe(false);
    expect(heard.target.requests[0]?.body).not.toContain("__proto__");
    expect(heard.target.payloads[0]).toMatchObject({ repo: { name: "me/data" }, event: pushed.event });
    expect(await triggerAndReceive(heard, pushed)).toMatchObject({ event: pushed.event });
  });

  test("can be the name of a repository", async () => {
    const heard = await openWatchedTarget();
    for (const name of ["me/__proto__", "me/constructor"]) {
      const [first, second] = [
        await triggerAndReceive(heard, { ...pushed, repo: { type: "dataset", name } }),
        await triggerAndReceive(heard, { ...pushed, repo: { type: "dataset", name } }),
      ];
      expect([first.repo.name, second.repo.id]).toEqual([name, first.repo.id]);
    }
  });
});
