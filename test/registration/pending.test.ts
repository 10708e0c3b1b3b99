import { describe, expect, test } from "vitest";
import type { Webhook } from "../../src/client.ts";
import type { HubState, PendingWebhook } from "../../src/registration/state.ts";
import { recordResolved, resolvePending } from "../../src/registration/webhook.ts";
import { urlOf } from "./test-hub.ts";

const [users, made, later] = ["654bbbc16f2ec14d77f109c1", "654bbbc16f2ec14d77f109c2", "654bbbc16f2ec14d77f109c3"];
const watched = [
  { type: "dataset" as const, name: "me/data" },
  { type: "org" as const, name: "acme" },
];
const noted = Date.parse("2026-11-21T10:00:00Z");

function pendingOf(fields: Partial<PendingWebhook> = {}): PendingWebhook {
  return {
    ...{ key: "first", endpoint: "retrain", secret: null, existingIds: [users] },
    ...{ written: { url: urlOf("retrain"), watched, domains: ["repo"] }, startedAt: new Date(noted).toISOString() },
    ...fields,
  };
}

function webhook(id: string, fields: Partial<Webhook> = {}): Webhook {
  return { id, url: urlOf("retrain"), watched, domains: ["repo"], disabled: false, ...fields };
}

function resolve(listed: readonly Webhook[], state: Partial<HubState> = {}, now = noted + 1_000) {
  const whole = { webhooks: [], pending: [pendingOf()], ...state };
  const resolved = resolvePending({ pending: whole.pending, state: whole, listed, now });
  recordResolved(whole, resolved);
  return { ids: whole.webhooks.map(({ id }) => id), keys: whole.pending.map(({ key }) => key) };
}

describe("An interrupted creation", () => {
  test("finds the webhook with the same URL and watched items, in any order", () => {
    expect(resolve([webhook(made, { watched: watched.toReversed() })])).toEqual({ ids: [made], keys: [] });
  });

  test("never finds a webhook that existed before, even if it is identical", () => {
    expect(resolve([webhook(users)])).toEqual({ ids: [], keys: ["first"] });
    expect(resolve([webhook(users), webhook(made)])).toEqual({ ids: [made], keys: [] });
  });

  test.each<[string, Partial<Webhook>]>([
    ["delivers to another URL", { url: urlOf("other") }],
    ["watches more", { watched: [...watched, { type: "user", name: "me" }] }],
    ["watches less", { watched: watched.slice(1) }],
  ])("ignores a webhook that %s", (_what, fields) => {
    expect(resolve([webhook(made, fields)])).toEqual({ ids: [], keys: ["first"] });
  });

  test("ignores a webhook that is already managed", () => {
    const known = { id: made, endpoint: "retrain", secret: null };
    expect(resolve([webhook(made)], { webhooks: [known] })).toEqual({ ids: [made], keys: ["first"] });
  });

  test("finds a different webhook for each of two creations", () => {
    const pending = [pendingOf(), pendingOf({ key: "second" })];
    expect(resolve([webhook(made), webhook(later)], { pending })).toEqual({ ids: [made, later], keys: [] });
    expect(resolve([webhook(made)], { pending })).toEqual({ ids: [made], keys: ["second"] });
  });

  test("is abandoned after ten minutes", () => {
    expect(resolve([], {}, noted + 600_000).keys).toEqual(["first"]);
    expect(resolve([], {}, noted + 600_001).keys).toEqual([]);
  });
});
