import { describe, expect, test } from "vitest";
import { holdsSecret } from "../../support/secrets.ts";
import { ConsoleClient } from "../support/console-client.ts";
import { openLocalHub, secret, type TestHub, type TestHubOptions } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

const watched = [{ type: "dataset", name: "me/data" }];

async function open(options: TestHubOptions = {}): Promise<{ hub: TestHub; client: ConsoleClient }> {
  const hub = await openLocalHub(options);
  return { hub, client: await ConsoleClient.signIn(hub.hub.createConsoleLink()) };
}

describe("The webhooks of the console", () => {
  test("are created, listed, updated, and deleted", async () => {
    const { hub, client } = await open();
    const target = await openTarget();
    const created = await client.post("webhooks", { url: target.url, watched, domains: ["repo"], secret });
    expect(created).toMatchObject({
      status: 200,
      body: {
        owner: "local-user",
        target: { kind: "url", url: target.url },
        state: "enabled",
        watched,
        domains: ["repo"],
        isSecretSet: true,
        today: { deliveries: 0, limit: 1_000 },
        failures: { count: 0, limit: 5 },
        attempts: [],
        pending: 0,
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
    expect(answer).toMatchObject({ status: 422, body: { code: "ARGUMENT_INVALID" } });
    expect(answer.body).toMatchObject({
      fields: expect.arrayContaining([
        expect.objectContaining({ path: ["url"] }),
        expect.objectContaining({ path: ["watched", 0, "type"] }),
        expect.objectContaining({ path: ["watched", 0, "name"] }),
        expect.objectContaining({ path: ["domains"] }),
        expect.objectContaining({ path: ["secret"] }),
      ]),
    });
    expect(await client.post("webhooks", { url: 1 })).toMatchObject({
      status: 400,
      body: { code: "ARGUMENT_INVALID" },
    });
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
