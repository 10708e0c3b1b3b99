import { describe, expect, test } from "vitest";
import type { HubEvent } from "../../../src/local-hub.ts";
import { data, openLocalHub, pushed } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

type Watched = { type: string; name: string };

/** Returns the webhooks that fire, by the name in their path. */
async function firing(
  webhooks: Record<string, Record<string, unknown>>,
  event: HubEvent,
  { token }: { token?: string } = {},
): Promise<string[]> {
  const target = await openTarget();
  const hub = await openLocalHub();
  for (const [name, changes] of Object.entries(webhooks)) {
    await hub.create({ url: `${target.url}/${name}`, ...changes }, token === undefined ? {} : { token });
  }
  const fired = await hub.trigger(event);
  expect(fired).toHaveLength(target.requests.length);
  expect(fired.every(({ status }) => status === 200)).toBe(true);
  return target.requests.map(({ line }) => line.replace("POST /hook/", "")).sort();
}

function push(type: HubEvent["repo"]["type"], name: string, changes: object = {}): HubEvent {
  return { repo: { type, name, ...changes }, event: pushed.event };
}

describe("A webhook", () => {
  test.each<[watched: Watched, fires: boolean]>([
    [{ type: "dataset", name: "me/data" }, true],
    [{ type: "model", name: "me/data" }, false],
    [{ type: "dataset", name: "me/data2" }, false],
    [{ type: "dataset", name: "me/dat" }, false],
    [{ type: "dataset", name: "me" }, false],
    [{ type: "dataset", name: "Me/data" }, false],
    [{ type: "user", name: "me" }, true],
    [{ type: "org", name: "me" }, true],
    [{ type: "user", name: "me/data" }, false],
    [{ type: "user", name: "m" }, false],
    [{ type: "user", name: "data" }, false],
    [{ type: "user", name: "__proto__" }, false],
  ])("that watches %j: a push to the dataset me/data fires it: %s", async (watched, fires) => {
    expect(await firing({ it: { watched: [watched] } }, push("dataset", "me/data"))).toEqual(fires ? ["it"] : []);
  });

  test.each<[watched: Watched, repo: string, fires: boolean]>([
    [{ type: "user", name: "local-user" }, "local-user/data", true],
    [{ type: "org", name: "local-user" }, "local-user/data", false],
    [{ type: "user", name: "other-user" }, "other-user/data", true],
    [{ type: "org", name: "acme" }, "acme/data", true],
    [{ type: "user", name: "acme" }, "acme/data", false],
    [{ type: "org", name: "enterprise-org" }, "enterprise-org/data", true],
    [{ type: "org", name: "team-org" }, "team-org/data", true],
    [{ type: "org", name: "free-org" }, "free-org/data", true],
    [{ type: "user", name: "free-org" }, "free-org/data", false],
  ])("that watches %j: a push to %s fires it: %s", async (watched, repo, fires) => {
    expect(await firing({ it: { watched: [watched] } }, push("dataset", repo))).toEqual(fires ? ["it"] : []);
  });

  test.each(["model", "dataset", "space", "bucket", "kernel"] as const)("can watch a %s", async (type) => {
    const watching = {
      it: { watched: [{ type, name: "me/thing" }] },
      all: { watched: [{ type: "user", name: "me" }] },
    };
    expect(await firing(watching, push(type, "me/thing"))).toEqual(["all", "it"]);
  });

  test("fires once, even if several watched items match", async () => {
    const watched = [data, data, { type: "user", name: "me" }, { type: "org", name: "me" }];
    expect(await firing({ it: { watched } }, pushed)).toEqual(["it"]);
  });

  test("fires if one of several watched items matches", async () => {
    const watched = [{ type: "model", name: "me/net" }, { type: "org", name: "acme" }, data];
    expect(await firing({ it: { watched } }, pushed)).toEqual(["it"]);
  });

  test("fires together with other webhooks, each with its own delivery id", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const made = [];
    for (let count = 0; count < 20; count += 1) made.push((await hub.create({ url: target.url })).id);
    const fired = await hub.trigger();
    expect(fired.map(({ webhookId }) => webhookId)).toEqual(made);
    expect(new Set(fired.map(({ deliveryId }) => deliveryId)).size).toBe(20);
    expect(new Set(target.ids)).toEqual(new Set(fired.map(({ deliveryId }) => deliveryId)));
    expect(target.payloads.map(({ webhook }) => webhook.id).sort()).toEqual([...made].sort());
  });

  test("that watches the previous owner fires when a repository is moved to another owner", async () => {
    const webhooks = {
      old: { watched: [{ type: "user", name: "me" }] },
      new: { watched: [{ type: "user", name: "you" }] },
    };
    const moved = { repo: data, event: { scope: "repo", action: "move" }, movedTo: { name: "you/data" } };
    expect(await firing(webhooks, moved)).toContain("old");
  });
});

describe("The domains of a webhook", () => {
  test.each([
    ["repo", ["both", "repo"]],
    ["repo.content", ["both", "repo"]],
    ["repo.config", ["both", "repo"]],
    ["repo.config.dois", ["both", "repo"]],
    ["discussion", ["both", "discussion"]],
    ["discussion.comment", ["both", "discussion"]],
    ["discussion.comment.reaction", ["both", "discussion"]],
  ])("make an event of the scope %s fire %j", async (scope, fired) => {
    const webhooks = {
      repo: { domains: ["repo"] },
      discussion: { domains: ["discussion"] },
      both: { domains: ["discussion", "repo"] },
    };
    expect(await firing(webhooks, { repo: data, event: { scope, action: "update" } })).toEqual(fired);
  });
});

describe("A disabled webhook", () => {
  test("does not fire until it is enabled", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const { id } = await hub.create({ url: target.url });
    await hub.setState(id, "disable");
    expect(await hub.trigger()).toEqual([]);
    expect(await hub.get(id)).not.toHaveProperty("lastTriggerAt");
    await hub.setState(id, "enable");
    expect(await hub.trigger()).toMatchObject([{ webhookId: id, status: 200 }]);
    expect(target.requests).toHaveLength(1);
  });

  test("does not prevent other webhooks from firing", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const { id } = await hub.create({ url: target.url });
    const other = await hub.create({ url: target.url });
    await hub.setState(id, "disable");
    expect(await hub.trigger()).toMatchObject([{ webhookId: other.id }]);
  });
});

describe("A private repository", () => {
  test.each<[token: string, owner: string, fires: boolean]>([
    ["hf_local", "local-user", true],
    ["hf_local", "me", true],
    ["hf_local", "acme", true],
    ["hf_local", "enterprise-org", true],
    ["hf_local", "team-org", true],
    ["hf_local", "free-org", true],
    ["hf_local", "other-user", false],
    ["hf_other", "other-user", true],
    ["hf_other", "acme", true],
    ["hf_other", "local-user", false],
    ["hf_other", "me", false],
    ["hf_other", "enterprise-org", false],
    ["hf_other", "team-org", false],
    ["hf_other", "free-org", false],
  ])("fires a webhook of %s if it belongs to %s: %s", async (token, owner, fires) => {
    const repo = { type: "dataset", name: `${owner}/data` } as const;
    const webhooks = { it: { watched: [repo] } };
    expect(await firing(webhooks, push("dataset", repo.name, { private: true }), { token })).toEqual(
      fires ? ["it"] : [],
    );
    expect(await firing(webhooks, push("dataset", repo.name), { token })).toEqual(["it"]);
  });

  test("fires no webhooks of other users as soon as it is private", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const repo = { type: "model", name: "team-org/net" } as const;
    await hub.create({ url: `${target.url}/other`, watched: [repo] }, { token: "hf_other" });
    await hub.create({ url: `${target.url}/local`, watched: [repo] });
    const config = { repo, event: { scope: "repo.config", action: "update" } };
    expect(await hub.trigger({ ...config, updatedConfig: { private: true } })).toHaveLength(1);
    expect(await hub.trigger({ repo, event: pushed.event })).toHaveLength(1);
    expect(await hub.trigger({ repo, event: { scope: "discussion", action: "create" } })).toHaveLength(1);
    expect(await hub.trigger({ ...config, updatedConfig: { private: false } })).toHaveLength(2);
    expect(new Set(target.requests.slice(0, 3).map(({ line }) => line))).toEqual(new Set(["POST /hook/local"]));
  });
});
