import { describe, expect, test } from "vitest";
import type { HubWebhooks } from "../../../src/hub/webhooks/webhooks.ts";
import { jobWebhook, sourceWebhook, urlWebhook } from "../answers.ts";
import { connect, openHub, rejectionOf, type ScriptedHub } from "../scripted-hub.ts";

/** Updates a webhook that reads like `webhook`, with changes as a program in JavaScript may give them. */
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

/** The refusal of an update; nothing may have been written. */
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

/** The body that leaves {@link urlWebhook} as it is: what it watches goes back without pictures. */
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
      "what it watches",
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
          flavor: "cpu-basic",
          dockerImage: "alpine",
          secrets: { A: "x" },
          environment: {},
          timeoutSeconds: null,
          attempts: 1,
        },
      },
    ],
    [
      "nothing, where undefined is given beside a change",
      { url: undefined, domains: ["repo"] },
      { ...whole, domains: ["repo"] },
    ],
  ])("with %s changed", async (_what, changes, body) => {
    expect(await bodyWritten(urlWebhook, changes)).toEqual(body);
  });

  test("with an empty secret, where null takes it away: a Hub may keep a secret that is left out", async () => {
    expect(await bodyWritten(urlWebhook, { secret: null })).toEqual({ ...whole, secret: "" });
  });

  test("with what the Hub itself has said, though the contract does not know it", async () => {
    const newer = {
      ...urlWebhook,
      watched: [{ type: "paper", name: "2401.1" }],
      domains: ["repo", "wiki"],
      secret: "grün",
    };
    expect(await bodyWritten(newer, { url: "https://new.example/hook" })).toEqual({
      watched: newer.watched,
      domains: newer.domains,
      secret: "grün",
      url: "https://new.example/hook",
    });
  });

  test("with the job's source as its target, though the job is shown beside it", async () => {
    expect(await bodyWritten(sourceWebhook, { domains: ["repo"] })).toEqual({
      watched: [{ type: "user", name: "ada" }],
      domains: ["repo"],
      jobSourceId: "job-source-1",
    });
  });
});

describe("A secret", () => {
  const { secret: _secret, ...withoutSecret } = urlWebhook;
  const bodyWithout = { ...whole, secret: undefined, domains: ["repo"] };

  test.each([
    ["neither secret nor hasSecret", withoutSecret],
    ["hasSecret false", { ...withoutSecret, hasSecret: false }],
    ["null", { ...withoutSecret, secret: null }],
  ])("that a read tells by %s is none", async (_what, webhook) => {
    expect(await bodyWritten(webhook, { domains: ["repo"] })).toEqual(bodyWithout);
  });

  test.each([
    ["hasSecret true", { ...withoutSecret, hasSecret: true }],
    ["hasSecret true and null", { ...withoutSecret, hasSecret: true, secret: null }],
    ["stars", { ...urlWebhook, secret: "********" }],
    ["dots", { ...urlWebhook, secret: "••••" }],
  ])("that a read hides by %s must be given", async (_what, webhook) => {
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

  test("with a star in it is no hidden one", async () => {
    const starred = { ...urlWebhook, secret: "*a*" };
    expect(await bodyWritten(starred, { domains: ["repo"] })).toMatchObject({ secret: "*a*" });
  });
});

describe("A job that stays the target", () => {
  const names = [
    "arch",
    "attempts",
    "volumes",
    "expose",
    "ssh",
    "resourceGroupId",
    "secrets.HF_TOKEN",
    "secrets.WANDB_KEY",
  ];
  const unreadable = names.map((name) => `job.${name}`);
  const volumes = [{ type: "bucket", source: "acme/cache", mountPath: "/cache" }];
  const reachable = { expose: { ports: [8000] }, ssh: { enabled: true }, resourceGroupId: "0123456789abcdef01234567" };
  const given = { arch: "arm64", attempts: 3, volumes, ...reachable, secrets: { HF_TOKEN: "hf_a", WANDB_KEY: "w" } };
  const none = {
    arch: null,
    attempts: null,
    volumes: null,
    expose: null,
    ssh: null,
    resourceGroupId: null,
    secrets: { HF_TOKEN: null, WANDB_KEY: null },
  };
  const kept = { ...jobWebhook.job, secrets: undefined };

  test.each<[string, unknown, string[]]>([
    ["another field changes", { domains: ["discussion"] }, unreadable],
    ["the job changes without them", { job: { flavor: "cpu-basic" } }, unreadable],
    ["some are given", { job: { ...none, secrets: { HF_TOKEN: "hf_a" } } }, ["job.secrets.WANDB_KEY"]],
    ["they are undefined", { job: { ...none, attempts: undefined } }, ["job.attempts"]],
  ])("keeps what a read does not return: it is asked for when %s", async (_when, changes, fields) => {
    const error = await refusalOf(jobWebhook, changes);
    expect(error).toMatchObject({ name: "HubError", code: "VALUE_UNREADABLE", fields });
    for (const field of fields) expect(error).toHaveProperty("message", expect.stringContaining(field));
  });

  test("asks for a hidden secret of the webhook in the same breath", async () => {
    expect(await refusalOf({ ...jobWebhook, hasSecret: true }, { domains: ["repo"] })).toMatchObject({
      fields: ["secret", ...unreadable],
    });
  });

  test("is laid under the changes", async () => {
    const changes = { ...given, flavor: "t4-small", environment: { SEED: "1" }, labels: null, command: undefined };
    expect(await bodyWritten(jobWebhook, { job: changes })).toEqual({
      watched: jobWebhook.watched,
      domains: jobWebhook.domains,
      job: { ...kept, ...given, flavor: "t4-small", environment: { SEED: "1" }, labels: undefined },
    });
  });

  test("falls back to what a new job has where null is given", async () => {
    const changes = {
      ...none,
      environment: null,
      timeoutSeconds: null,
      command: null,
      dockerImage: null,
      spaceId: "a/b",
    };
    expect(await bodyWritten(jobWebhook, { job: changes })).toMatchObject({
      job: { flavor: "a10g-small", spaceId: "a/b", environment: {}, timeoutSeconds: null, attempts: 1 },
    });
  });

  test("loses all its secrets where null is given for them", async () => {
    const body = await bodyWritten(jobWebhook, { job: { ...none, secrets: null } });
    expect(body).toEqual(expect.objectContaining({ job: { ...kept, attempts: 1 } }));
  });

  test("gains a secret beside those it has", async () => {
    const body = await bodyWritten(jobWebhook, { job: { ...given, secrets: { ...given.secrets, NEW: "n" } } });
    expect(body).toMatchObject({ job: { secrets: { HF_TOKEN: "hf_a", WANDB_KEY: "w", NEW: "n" } } });
  });

  test("may have a flavor that the contract does not know", async () => {
    const newer = { ...jobWebhook, job: { ...jobWebhook.job, flavor: "h9000" } };
    expect(await bodyWritten(newer, { job: given })).toMatchObject({ job: { flavor: "h9000", attempts: 3 } });
  });

  test("asks by name for a secret that is named like a part of every object", async () => {
    const webhook = { ...jobWebhook, job: { ...jobWebhook.job, secrets: ["constructor"] } };
    expect(await refusalOf(webhook, { job: { ...none, secrets: {} } })).toMatchObject({
      fields: ["job.secrets.constructor"],
    });
  });

  test("asks for nothing where another target takes its place", async () => {
    expect(await bodyWritten(jobWebhook, { url: "https://new.example/hook" })).toEqual({
      watched: jobWebhook.watched,
      domains: jobWebhook.domains,
      url: "https://new.example/hook",
    });
  });

  test("takes the place of a job's source only when it is whole", async () => {
    expect(await refusalOf(sourceWebhook, { job: { dockerImage: "alpine" } })).toMatchObject({
      code: "ARGUMENT_INVALID",
      fields: ["job.flavor"],
    });
  });
});

describe("Changes that are invalid are refused before anything is read", () => {
  test.each<[unknown, string[]]>([
    [undefined, ["changes"]],
    [{}, ["changes"]],
    [{ url: undefined, secret: undefined }, ["changes"]],
    [{ url: null }, ["url"]],
    [{ url: "new.example" }, ["url"]],
    [{ url: "https://new.example", jobSourceId: "job-1" }, ["url"]],
    [{ jobSourceId: "" }, ["jobSourceId"]],
    [{ watched: [] }, ["watched"]],
    [{ watched: [{ type: "dataset" }] }, ["watched[0].name"]],
    [{ domains: [1] }, ["domains[0]"]],
    [{ secret: "grün" }, ["secret"]],
    [{ job: { flavor: null } }, ["job.flavor"]],
    [{ job: { attempts: 0 } }, ["job.attempts"]],
    [{ job: { secrets: { "1A": "x" } } }, ['job.secrets["1A"]']],
    [{ job: { secrets: ["HF_TOKEN"] } }, ["job.secrets"]],
    [{ job: { expose: {} } }, ["job.expose.ports"]],
  ])("%j names %j", async (changes, fields) => {
    expect(await refusalOf(urlWebhook, changes, [])).toMatchObject({ code: "ARGUMENT_INVALID", fields });
  });
});

test("An update of a webhook whose target the Hub does not tell asks for one", async () => {
  const { url: _url, ...withoutTarget } = urlWebhook;
  expect(await refusalOf(withoutTarget, { domains: ["repo"] })).toMatchObject({
    code: "VALUE_UNREADABLE",
    fields: ["url"],
  });
});
