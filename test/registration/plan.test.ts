import { describe, expect, test } from "vitest";
import type { Webhook } from "../../src/client.ts";
import { type PlanInput, planRegistration } from "../../src/registration/plan.ts";

const [first, second] = ["654bbbc16f2ec14d77f109c1", "654bbbc16f2ec14d77f109c2"];
const url = "https://bot.example/webhooks/retrain";
const hash = { salt: "00", hash: "00" };
const watched = [{ type: "dataset" as const, name: "me/data" }];

function webhook(fields: Partial<Webhook> = {}): Webhook {
  return { id: first, url, watched, domains: ["repo"], disabled: false, ...fields };
}

function plan(input: Partial<PlanInput> = {}) {
  return planRegistration({
    desired: [{ endpoint: "retrain", url, watched, domains: ["repo"] }],
    notWatching: [],
    secret: undefined,
    listed: [webhook()],
    known: [{ id: first, endpoint: "retrain", secret: null }],
    secretIsNoted: new Set([first]),
    prune: false,
    adopt: false,
    ...input,
  });
}

describe("The plan of a registration", () => {
  test("has no step where all is in step", () => {
    expect(plan()).toEqual({ steps: [], left: [], unchanged: [{ endpoint: "retrain", id: first }] });
  });

  test("tells what is secret in a URL to nobody", () => {
    const { steps } = plan({ listed: [webhook({ url: "https://me:horse@old.example/?secret=battery" })] });
    expect(steps).toMatchObject([{ changes: [{ field: "url", before: "https://me:***@old.example/?secret=***" }] }]);
  });

  test("makes of a webhook that somebody lets run a job one that delivers again", () => {
    const { url: _url, ...job } = webhook({ jobSourceId: "6563" });
    expect(plan({ listed: [job] }).steps).toMatchObject([
      { action: "update", changes: [{ field: "url", before: "none: it runs a job", after: url }] },
    ]);
  });

  test("keeps one of two webhooks that are an endpoint's, and deletes the other only when asked to", () => {
    const both = {
      listed: [webhook(), webhook({ id: second })],
      known: [first, second].map((id) => ({ id, endpoint: "retrain", secret: null })),
    };
    expect(plan(both)).toMatchObject({ steps: [], left: [{ reason: "surplus", id: second }], unchanged: [{}] });
    expect(plan({ ...both, prune: true }).steps).toMatchObject([{ action: "delete", id: second }]);
  });

  test.each<[string, Partial<Webhook> & { hasSecret?: boolean }, Partial<PlanInput>, string | undefined]>([
    ["shown, and the one", { secret: "s" }, { secret: "s" }, undefined],
    ["shown, and another", { secret: "x" }, { secret: "s" }, "changed"],
    ["shown, and to be removed", { secret: "x" }, { removeSecret: true }, "removed"],
    ["shown, and not given", { secret: "x" }, {}, undefined],
    ["shown as empty, and not wanted", { secret: "" }, {}, undefined],
    ["said to be none", { hasSecret: false }, { secret: "s" }, "set"],
    ["said to be there, and to be removed", { hasSecret: true }, { removeSecret: true }, "removed"],
    ["said to be there, and not given", { hasSecret: true }, {}, undefined],
    ["said to be none, and to be removed", { hasSecret: false }, { removeSecret: true }, undefined],
    ["masked, and noted", { secret: "\u2022\u2022\u2022\u2022" }, { secret: "s" }, undefined],
    ["not told, and noted", {}, { secret: "s", known: [{ id: first, endpoint: "retrain", secret: hash }] }, undefined],
    ["not told, and noted as none", {}, { secret: "s", secretIsNoted: new Set() }, "set"],
    [
      "not told, of a webhook taken over",
      {},
      { removeSecret: true, secretIsNoted: new Set(), known: [{ id: first, endpoint: "retrain" }] },
      "removed",
    ],
  ])("has a secret that is %s", (_what, fields, input, change) => {
    const { steps } = plan({ listed: [{ ...webhook(), ...fields }], ...input });
    expect(steps).toMatchObject(change === undefined ? [] : [{ changes: [{ field: "secret", change }] }]);
  });

  test.each<[string, Partial<Webhook>, Partial<PlanInput>]>([
    ["shown", { secret: "x" }, {}],
    ["masked", { secret: "********" }, {}],
    ["said to be there", { hasSecret: true }, {}],
    ["noted", {}, { known: [{ id: first, endpoint: "retrain", secret: hash }] }],
  ])("warns that a secret is kept that is %s, where the server has none", (_how, fields, input) => {
    expect(plan({ listed: [webhook(fields)], ...input })).toMatchObject({
      steps: [],
      left: [{ reason: "secret-kept", endpoint: "retrain", id: first }],
      unchanged: [{ id: first }],
    });
    expect(plan({ listed: [webhook(fields)], ...input, removeSecret: true }).left).toEqual([]);
  });

  test("says that another secret is probably why a webhook was suspended", () => {
    const { steps } = plan({ secret: "s", listed: [webhook({ disabled: "suspended-after-failure", secret: "x" })] });
    expect(steps).toMatchObject([
      { action: "update" },
      { action: "re-enable", why: expect.stringContaining("since they had another secret") },
    ]);
  });
});
