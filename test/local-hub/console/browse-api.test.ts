import { describe, expect, onTestFinished, test } from "vitest";
import { holdsSecret } from "../../support/secrets.ts";
import { ConsoleClient } from "../support/console-client.ts";
import { openContext } from "../support/context.ts";
import { openLocalHub, secret, waitForJobs } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

async function open(options: Parameters<typeof openLocalHub>[0] = {}) {
  const hub = await openLocalHub(options);
  return { hub, client: await ConsoleClient.signIn(hub.hub.createConsoleLink()) };
}

test("The repositories of the console are listed with their refs and webhooks", async () => {
  const { hub, client } = await open();
  const { id } = await hub.create({ url: "http://127.0.0.1:1/" });
  await hub.trigger();
  await hub.trigger({
    repo: { type: "dataset", name: "me/data" },
    event: { scope: "discussion", action: "create" },
    discussion: { title: "Where is it from?" },
  });
  const { body: list } = await client.get("repositories");
  expect(list).toMatchObject({
    repositories: expect.arrayContaining([
      expect.objectContaining({ type: "dataset", name: "me/data", isPrivate: false, discussions: 1 }),
    ]),
    unlisted: 0,
  });
  expect((await client.get("repositories/one?type=dataset&name=me/data")).body).toMatchObject({
    headSha: expect.stringMatching(/^[0-9a-f]{40}$/),
    refs: [{ name: "refs/heads/main" }],
    discussions: 1,
    webhooks: [{ id }],
    pushCommand: expect.stringContaining("trigger dataset:me/data"),
  });
  for (const query of ["type=dataset&name=me/none", "type=none&name=x", "type=dataset&name="])
    expect(await client.get(`repositories/one?${query}`)).toMatchObject({ status: 404 });
});

describe("The events of the console", () => {
  test("are listed newest first, with the deliveries and the webhooks that did not fire", async () => {
    const { hub, client } = await open({ attempts: 1 });
    const target = await openTarget(200, 500);
    const fired = await hub.create({ url: target.url });
    const other = await hub.create({ url: target.url, domains: ["discussion"] });
    await hub.trigger();
    await hub.trigger();
    await hub.trigger({ repo: { type: "model", name: "me/unwatched" }, event: { scope: "repo", action: "update" } });
    const { body } = await client.get("events");
    const skipped = [{ webhookId: other.id, reason: expect.stringContaining("domains") }];
    expect(body).toMatchObject({
      events: [
        { scope: "repo", repository: { type: "model", name: "me/unwatched" }, deliveries: [], skipped: [] },
        { deliveries: [{ webhookId: fired.id, status: "dead", responseStatus: 500, attempts: 1 }], skipped },
        {
          ...{ scope: "repo.content", action: "update", user: "local-user", isPayloadOnly: false, unlisted: 0 },
          deliveries: [{ webhookId: fired.id, status: "succeeded", responseStatus: 200, logId: expect.any(String) }],
          skipped,
        },
      ],
    });
    await hub.delete(fired.id);
    const { body: later } = await client.get("events?limit=2");
    expect(later).toMatchObject({ events: [{}, { deliveries: [{ attempts: 0 }] }], next: expect.any(Number) });
    const next = Reflect.get(Object(later), "next");
    const { body: page } = await client.get(`events?limit=2&cursor=${next}`);
    expect(page).toMatchObject({ events: [{ scope: "repo.content" }] });
    expect(page).not.toHaveProperty("next");
  });

  test("show deliveries that wait for an attempt, are retried, or were canceled", async () => {
    const { hub, client } = await open({ backoff: "1h" });
    const requested = Promise.withResolvers<void>();
    const target = await openTarget((_request, response) => {
      requested.resolve();
      response.writeHead(503).end();
    });
    const { id } = await hub.create({ url: target.url });
    await hub.trigger(undefined, { wait: false });
    await requested.promise;
    const statusNow = async () => {
      const { body } = await client.get("events");
      return Reflect.get(Object(body), "events")[0].deliveries[0].status;
    };
    await expect.poll(statusNow).toBe("retrying");
    await hub.setState(id, "disable");
    expect(await statusNow()).toBe("dead");
  });

  test("are stored, and old ones are deleted", () => {
    const { context } = openContext();
    const { events } = context.store;
    for (let index = 0; index < 580; index += 1) {
      events.add({
        ...{ id: `e${index}`, at: index, scope: "repo", action: "update", repo: { type: "dataset", name: "me/data" } },
        ...{ user: "local-user", isPayloadOnly: false, skipped: [] },
        deliveries: Array.from({ length: 120 }, () => ({ webhookId: "w", deliveryId: "d", url: "u" })),
      });
    }
    const kept = events.list({ limit: 1_000 });
    expect(kept.length).toBeGreaterThanOrEqual(500);
    expect(kept.length).toBeLessThan(550);
    expect(kept[0]).toMatchObject({ id: "e579", unlisted: 20 });
    expect(events.get("e0")).toBeUndefined();
    events.clear();
    expect(events.list({ limit: 1 })).toEqual([]);
  });
});

test("The jobs of the console are listed with their logs", async () => {
  const { hub, client } = await open({ runJobs: true });
  const id = await hub.runJob({ command: ["sh", "-c", "echo one; echo two; exit 3"], dockerImage: "python" });
  await waitForJobs(hub);
  expect((await client.get("jobs")).body).toMatchObject({
    runsJobs: true,
    jobs: [{ id, stage: "ERROR", isActive: false, command: expect.stringContaining("echo one"), message: /.+/ }],
  });
  const { body } = await client.get(`jobs/one?id=${id}`);
  expect(body).toMatchObject({
    logs: [{ number: 1 }, { number: 2, text: "one" }, { number: 3, text: "two" }],
    image: "python",
    flavor: "cpu-basic",
  });
  expect((await client.get(`jobs/one?id=${id}&after=2`)).body).toMatchObject({ logs: [{ text: "two" }] });
  expect(await client.get("jobs/one?id=none")).toMatchObject({ status: 404 });
});

test("The stream of the console reports which features changed", async () => {
  const { hub, client } = await open();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const reader = (await client.stream({ signal: stop.signal })).getReader();
  await reader.read();
  await hub.create({ url: "http://127.0.0.1:1/" });
  const { value } = await reader.read();
  expect(JSON.parse(value?.replace("data: ", "") ?? "")).toEqual({
    type: "changed",
    features: ["webhooks", "events", "send"],
  });
});

const watched = [{ type: "dataset", name: "me/data" }];

describe("The webhooks of the console", () => {
  test("are created, listed, updated, and deleted", async () => {
    const { hub, client } = await open();
    const target = await openTarget();
    const created = await client.post("webhooks", { url: target.url, watched, domains: ["repo"], secret });
    expect(created).toMatchObject({
      status: 200,
      body: {
        ...{ owner: "local-user", target: { kind: "url", url: target.url }, state: "enabled", watched },
        ...{ domains: ["repo"], isSecretSet: true, today: { deliveries: 0, limit: 1_000 }, attempts: [], pending: 0 },
        failures: { count: 0, limit: 5 },
        triggerCommand: expect.stringContaining("trigger dataset:me/data"),
      },
    });
    const { id } = await hub.get(String(Reflect.get(Object(created.body), "id")));
    await hub.trigger();
    expect(target.requests[0]?.headers["x-webhook-secret"]).toBe(secret);

    const list = await client.get("webhooks");
    expect(list.body).toMatchObject({
      webhooks: [
        {
          id,
          lastTriggerAt: expect.any(Number),
          today: { deliveries: 1 },
          last: { status: 200, event: { scope: "repo.content", action: "update" }, repository: watched[0] },
        },
      ],
      unlisted: 0,
      createCommand: expect.stringContaining("create"),
    });

    const changes = { id, watched: [...watched, { type: "org", name: "acme" }], domains: ["repo", "discussion"] };
    expect((await client.post("webhooks/update", changes)).body).toMatchObject({
      isSecretSet: true,
      target: { kind: "url", url: target.url },
      watched: changes.watched,
    });
    expect((await client.post("webhooks/update", { ...changes, secret: null })).body).toMatchObject({
      isSecretSet: false,
    });

    expect(await client.post("webhooks/delete", { id })).toMatchObject({ status: 200, body: {} });
    expect((await client.get("webhooks")).body).toMatchObject({ webhooks: [] });
    expect(await client.get(`webhooks/one?id=${id}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });

  test("report invalid fields with their paths", async () => {
    const { client } = await open();
    const invalid = { url: "ftp://example.com", watched: [{ type: "datset", name: "" }], domains: [], secret: "é" };
    const answer = await client.post("webhooks", invalid);
    const paths = [["url"], ["watched", 0, "type"], ["watched", 0, "name"], ["domains"], ["secret"]];
    const fields = expect.arrayContaining(paths.map((path) => expect.objectContaining({ path })));
    expect(answer).toMatchObject({ status: 422, body: { code: "ARGUMENT_INVALID", fields } });
    const refused = { status: 400, body: { code: "ARGUMENT_INVALID" } };
    expect(await client.post("webhooks", { url: 1 })).toMatchObject(refused);
  });

  test("are disabled, enabled, and suspended, as the Hub would do it", async () => {
    const { hub, client } = await open();
    const target = await openTarget();
    const { id } = await hub.create({ url: target.url });
    expect((await client.post("webhooks/disable", { id })).body).toMatchObject({ state: "disabled" });
    expect(await hub.trigger()).toEqual([]);
    expect((await client.post("webhooks/suspend", { id })).body).toMatchObject({ state: "suspended" });
    expect(await hub.get(id)).toMatchObject({ disabled: "suspended-after-failure" });
    expect(await hub.trigger()).toEqual([]);
    expect((await client.post("webhooks/enable", { id })).body).toMatchObject({ state: "enabled" });
    expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
  });

  test("are replayed, and show each attempt with its request and response", async () => {
    const { hub, client } = await open({ attempts: 1 });
    const target = await openTarget(500, 202);
    const { id } = await hub.create({ url: target.url, secret });
    const [delivery] = await hub.trigger();
    const details = await client.get(`webhooks/one?id=${id}`);
    expect(details.body).toMatchObject({
      failures: { count: 1 },
      attempts: [{ logId: delivery?.logId, attempt: 1, status: 500, error: expect.stringContaining("500") }],
    });
    const replayed = await client.post("webhooks/replay", { id, logId: delivery?.logId });
    expect(replayed).toMatchObject({ status: 200, body: { attempt: 2, status: 202 } });
    expect(replayed.body).not.toHaveProperty("error");
    const attempt = await client.get(`webhooks/attempt?id=${id}&logId=${delivery?.logId}`);
    expect(attempt.body).toMatchObject({
      url: target.url,
      request: { headers: expect.arrayContaining([["x-webhook-secret", "***"]]), body: target.requests[0]?.body },
      response: { isTruncated: false },
    });
    expect(await client.get(`webhooks/attempt?id=${id}&logId=none`)).toMatchObject({ status: 404 });
  });

  test("never contain a secret", async () => {
    const { hub, client } = await open({ attempts: 1 });
    const target = await openTarget((request, response) => response.end(String(request.headers["x-webhook-secret"])));
    const url = new URL(target.url);
    url.password = secret;
    url.search = `?secret=${secret}`;
    const created = await client.post("webhooks", { url: url.href, watched, domains: ["repo"], secret });
    const id = String(Reflect.get(Object(created.body), "id"));
    const [delivery] = await hub.trigger();
    await hub.create({
      url: undefined,
      job: { flavor: "cpu-basic", dockerImage: "python", command: ["python"], secrets: { TOKEN: secret } },
    });
    await hub.trigger();
    const [job] = hub.hub.jobs();
    const answers = [
      created,
      await client.get("webhooks"),
      await client.get(`webhooks/one?id=${id}`),
      await client.get(`webhooks/attempt?id=${id}&logId=${delivery?.logId}`),
      await client.get("events"),
      await client.get("jobs"),
      await client.get(`jobs/one?id=${job?.id}`),
      await client.post("send/preview", { body: target.requests[0]?.body }),
      await client.post("webhooks/replay", { id, logId: delivery?.logId }),
    ];
    for (const { status, text, headers } of answers) {
      expect(status).toBe(200);
      expect(holdsSecret([text, [...headers]], secret), text).toBe(false);
    }
  });
});
