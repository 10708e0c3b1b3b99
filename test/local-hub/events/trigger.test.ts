import { beforeEach, describe, expect, test } from "vitest";
import { triggerArguments } from "../../../src/local-hub/events/trigger.ts";
import type { HubEvent } from "../../../src/local-hub.ts";
import { data, openLocalHub, pushed, secret, type TestHub } from "../support/hub.ts";
import { openTarget, openWatchedTarget } from "../support/target.ts";

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

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("The edits of an event", () => {
  test("are applied to the payload last, even to fields that the local Hub sets", async () => {
    const { hub, target } = await openWatchedTarget();
    const values = { note: "edited", "repo.name": "you/other", "webhook.version": 4, "event.scope": "repo" };
    const edits = Object.entries(values).map(([path, value]) => ({ path, value }));
    await hub.trigger({ ...pushed, note: "given", edits: [...edits, { path: "repo.owner", remove: true }] });
    const payload = JSON.parse(target.requests[0]?.body ?? "");
    expect(payload).toMatchObject({
      ...{ note: "edited", repo: { type: "dataset", name: "you/other" } },
      ...{ webhook: { version: 4 }, event: { scope: "repo", action: "update" } },
    });
    expect(payload.repo).not.toHaveProperty("owner");
    expect(payload).not.toHaveProperty("edits");
  });

  test("do not change the repository or the webhooks that fire", async () => {
    const { hub, target, webhookId } = await openWatchedTarget();
    const other = await hub.create({ url: target.url, watched: [{ type: "dataset", name: "you/other" }] });
    const edits = [
      { path: "repo.name", value: "you/other" },
      { path: "repo.private", value: true },
    ];
    expect(await hub.trigger({ ...pushed, edits })).toMatchObject([{ webhookId }]);
    expect(await hub.entries(other.id)).toEqual([]);
    await hub.trigger();
    expect(target.payloads[1]).toMatchObject({ repo: { name: "me/data", private: false } });
  });

  test("keep the id of each webhook, unless an edit sets it", async () => {
    const { hub, target, webhookId } = await openWatchedTarget();
    const { id } = await hub.create({ url: target.url });
    await hub.trigger({ ...pushed, edits: [{ path: "note", value: 1 }] });
    expect(target.payloads.map(({ webhook }) => webhook.id).sort()).toEqual([webhookId, id].sort());
    await hub.trigger({ ...pushed, edits: [{ path: "webhook.id", value: "mine" }] });
    expect(target.payloads.slice(2).map(({ webhook }) => webhook.id)).toEqual(["mine", "mine"]);
  });

  test("that cannot be applied are rejected, and nothing changes", async () => {
    const { hub, target } = await openWatchedTarget();
    const edits = [{ path: "repo.name.x", value: 1 }];
    const answer = await hub.request("POST /_local/events?wait=true", { body: { ...pushed, edits } });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('"repo.name"') } });
    await expect(hub.hub.trigger({ ...pushed, edits })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    expect(target.requests).toEqual([]);
    await hub.trigger();
    const move = { repo: data, event: { scope: "repo", action: "move" }, movedTo: { name: "me/new" } };
    await expect(hub.hub.trigger({ ...move, edits })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await hub.trigger();
    expect(target.payloads[1]?.repo.id).toBe(target.payloads[0]?.repo.id);
  });

  test("can remove the fields that a job of a webhook is given, and the job still runs", async () => {
    await hub.create({ job: { flavor: "cpu-basic" } });
    const edits = [{ path: "repo", remove: true } as const];
    expect(await hub.trigger({ ...pushed, edits })).toMatchObject([{ status: 200, error: null }]);
    expect(hub.hub.jobs()).toMatchObject([{ environment: { WEBHOOK_REPO_ID: "", WEBHOOK_REPO_TYPE: "" } }]);
  });
});

describe("A reported delivery", () => {
  test("contains its URL without secrets, the response and the reason of a failure", async () => {
    const target = await openTarget((_request, response) => {
      response.writeHead(500).end(`no ${secret} ${"x".repeat(3_000)}`);
    });
    const hub = await openLocalHub({ attempts: 2 });
    await hub.create({ url: `${target.url}?secret=${secret}` });
    const [delivery] = await hub.trigger();
    expect(delivery).toMatchObject({
      url: `${target.url}?secret=***`,
      attempts: 2,
      status: 500,
      durationMs: expect.any(Number),
      error: expect.stringContaining("200 to 299"),
    });
    expect(delivery?.answer).toMatch(/^no \*\*\* x+$/);
    expect(delivery?.answer).toHaveLength(2_000);
  });

  test("to a job contains the URL of the job", async () => {
    await hub.create({ job: { flavor: "cpu-basic" } });
    const [job] = await hub.hub.push(data);
    expect(job).toMatchObject({ status: 200, url: `${hub.url}/_local/jobs#${hub.hub.jobs()[0]?.id}` });
  });

  test("that was canceled before its first attempt contains that reason", async () => {
    const target = await openTarget(() => {});
    const { id } = await hub.create({ url: target.url });
    const fired = Promise.all(Array.from({ length: 17 }, () => hub.hub.push(data)));
    await target.hasReceived(16);
    await hub.setState(id, "disable");
    const untried = (await fired).flat().filter(({ attempts }) => attempts === 0);
    expect(untried.length).toBeGreaterThan(0);
    for (const { status, error } of untried)
      expect([status, error]).toEqual([null, expect.stringContaining("canceled")]);
  });
});

test("A webhook that watches the repository but does not fire is reported with the reason", async () => {
  const hub = await openLocalHub({ triggersPerDay: 1 });
  const url = "http://127.0.0.1:1/";
  const used = await hub.create({ job: { flavor: "cpu-basic" } });
  await hub.trigger();
  const disabled = await hub.create({ url });
  await hub.setState(disabled.id, "disable");
  const domain = await hub.create({ url, domains: ["discussion"] });
  const foreign = await hub.create({ url }, { token: "hf_other" });
  await hub.create({ url, watched: [{ type: "model", name: "me/net" }] });
  const body = { ...pushed, repo: { ...data, private: true } };
  const { body: answer } = await hub.request("POST /_local/events?wait=true", { body });
  const expected = [
    { webhookId: disabled.id, url, reason: "disabled" },
    { webhookId: domain.id, url, reason: "domain" },
    { webhookId: foreign.id, url, reason: "private" },
    { webhookId: used.id, url: `${hub.url}/_local/jobs`, reason: "daily-limit" },
  ];
  expect(answer).toEqual({ deliveries: [], notFired: expected, notified: [] });
  const preview = await hub.request("POST /_local/events?dryRun=true", { body });
  expect(preview.body).toMatchObject({ webhooks: [], notFired: expected });
});

describe("POST /_local/events?dryRun=true", () => {
  test("returns the payload and the webhooks that would fire, and changes nothing", async () => {
    const target = await openTarget();
    const hub = await openLocalHub({ triggersPerDay: 1 });
    const { id } = await hub.create({ url: `${target.url}?secret=${secret}` });
    const move = { repo: data, event: { scope: "repo", action: "move" }, movedTo: { name: "me/new" } };
    const body = { ...move, edits: [{ path: "repo.private", value: true }] };
    for (let time = 0; time < 3; time += 1) {
      const answer = await hub.request("POST /_local/events?dryRun=true&wait=true", { token: null, body });
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          payload: expect.objectContaining({
            repo: expect.objectContaining({ name: "me/data", private: true }),
            movedTo: { name: "me/new", owner: { id: expect.any(String) } },
            webhook: { id, version: 3 },
          }),
          webhooks: [{ webhookId: id, url: `${target.url}?secret=***` }],
          notFired: [],
        },
      ]);
    }
    expect(target.requests).toEqual([]);
    expect(await hub.get(id)).not.toHaveProperty("lastTriggerAt");
    const [first] = await hub.trigger();
    expect(first).toMatchObject({ webhookId: id, status: 200 });
  });

  test("returns the payload even if no webhook would fire", async () => {
    const { body } = await hub.request("POST /_local/events?dryRun=true", { body: pushed });
    expect(body).toMatchObject({ payload: { repo: data, webhook: { version: 3 } }, webhooks: [], notFired: [] });
  });
});

test("GET /_local/webhooks lists the webhooks of all users, without secrets", async () => {
  const url = `http://bot:${secret}@127.0.0.1:1/?secret=${secret}`;
  const mine = await hub.create({ url, secret });
  const other = await hub.create({ job: { flavor: "cpu-basic", command: ["true"] } }, { token: "hf_other" });
  const answer = await hub.request("GET /_local/webhooks", { token: null });
  expect(answer.text).not.toContain(secret);
  expect(answer.body).toMatchObject([
    {
      id: mine.id,
      owner: "local-user",
      state: "enabled",
      target: { kind: "url", url: "http://bot:***@127.0.0.1:1/?secret=***" },
      watched: [data],
      domains: ["repo", "discussion"],
      secretIsSet: true,
    },
    { id: other.id, owner: "other-user", target: { kind: "job", description: "true" }, secretIsSet: false },
  ]);
});
