import { describe, expect, test } from "vitest";
import type { Webhook } from "../../src/client.ts";
import { type PlanInput, planSteps } from "../../src/registration/plan.ts";
import { type HubState, type PendingWebhook, recordResolved, resolvePending } from "../../src/registration/state.ts";

const [first, second] = ["654bbbc16f2ec14d77f109c1", "654bbbc16f2ec14d77f109c2"];
const url = "https://bot.example/webhooks/retrain";
const hash = { salt: "00", hash: "00" };
const watched = [{ type: "dataset" as const, name: "me/data" }];

function webhook(fields: Partial<Webhook> = {}): Webhook {
  return { id: first, url, watched, domains: ["repo"], disabled: false, ...fields };
}

function plan(input: Partial<PlanInput> = {}) {
  return planSteps({
    desired: [{ endpoint: "retrain", url, watched, domains: ["repo"] }],
    withoutWatch: [],
    secret: undefined,
    listed: [webhook()],
    managed: [{ id: first, endpoint: "retrain", secret: null }],
    matchingSecretIds: new Set([first]),
    prune: false,
    adopt: false,
    ...input,
  });
}

describe("The plan of a registration", () => {
  test("has no steps if everything is in sync", () => {
    const inSync = { steps: [], skipped: [], unchanged: [{ endpoint: "retrain", id: first }] };
    expect(plan()).toMatchObject(inSync);
    expect(plan({ listed: [webhook({ watched: [{ type: "dataset", name: "Me/Data" }] })] })).toMatchObject(inSync);
    const desired = [
      { endpoint: "retrain", url, watched: [...watched, ...watched], domains: ["repo", "discussion"] } as const,
    ];
    expect(plan({ desired, listed: [webhook({ domains: ["discussion", "repo"] })] })).toMatchObject(inSync);
  });

  test("reports other webhooks that deliver to the URL of an endpoint, which the Hub can normalize", () => {
    const other = webhook({ id: second, url: `${url.replace("https:", "HTTPS:")}/` });
    const skipped = [{ reason: "not-managed", endpoint: "retrain", id: second }];
    expect(plan({ listed: [other] })).toMatchObject({ steps: [], skipped });
    expect(plan({ listed: [webhook(), other], adopt: true, prune: true })).toMatchObject({ steps: [], skipped });
  });

  test("masks secrets in URLs", () => {
    const { steps } = plan({ listed: [webhook({ url: "https://me:horse@old.example/?secret=battery" })] });
    expect(steps).toMatchObject([{ changes: [{ field: "url", before: "https://me:***@old.example/?secret=***" }] }]);
  });

  test("updates a webhook that runs a job to deliver to the endpoint", () => {
    const { url: _url, ...job } = webhook({ jobSourceId: "6563" });
    expect(plan({ listed: [job] }).steps).toMatchObject([
      { action: "update", changes: [{ field: "url", before: "none (it runs a job)", after: url }] },
    ]);
  });

  test("keeps one of two webhooks of an endpoint, and deletes the other only with prune", () => {
    const both = {
      listed: [webhook(), webhook({ id: second })],
      managed: [first, second].map((id) => ({ id, endpoint: "retrain", secret: null })),
    };
    expect(plan(both)).toMatchObject({ steps: [], skipped: [{ reason: "duplicate", id: second }], unchanged: [{}] });
    expect(plan({ ...both, prune: true }).steps).toMatchObject([{ action: "delete", id: second }]);
  });

  test.each<[string, Partial<Webhook> & { hasSecret?: boolean }, Partial<PlanInput>, string | undefined]>([
    ["readable and equal", { secret: "s" }, { secret: "s" }, undefined],
    ["readable and different", { secret: "x" }, { secret: "s" }, "changed"],
    ["readable and to be removed", { secret: "x" }, { secret: null }, "removed"],
    ["readable and not given", { secret: "x" }, {}, undefined],
    ["readable, empty and not given", { secret: "" }, {}, undefined],
    ["reported as absent", { hasSecret: false }, { secret: "s" }, "set"],
    ["reported as present and to be removed", { hasSecret: true }, { secret: null }, "removed"],
    ["reported as present and not given", { hasSecret: true }, {}, undefined],
    ["reported as absent and to be removed", { hasSecret: false }, { secret: null }, undefined],
    ["masked, with a matching hash", { secret: "\u2022\u2022\u2022\u2022" }, { secret: "s" }, undefined],
    [
      "not reported, with a matching hash",
      {},
      { secret: "s", managed: [{ id: first, endpoint: "retrain", secret: hash }] },
      undefined,
    ],
    ["not reported, and recorded as none", {}, { secret: "s", matchingSecretIds: new Set() }, "set"],
    [
      "not reported, of an adopted webhook",
      {},
      { secret: null, matchingSecretIds: new Set(), managed: [{ id: first, endpoint: "retrain" }] },
      "removed",
    ],
  ])("handles a secret that is %s", (_what, fields, input, change) => {
    const { steps } = plan({ listed: [{ ...webhook(), ...fields }], ...input });
    expect(steps).toMatchObject(change === undefined ? [] : [{ changes: [{ field: "secret", change }] }]);
  });

  test.each<[string, Partial<Webhook>, Partial<PlanInput>]>([
    ["readable", { secret: "x" }, {}],
    ["masked", { secret: "********" }, {}],
    ["reported as present", { hasSecret: true }, {}],
    ["recorded", {}, { managed: [{ id: first, endpoint: "retrain", secret: hash }] }],
  ])("reports a kept secret that is %s if the server has none", (_how, fields, input) => {
    expect(plan({ listed: [webhook(fields)], ...input })).toMatchObject({
      steps: [],
      skipped: [{ reason: "secret-kept", endpoint: "retrain", id: first }],
      unchanged: [{ id: first }],
    });
    const removing = plan({ listed: [webhook(fields)], ...input, secret: null });
    expect(removing.skipped).toEqual([]);
    expect(removing.unreadableSecretIds.size).toBe(0);
  });

  test("names another secret as the probable cause of a suspension", () => {
    const { steps } = plan({ secret: "s", listed: [webhook({ disabled: "suspended-after-failure", secret: "x" })] });
    expect(steps).toMatchObject([
      { action: "update" },
      { action: "re-enable", reason: expect.stringContaining("the secret was different") },
    ]);
  });
});

const [users, made, later] = ["654bbbc16f2ec14d77f109c1", "654bbbc16f2ec14d77f109c2", "654bbbc16f2ec14d77f109c3"];
const bothWatched = [
  { type: "dataset" as const, name: "me/data" },
  { type: "org" as const, name: "acme" },
];
const noted = Date.parse("2026-11-21T10:00:00Z");

function pendingOf(fields: Partial<PendingWebhook> = {}): PendingWebhook {
  return {
    ...{ key: "first", endpoint: "retrain", secret: null, existingIds: [users] },
    ...{ written: { url, watched: bothWatched, domains: ["repo"] }, startedAt: new Date(noted).toISOString() },
    ...fields,
  };
}

function listedOf(id: string, fields: Partial<Webhook> = {}): Webhook {
  return webhook({ id, watched: bothWatched, ...fields });
}

function resolve(listed: readonly Webhook[], state: Partial<HubState> = {}, now = noted + 1_000) {
  const whole = { webhooks: [], pending: [pendingOf()], ...state };
  const resolved = resolvePending(whole.pending, { state: whole, listed, now });
  recordResolved(whole, resolved);
  return { ids: whole.webhooks.map(({ id }) => id), keys: whole.pending.map(({ key }) => key) };
}

describe("An interrupted creation", () => {
  test("finds the webhook with the same URL and watched items, in any order", () => {
    expect(resolve([listedOf(made, { watched: bothWatched.toReversed() })])).toEqual({ ids: [made], keys: [] });
  });

  test("never finds a webhook that existed before, even if it is identical", () => {
    expect(resolve([listedOf(users)])).toEqual({ ids: [], keys: ["first"] });
    expect(resolve([listedOf(users), listedOf(made)])).toEqual({ ids: [made], keys: [] });
  });

  test.each<[string, Partial<Webhook>]>([
    ["delivers to another URL", { url: "https://bot.example/webhooks/other" }],
    ["watches more", { watched: [...bothWatched, { type: "user", name: "me" }] }],
    ["watches less", { watched: bothWatched.slice(1) }],
  ])("ignores a webhook that %s", (_what, fields) => {
    expect(resolve([listedOf(made, fields)])).toEqual({ ids: [], keys: ["first"] });
  });

  test("ignores a webhook that is already managed", () => {
    const known = { id: made, endpoint: "retrain", secret: null };
    expect(resolve([listedOf(made)], { webhooks: [known] })).toEqual({ ids: [made], keys: ["first"] });
  });

  test("finds a different webhook for each of two creations", () => {
    const pending = [pendingOf(), pendingOf({ key: "second" })];
    expect(resolve([listedOf(made), listedOf(later)], { pending })).toEqual({ ids: [made, later], keys: [] });
    expect(resolve([listedOf(made)], { pending })).toEqual({ ids: [made], keys: ["second"] });
  });

  test("is abandoned after ten minutes", () => {
    expect(resolve([], {}, noted + 600_000).keys).toEqual(["first"]);
    expect(resolve([], {}, noted + 600_001).keys).toEqual([]);
  });
});
