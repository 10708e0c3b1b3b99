import { describe, expect, test } from "vitest";
import * as z from "zod";
import { lenient } from "../../../src/hub/validation/lenient.ts";
import { connect, jobWebhook, openHub, rejectionOf, sourceWebhook, urlWebhook } from "../scripted-hub.ts";

async function read(webhook: unknown): Promise<unknown> {
  const hub = await openHub({ json: { webhook } });
  return connect(hub.url).webhooks.get("w1");
}

describe("A response of a newer Hub is accepted", () => {
  test.each([urlWebhook, jobWebhook, sourceWebhook])("unchanged: $id", async (webhook) => {
    expect(await read(webhook)).toEqual(webhook);
  });

  test.each([
    ["an unknown field", { ...urlWebhook, hasSecret: true, owner: { id: 1 } }],
    ["an unknown field deep inside", { ...urlWebhook, watched: [{ name: "a", type: "user", since: 2026 }] }],
    ["an unknown type of watched item", { ...urlWebhook, watched: [{ name: "2401.1", type: "paper" }] }],
    ["another domain", { ...urlWebhook, domains: ["wiki"] }],
    ["another state", { ...urlWebhook, disabled: "paused" }],
    ["an id of another form", { ...urlWebhook, id: "wh_1" }],
    ["an invalid URL", { ...urlWebhook, url: "somewhere" }],
    ["a time of another form", { ...urlWebhook, lastTriggerAt: "2026-01-31 09:15" }],
    ["nothing watched", { ...urlWebhook, watched: [], domains: [] }],
    ["another flavor", { ...jobWebhook, job: { ...jobWebhook.job, flavor: "h9000" } }],
    [
      "names and values of another form",
      { ...jobWebhook, job: { ...jobWebhook.job, environment: { "a b": "" }, labels: { "": "ü" } } },
    ],
    ["a timeout that is not a whole number", { ...jobWebhook, job: { ...jobWebhook.job, timeoutSeconds: 0.5 } }],
  ])("with %s", async (_what, webhook) => {
    expect(await read(webhook)).toEqual(webhook);
  });

  test("with null in optional fields, which counts as absent", async () => {
    const { id, disabled, watched, domains } = sourceWebhook;
    const nulls = { url: null, job: null, jobSourceId: null, secret: null, lastTriggerAt: null };
    const webhook = await read({
      id,
      disabled,
      watched: watched.map((item) => ({ ...item, avatarUrl: null })),
      domains,
      ...nulls,
    });
    expect(webhook).toStrictEqual({ id, disabled, watched, domains });
  });

  test("with defaults for missing fields of a job", async () => {
    expect(await read({ ...jobWebhook, job: { flavor: "cpu-basic" } })).toStrictEqual({
      ...jobWebhook,
      job: { flavor: "cpu-basic", environment: {}, timeoutSeconds: null },
    });
    expect(
      await read({ ...jobWebhook, job: { flavor: "cpu-basic", environment: null, timeoutSeconds: null } }),
    ).toMatchObject({ job: { environment: {}, timeoutSeconds: null } });
  });

  test("without changing prototypes", async () => {
    const hub = await openHub({
      text: `{"webhook": ${JSON.stringify(urlWebhook).replace("{", '{"__proto__": {"polluted": true}, ')}}`,
    });
    const webhook = await connect(hub.url).webhooks.get("w1");
    expect(webhook).toMatchObject({ id: urlWebhook.id });
    expect("polluted" in webhook || "polluted" in {}).toBe(false);
  });
});

test("keeps null in nullable fields", () => {
  const schema = lenient(
    z.strictObject({ description: z.string().nullable().optional(), owner: z.string().optional() }),
  );
  expect(schema.parse({ description: null, owner: null })).toStrictEqual({ description: null });
});

test("accepts other numbers and booleans, but no other types", () => {
  const schema = lenient(
    z.strictObject({ version: z.literal(3), enabled: z.literal(true), ready: z.enum({ no: 0, yes: 1 }) }),
  );
  const newer = { version: 4, enabled: false, ready: 2 };
  expect(schema.parse(newer)).toEqual(newer);
  for (const field of ["version", "enabled", "ready"]) {
    expect(schema.safeParse({ ...newer, [field]: "text" }).error?.issues).toMatchObject([{ path: [field] }]);
  }
});

describe("An unusable response is HUB_RESPONSE_INVALID", () => {
  const { id: _id, ...withoutId } = urlWebhook;
  test.each<[string, unknown, string]>([
    ["not an object", "text", "webhook"],
    ["null", null, "webhook"],
    ["a list", [urlWebhook], "webhook"],
    ["no id", withoutId, "webhook.id"],
    ["an id that is null", { ...urlWebhook, id: null }, "webhook.id"],
    ["an id that is a number", { ...urlWebhook, id: 7 }, "webhook.id"],
    ["watched that is not a list", { ...urlWebhook, watched: {} }, "webhook.watched"],
    ["watched that is null", { ...urlWebhook, watched: null }, "webhook.watched"],
    ["a watched item without a name", { ...urlWebhook, watched: [{ type: "user" }] }, "webhook.watched.0.name"],
    ["a job that is a string", { ...jobWebhook, job: "job-1" }, "webhook.job"],
  ])("%s", async (_what, webhook, field) => {
    const error = await rejectionOf(read(webhook));
    expect(error).toMatchObject({ name: "HubError", code: "HUB_RESPONSE_INVALID", retryable: false });
    expect(error).toHaveProperty("message", expect.stringContaining(`(${field}: `));
  });

  test("text that is not JSON, without a retry", async () => {
    const hub = await openHub({ text: '[{"id":' });
    expect(await rejectionOf(connect(hub.url).webhooks.get("w1"))).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
    expect(hub.calls).toHaveLength(1);
  });

  test("an object instead of a list", async () => {
    const hub = await openHub({ json: { webhooks: [] } });
    expect(await rejectionOf(connect(hub.url).webhooks.list())).toMatchObject({ code: "HUB_RESPONSE_INVALID" });
  });

  test("an endless body, which is canceled", async () => {
    const closed = Promise.withResolvers<void>();
    const hub = await openHub((_request, response) => {
      response.on("close", closed.resolve);
      const chunk = Buffer.alloc(1_000_000, " ");
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", write);
      write();
    });
    expect(await rejectionOf(connect(hub.url).webhooks.list())).toMatchObject({
      code: "HUB_RESPONSE_INVALID",
      message: expect.stringContaining("a response of more than"),
    });
    await closed.promise;
  });
});
