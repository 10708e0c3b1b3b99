import { describe, expect, test } from "vitest";
import { triggerArguments } from "../../../src/local-hub/events/trigger.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { data, openLocalHub, pushed } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

/** Returns the webhooks that fire, by the name in their path. */
async function firing(
  webhooks: Record<string, Record<string, unknown>>,
  event: HubEvent,
  { token = "hf_local" } = {},
): Promise<string[]> {
  const target = await openTarget();
  const hub = await openLocalHub();
  for (const [name, changes] of Object.entries(webhooks)) {
    await hub.create({ url: `${target.url}/${encodeURIComponent(name)}`, ...changes }, { token });
  }
  const fired = await hub.trigger(event);
  expect(fired).toHaveLength(target.requests.length);
  expect(fired.every(({ status }) => status === 200)).toBe(true);
  return target.requests.map(({ line }) => decodeURIComponent(line.replace("POST /hook/", ""))).sort();
}

/** Returns a webhook for each watched item such as `user me`, by this item. */
function watching(items: readonly string[]) {
  const webhookOf = (item: string) => {
    const [type = "", name = ""] = item.split(" ");
    return [item, { watched: [{ type, name }] }] as const;
  };
  return Object.fromEntries(items.map(webhookOf));
}

function push(type: HubEvent["repo"]["type"], name: string, changes: object = {}): HubEvent {
  return { repo: { type, name, ...changes }, event: pushed.event };
}

describe("A webhook", () => {
  test("fires for a repository or an owner with the watched type and name, regardless of case", async () => {
    const others = ["model me/data", "dataset me/data2", "dataset me/dat", "dataset me"];
    const owners = ["user me/data", "user m", "user data", "user __proto__"];
    const matching = ["dataset Me/Data", "dataset me/data", "org ME", "user me"];
    const webhooks = watching([...others, ...owners, ...matching]);
    expect(await firing(webhooks, push("dataset", "me/data"))).toEqual(matching);
  });

  test("that watches a known owner only fires if it watches the type of this owner", async () => {
    const organizations = ["acme", "enterprise-org", "team-org", "free-org"];
    for (const owner of ["local-user", "other-user", ...organizations]) {
      const webhooks = watching([`user ${owner}`, `org ${owner}`]);
      const type = organizations.includes(owner) ? "org" : "user";
      expect(await firing(webhooks, push("dataset", `${owner}/data`))).toEqual([`${type} ${owner}`]);
    }
  });

  test.each(["model", "dataset", "space", "bucket", "kernel"] as const)("can watch a %s", async (type) => {
    const items = [`${type} me/thing`, "user me"];
    expect(await firing(watching(items), push(type, "me/thing"))).toEqual(items);
  });

  test("fires once, even if several watched items match", async () => {
    const watched = [data, data, { type: "user", name: "me" }, { type: "org", name: "me" }];
    expect(await firing({ it: { watched } }, pushed)).toEqual(["it"]);
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

test("The domains of a webhook limit the scopes of events that fire it", async () => {
  const webhooks = {
    repo: { domains: ["repo"] },
    discussion: { domains: ["discussion"] },
    both: { domains: ["discussion", "repo"] },
  };
  const fired = (scope: string) => firing(webhooks, { repo: data, event: { scope, action: "update" } });
  for (const scope of ["repo", "repo.content", "repo.config", "repo.config.dois"])
    expect(await fired(scope), scope).toEqual(["both", "repo"]);
  for (const scope of ["discussion", "discussion.comment", "discussion.comment.reaction"])
    expect(await fired(scope), scope).toEqual(["both", "discussion"]);
});

describe("A private repository", () => {
  test.each([
    ["hf_local", ["acme", "enterprise-org", "free-org", "local-user", "me", "team-org"]],
    ["hf_other", ["acme", "other-user"]],
  ])("fires a webhook of the user of %s only if it belongs to one of %j", async (token, owners) => {
    const target = await openTarget();
    const hub = await openLocalHub();
    for (const owner of ["local-user", "other-user", "me", "acme", "enterprise-org", "team-org", "free-org"]) {
      const repo = { type: "dataset", name: `${owner}/data` } as const;
      await hub.create({ url: target.url, watched: [repo] }, { token });
      const isReadable = owners.includes(owner);
      expect(await hub.trigger(push("dataset", repo.name, { private: true })), owner).toHaveLength(Number(isReadable));
      expect(await hub.trigger(push("dataset", repo.name, { private: false })), owner).toHaveLength(1);
    }
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

test("The words to trigger an event name a repository that a webhook watches and its filter selects", () => {
  const [org, model] = [
    { type: "org", name: "acme" },
    { type: "model", name: "me/net" },
  ] as const;
  const words = (watched: Parameters<typeof triggerArguments>[0]["watched"], repos: string[], scopes: string[] = []) =>
    triggerArguments({ watched, repos, scopes });
  expect(words([{ type: "space", name: "me/app" }], [])).toEqual(["space:me/app"]);
  expect(words([{ type: "user", name: "me" }], [])).toEqual(["dataset:me/data"]);
  expect(words([], [])).toEqual(["dataset:me/data"]);
  // The repository, or the type, of the filter, unless the owner is another one.
  expect(words([org], ["model:acme/net"])).toEqual(["model:acme/net"]);
  expect(words([org], ["model:acme/*"])).toEqual(["model:acme/data"]);
  expect(words([org], ["model:other/net"])).toEqual(["model:acme/data"]);
  // The first scope if the scopes do not cover the default.
  expect(words([model], [], ["discussion", "repo"])).toEqual(["model:me/net"]);
  const first = ["model:me/net", "--scope", "discussion.comment"];
  expect(words([model], [], ["discussion.comment", "discussion"])).toEqual(first);
});
