import { describe, expect, test } from "vitest";
import type { WebhookRequest } from "../../src/client.ts";
import type { HubWebhooks } from "../../src/hub/webhooks/webhooks.ts";
import {
  connect,
  jobWebhook,
  openHub,
  rejectionOf,
  type ScriptedHub,
  sourceWebhook,
  urlWebhook,
  webhookCalls,
} from "./scripted-hub.ts";

const { id } = urlWebhook;
const request: WebhookRequest = {
  watched: [{ type: "dataset", name: "acme/data" }],
  domains: ["repo"],
  url: "https://acme-bot.hf.space/webhooks/retrain",
  secret: "s3cret-of-acme",
};

describe("An operation", () => {
  // The test of the contract sends all of them.
  test.each(["enable", "disable"] as const)("%s sends its own name, and returns the webhook", async (name) => {
    const hub = await openHub({ json: { webhook: urlWebhook } });
    expect(await webhookCalls[name](connect(hub.url).webhooks)).toEqual(urlWebhook);
    expect(hub.calls).toEqual([`POST /api/settings/webhooks/${id}/${name}`]);
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

  // A missing method does not compile.
  const methods: Record<
    Exclude<keyof HubWebhooks, "list" | "create">,
    (webhooks: HubWebhooks, id: string) => Promise<unknown>
  > = {
    get: (webhooks, webhookId) => webhooks.get(webhookId),
    update: (webhooks, webhookId) => webhooks.update(webhookId, { domains: ["repo"] }),
    enable: (webhooks, webhookId) => webhooks.enable(webhookId),
    disable: (webhooks, webhookId) => webhooks.disable(webhookId),
    delete: (webhooks, webhookId) => webhooks.delete(webhookId),
    replay: (webhooks, webhookId) => webhooks.replay(webhookId, "log"),
  };
  const replayLog = (webhooks: HubWebhooks, logId: string) => webhooks.replay("id", logId);
  const calls = [
    ...Object.entries(methods).map((method) => [...method, "webhookId"] as const),
    ["replay", replayLog, "logId"] as const,
  ];
  const unusable = ["", ".", "..", "\ud800"];
  test.each(calls.flatMap(([name, call, field]) => unusable.map((part) => [name, field, part, call] as const)))(
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
    [{ ...request, url: undefined }, ["url"]],
    [withJob({ secrets: { "1A": "x" } }), ['job.secrets["1A"]']],
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

/** Updates a webhook that the Hub returns as `webhook`, with changes of any type, as a JavaScript program can. */
async function update(webhook: object, changes: unknown): Promise<{ hub: ScriptedHub; result: Promise<unknown> }> {
  const hub = await openHub({ json: { webhook } }, { json: { webhook: urlWebhook } });
  function updateWith(this: HubWebhooks): Promise<unknown> {
    return Reflect.apply(this.update, this, ["w1", changes]);
  }
  return { hub, result: updateWith.call(connect(hub.url).webhooks) };
}

async function bodyWritten(webhook: object, changes: unknown): Promise<unknown> {
  const { hub, result } = await update(webhook, changes);
  expect(await result).toEqual(urlWebhook);
  expect(hub.calls).toEqual(["GET /api/settings/webhooks/w1", "POST /api/settings/webhooks/w1"]);
  return hub.lastBody;
}

/** Returns the error of a rejected update, after asserting which requests it sent. */
async function refusalOf(
  webhook: object,
  changes: unknown,
  calls = ["GET /api/settings/webhooks/w1"],
): Promise<unknown> {
  const { hub, result } = await update(webhook, changes);
  const error = await rejectionOf(result);
  expect(hub.calls).toEqual(calls);
  return error;
}

/** The body that leaves {@link urlWebhook} unchanged: its watched items are sent without pictures. */
const whole = {
  watched: [
    { type: "dataset", name: "acme/data" },
    { type: "org", name: "acme" },
  ],
  domains: ["repo", "discussion"],
  url: "https://acme-bot.hf.space/webhooks/retrain",
  secret: "s3cret-of-acme",
};

describe("An update writes the whole webhook back", () => {
  test.each<[string, unknown, unknown]>([
    ["the URL", { url: "https://new.example/hook" }, { ...whole, url: "https://new.example/hook" }],
    [
      "its watched items",
      { watched: [{ type: "user", name: "ada" }] },
      { ...whole, watched: [{ type: "user", name: "ada" }] },
    ],
    ["its domains", { domains: ["discussion"] }, { ...whole, domains: ["discussion"] }],
    ["its secret", { secret: "new-s3cret" }, { ...whole, secret: "new-s3cret" }],
    ["its target, to a job's source", { jobSourceId: "job-1" }, { ...whole, url: undefined, jobSourceId: "job-1" }],
    [
      "its target, to a job",
      { job: { flavor: "cpu-basic", dockerImage: "alpine", arch: null, secrets: { A: "x", B: null } } },
      {
        ...whole,
        url: undefined,
        job: {
          ...{ flavor: "cpu-basic", dockerImage: "alpine", secrets: { A: "x" } },
          ...{ environment: {}, timeoutSeconds: null, attempts: 1 },
        },
      },
    ],
    ["only the defined fields", { url: undefined, domains: ["repo"] }, { ...whole, domains: ["repo"] }],
  ])("with %s changed", async (_what, changes, body) => {
    expect(await bodyWritten(urlWebhook, changes)).toEqual(body);
  });

  test("with an empty secret if null is given, because a Hub may keep a secret that is left out", async () => {
    expect(await bodyWritten(urlWebhook, { secret: null })).toEqual({ ...whole, secret: "" });
  });

  test("with fields of the Hub that the contract does not list", async () => {
    const newer = {
      ...urlWebhook,
      watched: [{ type: "paper", name: "2401.1" }],
      domains: ["repo", "wiki"],
      secret: "grün",
    };
    const { watched, domains, secret } = newer;
    const url = "https://new.example/hook";
    expect(await bodyWritten(newer, { url })).toEqual({ watched, domains, secret, url });
  });

  test("with the source job as its target, even if the Hub returns the job too", async () => {
    expect(await bodyWritten(sourceWebhook, { domains: ["repo"] })).toEqual({
      watched: [{ type: "user", name: "ada" }],
      domains: ["repo"],
      jobSourceId: "job-source-1",
    });
  });
});

describe("The secret of a webhook", () => {
  const { secret: _secret, ...withoutSecret } = urlWebhook;
  const bodyWithout = { ...whole, secret: undefined, domains: ["repo"] };

  test.each([
    ["neither secret nor hasSecret", withoutSecret],
    ["hasSecret false", { ...withoutSecret, hasSecret: false }],
    ["secret null", { ...withoutSecret, secret: null }],
  ])("counts as absent if the Hub returns %s", async (_what, webhook) => {
    expect(await bodyWritten(webhook, { domains: ["repo"] })).toEqual(bodyWithout);
  });

  test.each([
    ["hasSecret true", { ...withoutSecret, hasSecret: true }],
    ["hasSecret true and secret null", { ...withoutSecret, hasSecret: true, secret: null }],
    ["stars", { ...urlWebhook, secret: "********" }],
    ["dots", { ...urlWebhook, secret: "••••" }],
  ])("must be given to the update if the Hub returns %s", async (_what, webhook) => {
    expect(await refusalOf(webhook, { domains: ["repo"] })).toMatchObject({
      name: "HubError",
      code: "VALUE_UNREADABLE",
      fields: ["secret"],
      message: expect.stringContaining("secret"),
    });
    expect(await bodyWritten(webhook, { domains: ["repo"], secret: "again" })).toEqual({
      ...bodyWithout,
      secret: "again",
    });
    expect(await bodyWritten(webhook, { domains: ["repo"], secret: null })).toEqual({ ...bodyWithout, secret: "" });
  });

  test("is kept if it only contains a star", async () => {
    const starred = { ...urlWebhook, secret: "*a*" };
    expect(await bodyWritten(starred, { domains: ["repo"] })).toMatchObject({ secret: "*a*" });
  });
});

describe("A job that stays the target", () => {
  const names = ["arch", "attempts", "volumes", "expose", "ssh", "resourceGroupId"];
  const unreadable = [...names, "secrets.HF_TOKEN", "secrets.WANDB_KEY"].map((name) => `job.${name}`);
  const volumes = [{ type: "bucket", source: "acme/cache", mountPath: "/cache" }];
  const reachable = { expose: { ports: [8000] }, ssh: { enabled: true }, resourceGroupId: "0123456789abcdef01234567" };
  const given = { arch: "arm64", attempts: 3, volumes, ...reachable, secrets: { HF_TOKEN: "hf_a", WANDB_KEY: "w" } };
  const nulls = Object.fromEntries(names.map((name) => [name, null]));
  const none = { ...nulls, secrets: { HF_TOKEN: null, WANDB_KEY: null } };
  const kept = { ...jobWebhook.job, secrets: undefined };

  test.each<[string, unknown, string[]]>([
    ["another field changes", { domains: ["discussion"] }, unreadable],
    ["the job changes but they are not given", { job: { flavor: "cpu-basic" } }, unreadable],
    ["some are given", { job: { ...none, secrets: { HF_TOKEN: "hf_a" } } }, ["job.secrets.WANDB_KEY"]],
    ["they are undefined", { job: { ...none, attempts: undefined } }, ["job.attempts"]],
  ])("requires the fields that the Hub does not return when %s", async (_when, changes, fields) => {
    const error = await refusalOf(jobWebhook, changes);
    expect(error).toMatchObject({ name: "HubError", code: "VALUE_UNREADABLE", fields });
    for (const field of fields) expect(error).toHaveProperty("message", expect.stringContaining(field));
  });

  test("requires a hidden secret of the webhook in the same error", async () => {
    expect(await refusalOf({ ...jobWebhook, hasSecret: true }, { domains: ["repo"] })).toMatchObject({
      fields: ["secret", ...unreadable],
    });
  });

  test("keeps the fields that do not change", async () => {
    const changes = { ...given, flavor: "t4-small", environment: { SEED: "1" }, labels: null, command: undefined };
    expect(await bodyWritten(jobWebhook, { job: changes })).toEqual({
      watched: jobWebhook.watched,
      domains: jobWebhook.domains,
      job: { ...kept, ...given, flavor: "t4-small", environment: { SEED: "1" }, labels: undefined },
    });
  });

  test("gets the default of a new job for a field that is null", async () => {
    const reset = { environment: null, timeoutSeconds: null, command: null, dockerImage: null };
    const changes = { ...none, ...reset, spaceId: "a/b" };
    expect(await bodyWritten(jobWebhook, { job: changes })).toMatchObject({
      job: { flavor: "a10g-small", spaceId: "a/b", environment: {}, timeoutSeconds: null, attempts: 1 },
    });
  });

  test("loses all its secrets if they are null", async () => {
    const body = await bodyWritten(jobWebhook, { job: { ...none, secrets: null } });
    expect(body).toEqual(expect.objectContaining({ job: { ...kept, attempts: 1 } }));
  });

  test("keeps its secrets when one is added", async () => {
    const body = await bodyWritten(jobWebhook, { job: { ...given, secrets: { ...given.secrets, NEW: "n" } } });
    expect(body).toMatchObject({ job: { secrets: { HF_TOKEN: "hf_a", WANDB_KEY: "w", NEW: "n" } } });
  });

  test("requires a secret by name, even if it is called like a property of every object", async () => {
    const webhook = { ...jobWebhook, job: { ...jobWebhook.job, secrets: ["constructor"] } };
    expect(await refusalOf(webhook, { job: { ...none, secrets: {} } })).toMatchObject({
      fields: ["job.secrets.constructor"],
    });
  });

  test("requires nothing if another target replaces it", async () => {
    expect(await bodyWritten(jobWebhook, { url: "https://new.example/hook" })).toEqual({
      watched: jobWebhook.watched,
      domains: jobWebhook.domains,
      url: "https://new.example/hook",
    });
  });

  test("replaces a source job only if it is complete", async () => {
    expect(await refusalOf(sourceWebhook, { job: { dockerImage: "alpine" } })).toMatchObject({
      code: "ARGUMENT_INVALID",
      fields: ["job.flavor"],
    });
  });
});

describe("Invalid changes throw before the webhook is read", () => {
  test.each<[unknown, string[]]>([
    [undefined, ["changes"]],
    [{}, ["changes"]],
    [{ url: undefined, secret: undefined }, ["changes"]],
    [{ url: null }, ["url"]],
    [{ url: "https://new.example", jobSourceId: "job-1" }, ["url"]],
    [{ watched: [{ type: "dataset" }] }, ["watched[0].name"]],
    [{ domains: [1] }, ["domains[0]"]],
    [{ job: { flavor: null } }, ["job.flavor"]],
    [{ job: { attempts: 0 } }, ["job.attempts"]],
    [{ job: { secrets: { "1A": "x" } } }, ['job.secrets["1A"]']],
    [{ job: { secrets: ["HF_TOKEN"] } }, ["job.secrets"]],
  ])("%j: the error lists %j", async (changes, fields) => {
    expect(await refusalOf(urlWebhook, changes, [])).toMatchObject({ code: "ARGUMENT_INVALID", fields });
  });
});

test("An update must contain a target if the Hub does not return one", async () => {
  const { url: _url, ...withoutTarget } = urlWebhook;
  expect(await refusalOf(withoutTarget, { domains: ["repo"] })).toMatchObject({
    code: "VALUE_UNREADABLE",
    fields: ["url"],
  });
});
