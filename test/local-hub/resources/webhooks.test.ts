import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { webhook } from "../../../src/hub/webhooks/schemas.ts";
import { type Answer, data, openLocalHub, pushed, type TestHub } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

const path = "/api/settings/webhooks";
const id = expect.stringMatching(/^[0-9a-f]{24}$/);

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("Creating a webhook", () => {
  const model = { type: "model", name: "acme/model" };

  type Body = Record<"watched" | "domains", unknown> & {
    url?: string;
    secret?: string;
    jobSourceId?: string;
    job?: object;
  };

  test.each<[what: string, body: Body, job?: object]>([
    ["a URL", { watched: [model], domains: ["repo"], url: "https://example.com/hook?secret=from%20the%20query#top" }],
    [
      "a secret and all seven watched types",
      {
        watched: ["dataset acme/data", "model acme/model", "space acme/demo", "bucket acme/files"]
          .concat("kernel acme/attention", "user grace", "org acme")
          .map((item) => ({ type: item.split(" ")[0], name: item.split(" ")[1] })),
        domains: ["repo", "discussion"],
        url: "http://localhost:7860/webhooks/trigger_training",
        secret: "every kind of sign: ~!@#$%^&*()",
      },
    ],
    ["a source job that does not exist yet", { watched: [model], domains: ["discussion"], jobSourceId: "no-such-job" }],
    [
      "a job with the required fields",
      { watched: [model], domains: ["repo"], job: { flavor: "cpu-basic" } },
      { environment: {}, timeoutSeconds: null },
    ],
    [
      "a job with every field, returning its secrets by name and omitting three fields",
      {
        ...{ watched: [model], domains: ["repo"] },
        job: {
          ...{ flavor: "a10g-largex4", dockerImage: "python:3.13", spaceId: "acme/demo", arch: "arm64" },
          ...{ command: ["python", "-c"], arguments: ["print('hello')", ""], timeoutSeconds: 3600, attempts: 3 },
          environment: { LOG_LEVEL: "debug", a1: "" },
          secrets: { T: "one letter is a name here", HF_TOKEN: "hf_not_a_real_one" },
          labels: { team: "data", empty: "" },
          volumes: [{ type: "dataset", source: "acme/data", mountPath: "/data", revision: "main", readOnly: true }],
        },
      },
      { secrets: ["T", "HF_TOKEN"], arch: undefined, attempts: undefined, volumes: undefined },
    ],
  ])("accepts %s, and get and list return the same webhook", async (_what, body, job) => {
    const created = await hub.request(`POST ${path}`, { body });
    const expected = { id, disabled: false, ...body, ...(job && { job: { ...body.job, ...job } }) };
    expect([created.status, created.body]).toEqual([200, { webhook: expected }]);
    for (const name of ["arch", "attempts", "volumes"]) expect(created.text).not.toContain(`"${name}"`);
    const { webhook: made } = z.strictObject({ webhook }).parse(created.body);
    expect((await hub.request(`GET ${path}/${made.id}`)).body).toEqual({ webhook: made });
    expect((await hub.request(`GET ${path}`)).body).toEqual([made]);
    expect((await hub.request(`POST ${path}/${made.id}`, { body })).body).toEqual({ webhook: made });
  });

  test("treats an empty secret as no secret", async () => {
    const made = await hub.create({ url: "http://127.0.0.1:1/", secret: "" });
    expect(made).not.toHaveProperty("secret");
    expect(await hub.update(made.id, { url: "http://127.0.0.1:1/", secret: "" })).not.toHaveProperty("secret");
  });
});

describe("Updating a webhook", () => {
  test("replaces all fields except the id and the state", async () => {
    const made = await hub.create({ url: "http://127.0.0.1:1/a", secret: "s3cret" });
    await hub.setState(made.id, "disable");
    const body = { watched: [{ type: "org", name: "acme" }], domains: ["discussion"], jobSourceId: "j" };
    expect((await hub.request(`POST ${path}/${made.id}`, { body })).body).toEqual({
      webhook: { id: made.id, disabled: true, ...body },
    });
    expect(await hub.get(made.id)).toEqual({ id: made.id, disabled: true, ...body });
  });

  test.each([
    ["a URL", { url: "http://127.0.0.1:1/a" }],
    ["a source job", { jobSourceId: "job-1" }],
    ["a job", { job: { flavor: "rtx-pro-6000", command: ["true"], arch: "arm64", secrets: { KEY: "s3cret" } } }],
  ])("keeps its target if none is given: %s", async (_what, target) => {
    const made = await hub.create(target);
    const body = { watched: [{ type: "org", name: "acme" }], domains: ["repo"] };
    expect((await hub.request(`POST ${path}/${made.id}`, { body })).body).toEqual({ webhook: { ...made, ...body } });
    expect(await hub.get(made.id)).toEqual({ ...made, ...body });
  });

  test("keeps the fields of a job that are not returned", async () => {
    const hidden = { arch: "arm64", attempts: 2, expose: { ports: [8000] }, resourceGroupId: "0".repeat(24) };
    const job = { flavor: "cpu-basic", command: ["true"] };
    const made = await hub.create({ job: { ...job, secrets: { KEY: "s3cret" }, ssh: { enabled: true }, ...hidden } });
    expect(made.job).toEqual({ ...job, secrets: ["KEY"], environment: {}, timeoutSeconds: null });
    await hub.update(made.id, {});
    await hub.trigger();
    const { arch, expose, resourceGroupId } = hidden;
    const [record] = hub.hub.jobs();
    expect(record).toMatchObject({ arch, expose, resourceGroupId, retry: 1, secrets: ["KEY"] });
    expect(record).not.toHaveProperty("ssh");
  });
});

test("Disabling and enabling a webhook changes and returns its state, and can be repeated", async () => {
  const made = await hub.create({ url: "http://127.0.0.1:1/" });
  for (const [action, disabled] of [
    ["disable", true],
    ["disable", true],
    ["enable", false],
    ["enable", false],
  ] as const) {
    const answer = await hub.request(`POST ${path}/${made.id}/${action}`);
    expect([answer.status, answer.body]).toEqual([200, { webhook: { ...made, disabled } }]);
    expect(await hub.get(made.id)).toEqual({ ...made, disabled });
  }
});

describe("Deleting a webhook", () => {
  test("returns an empty object and removes the webhook", async () => {
    const kept = await hub.create({ url: "http://127.0.0.1:1/kept" });
    const made = await hub.create({ url: "http://127.0.0.1:1/" });
    const answer = await hub.request(`DELETE ${path}/${made.id}`);
    expect([answer.status, answer.text]).toEqual([200, "{}"]);
    expect((await hub.request(`GET ${path}/${made.id}`)).status).toBe(404);
    expect((await hub.request(`DELETE ${path}/${made.id}`)).status).toBe(404);
    expect((await hub.request(`GET ${path}`)).body).toEqual([kept]);
  });

  test("removes its log", async () => {
    const target = await openTarget();
    const made = await hub.create({ url: target.url });
    await hub.trigger();
    await hub.delete(made.id);
    expect((await hub.request(`GET /_local/webhooks/${made.id}/deliveries`)).status).toBe(404);
    expect(hub.hub.deliveries(made.id)).toEqual([]);
  });
});

test("lastTriggerAt is set in UTC after the webhook fires", async () => {
  const clock = { now: Date.UTC(2026, 0, 31, 9, 15, 27, 123) };
  const target = await openTarget(500);
  const hub = await openLocalHub({ now: () => clock.now });
  const made = await hub.create({ url: target.url });
  expect(made).not.toHaveProperty("lastTriggerAt");
  await hub.trigger();
  expect(await hub.get(made.id)).toEqual({ ...made, lastTriggerAt: "2026-01-31T09:15:27.123Z" });
  expect(await hub.update(made.id, { url: target.url })).toMatchObject({ lastTriggerAt: "2026-01-31T09:15:27.123Z" });
  clock.now += 3_600_000;
  await hub.trigger({ ...pushed, repo: { type: "model", name: data.name } });
  expect(await hub.get(made.id)).toMatchObject({ lastTriggerAt: "2026-01-31T09:15:27.123Z" });
  await hub.trigger();
  expect((await hub.request(`GET ${path}`)).body).toEqual([{ ...made, lastTriggerAt: "2026-01-31T10:15:27.123Z" }]);
});

test("The list of webhooks contains those of the user of the token only", async () => {
  const mine = await hub.create({ url: "http://127.0.0.1:1/mine" });
  const others = await hub.create({ url: "http://127.0.0.1:1/others" }, { token: "hf_other" });
  expect((await hub.request(`GET ${path}`)).body).toEqual([mine]);
  expect((await hub.request(`GET ${path}`, { token: "hf_read" })).body).toEqual([mine]);
  expect((await hub.request(`GET ${path}/${mine.id}`, { token: "hf_read" })).body).toEqual({ webhook: mine });
  expect((await hub.request(`GET ${path}`, { token: "hf_other" })).body).toEqual([others]);
});

describe("Requests of Python", () => {
  const url = "http://127.0.0.1:1/a";
  /** The User-Agent of Python's client. */
  const userAgent = "unknown/None; hf_hub/1.29.0; python/3.13.1";

  function ask(hub: TestHub, line: string, body: object, agent = userAgent): Promise<Answer> {
    return hub.request(line, { body, headers: { "user-agent": agent } });
  }

  describe("Python's client, huggingface_hub,", () => {
    test("can omit the domains of a new webhook, and gets a warning that the API requires them", async () => {
      const answer = await ask(hub, `POST ${path}`, { watched: [data], url });
      expect(answer.body).toMatchObject({ webhook: { watched: [data], domains: ["repo", "discussion"], url } });
      expect(answer.headers.get("x-hf-warning")).toMatch(/^webhooks; .*"domains".*--domain/);
    });

    test("can send the domain discussions", async () => {
      const answer = await ask(hub, `POST ${path}`, { watched: [data], url, domains: ["discussions"] });
      expect(answer.body).toMatchObject({ webhook: { domains: ["discussion"] } });
      expect(answer.headers.get("x-hf-warning")).toContain('"discussions"');
    });

    test.each([
      ["the URL", { url: "http://127.0.0.1:1/b" }],
      ["the secret", { secret: "new" }],
      ["the watched items", { watched: [{ type: "org", name: "acme" }] }],
      ["the domains", { domains: ["repo"] }],
    ])("can change only %s of a webhook, with an empty list of watched items", async (_what, changes) => {
      const made = await hub.create({ url, domains: ["discussion"] });
      const answer = await ask(hub, `POST ${path}/${made.id}`, { watched: [], ...changes });
      expect(answer.body).toEqual({ webhook: { ...made, ...changes } });
      expect(answer.headers.get("x-hf-warning")).toMatch(/^webhooks; /);
    });

    test("gets no warning for a complete request", async () => {
      const answer = await ask(hub, `POST ${path}`, { watched: [data], url, domains: ["repo"] });
      expect([answer.status, answer.headers.has("x-hf-warning")]).toEqual([200, false]);
    });

    test.each([
      ["an empty list for a new webhook", { watched: [], url }, "watched"],
      ["an invalid URL", { watched: [data], url: "nowhere" }, "url"],
      ["watched that is not a list", { watched: data, url }, "watched"],
      ["a body that is not an object", [], "body"],
    ])("gets the same error as other clients for %s", async (_what, body, field) => {
      const answer = await ask(hub, `POST ${path}`, body);
      expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(`${field}: `) } });
      expect(answer.headers.has("x-hf-warning")).toBe(false);
    });

    test("cannot read a webhook of another user", async () => {
      const { id } = await hub.create({ url }, { token: "hf_other" });
      const answer = await ask(hub, `POST ${path}/${id}`, { watched: [], url });
      expect([answer.status, answer.headers.has("x-hf-warning")]).toEqual([404, false]);
    });
  });

  test("Other clients must send domains and watched items", async () => {
    const { id } = await hub.create({ url });
    for (const agent of ["hub-webhooks", "python-httpx/0.28", "node"]) {
      expect((await ask(hub, `POST ${path}`, { watched: [data], url }, agent)).status).toBe(400);
      expect((await ask(hub, `POST ${path}/${id}`, { watched: [], domains: ["repo"] }, agent)).status).toBe(400);
    }
  });
});
