import { describe, expect, test } from "vitest";
import type { WebhookRequest } from "../../../src/client.ts";
import type { HubWebhooks } from "../../../src/hub/webhooks/webhooks.ts";
import { connect, jobWebhook, openHub, rejectionOf, sourceWebhook, token, urlWebhook } from "../scripted-hub.ts";

const { id } = urlWebhook;
const request: WebhookRequest = {
  watched: [{ type: "dataset", name: "acme/data" }],
  domains: ["repo"],
  url: "https://acme-bot.hf.space/webhooks/retrain",
  secret: "s3cret-of-acme",
};

const all = [urlWebhook, jobWebhook, sourceWebhook];
const disabled = { ...urlWebhook, disabled: true };

describe("An operation", () => {
  test.each<[sends: string, call: (webhooks: HubWebhooks) => Promise<unknown>, answer: unknown, result: unknown]>([
    ["GET ", (webhooks) => webhooks.list(), all, all],
    [`GET /${id}`, (webhooks) => webhooks.get(id), { webhook: urlWebhook }, urlWebhook],
    ["POST ", (webhooks) => webhooks.create(request), { webhook: urlWebhook }, urlWebhook],
    [`POST /${id}/enable`, (webhooks) => webhooks.enable(id), { webhook: urlWebhook }, urlWebhook],
    [`POST /${id}/disable`, (webhooks) => webhooks.disable(id), { webhook: disabled }, disabled],
    [`DELETE /${id}`, (webhooks) => webhooks.delete(id), {}, undefined],
    [`POST /${id}/replay/log-1`, (webhooks) => webhooks.replay(id, "log-1"), { status: 502 }, { status: 502 }],
  ])("sends %s, and returns the result", async (sends, call, answer, result) => {
    const hub = await openHub({ json: answer });
    expect(await call(connect(hub.url).webhooks)).toEqual(result);
    expect(hub.calls).toEqual([sends.replace(" ", " /api/settings/webhooks")]);
    expect(hub.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${token}`, accept: "application/json" });
  });

  test("delete accepts a response without a body", async () => {
    const hub = await openHub({ status: 204 });
    expect(await connect(hub.url).webhooks.delete(id)).toBeUndefined();
  });
});

describe("A webhook id", () => {
  test.each([
    ["a/../b", "a%2F..%2Fb"],
    ["a?b#c", "a%3Fb%23c"],
    ["%2e%2e", "%252e%252e"],
    ["...", "..."],
    ["\n é", "%0A%20%C3%A9"],
  ])("is encoded as one path segment: %j", async (webhookId, part) => {
    const hub = await openHub({ json: { webhook: urlWebhook } });
    await connect(hub.url).webhooks.get(webhookId);
    expect(hub.calls).toEqual([`GET /api/settings/webhooks/${part}`]);
  });

  const methods: readonly [string, (webhooks: HubWebhooks, id: string) => Promise<unknown>, string][] = [
    ["get", (webhooks, webhookId) => webhooks.get(webhookId), "webhookId"],
    ["update", (webhooks, webhookId) => webhooks.update(webhookId, { domains: ["repo"] }), "webhookId"],
    ["enable", (webhooks, webhookId) => webhooks.enable(webhookId), "webhookId"],
    ["disable", (webhooks, webhookId) => webhooks.disable(webhookId), "webhookId"],
    ["delete", (webhooks, webhookId) => webhooks.delete(webhookId), "webhookId"],
    ["replay", (webhooks, webhookId) => webhooks.replay(webhookId, "log"), "webhookId"],
    ["replay", (webhooks, logId) => webhooks.replay("id", logId), "logId"],
  ];
  const unusable = ["", ".", "..", "\ud800"];
  test.each(methods.flatMap(([name, call, field]) => unusable.map((part) => [name, field, part, call] as const)))(
    "in %s (%s) throws before a request is sent if it is %j",
    async (_name, field, part, call) => {
      const hub = await openHub({ json: {} });
      const error = await rejectionOf(call(connect(hub.url).webhooks, part));
      expect(error).toMatchObject({ name: "HubError", code: "ARGUMENT_INVALID", fields: [field], retryable: false });
      expect(hub.calls).toEqual([]);
    },
  );
});

describe("An invalid argument throws before a request is sent", () => {
  const flavor = "cpu-basic";
  const withJob = (job: object) => ({ ...request, url: undefined, job: { flavor, ...job } });
  const volume = { source: "acme/model", mountPath: "/model" };

  test.each<[unknown, string[]]>([
    [undefined, ["request"]],
    ["text", ["request"]],
    [{ ...request, watched: [{ type: 1, name: "a" }] }, ["watched[0].type"]],
    [{ ...request, watched: [{ type: "user", name: "a" }, { type: "user" }] }, ["watched[1].name"]],
    [{ ...request, url: undefined }, ["url"]],
    [withJob({ secrets: { "1A": "x" } }), ['job.secrets["1A"]']],
    [withJob({ labels: { "a b": "x" } }), ['job.labels["a b"]']],
    [withJob({ volumes: [{ ...volume, type: "bucket", revision: "main" }] }), ["job.volumes[0].revision"]],
    [{ ...request, watched: [{ type: "x", name: "" }], domains: [] }, ["watched[0].name", "domains"]],
  ])("%j: the error lists %j", async (argument, fields) => {
    const hub = await openHub({ json: { webhook: urlWebhook } });
    // As a JavaScript program can.
    const error = await rejectionOf(Reflect.apply(createWith, connect(hub.url).webhooks, [argument]));
    expect(error).toMatchObject({ name: "HubError", code: "ARGUMENT_INVALID", fields });
    for (const field of fields) expect(error).toHaveProperty("message", expect.stringContaining(`${field}: `));
    expect(hub.calls).toEqual([]);
  });

  function createWith(this: HubWebhooks, argument: never): Promise<unknown> {
    return this.create(argument);
  }
});
