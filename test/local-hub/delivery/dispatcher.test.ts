import { describe, expect, test } from "vitest";
import { openLocalHub, pushed, secret } from "../support/hub.ts";
import { openReceiver, openTarget, openWebhook } from "../support/target.ts";

describe("A delivery", () => {
  test("is a JSON POST request with its id and the secret", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    await hub.create({ url: `${target.url}/a%20b?page=1&x=%C3%BC#top`, secret });
    const [delivery] = await hub.trigger({ ...pushed, note: "größer als gedacht" });
    const [request] = target.requests;
    expect(request?.line).toBe("POST /hook/a%20b?page=1&x=%C3%BC");
    expect(request?.headers).toEqual({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(request?.body ?? "")),
      "user-agent": expect.stringMatching(/\w/),
      "webhook-id": delivery?.deliveryId,
      "x-webhook-secret": secret,
      host: new URL(target.url).host,
      connection: "keep-alive",
    });
    expect(request?.body).toContain("größer als gedacht");
  });

  test.each([{}, { secret: "" }])("has no secret header if the webhook has no secret: %j", async (changes) => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const { id } = await hub.create({ url: target.url, ...changes });
    await hub.trigger();
    expect(target.requests[0]?.headers).not.toHaveProperty("x-webhook-secret");
    expect((await hub.entries(id))[0]?.request.headers).not.toHaveProperty("x-webhook-secret");
  });

  test("contains the secret unchanged", async () => {
    const { hub, target, id } = await openWebhook();
    for (const unusual of ["~!@#$%^&*()_+ {}|:\"<>?`-=[]\\;',./", "a", "x".repeat(4_000), "a  b"]) {
      await hub.update(id, { url: target.url, secret: unusual });
      expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
      expect(target.requests.at(-1)?.headers["x-webhook-secret"]).toBe(unusual);
    }
  });

  test("is accepted by a receiver with the same secret, and rejected by one with another secret", async () => {
    const receiver = await openReceiver((server) => {
      server.webhook("retrain", { scope: "repo.content", repo: "dataset:me/*" }, ({ repo, updatedRefs }) => ({
        trained: `${repo.name} at ${updatedRefs?.[0]?.newSha}`,
      }));
    });
    const hub = await openLocalHub({ attempts: 1 });
    const { id } = await hub.create({ url: receiver.urlOf("retrain"), secret });
    await hub.trigger();
    const { response, request } = (await hub.entries(id))[0] ?? {};
    const { repo } = JSON.parse(request?.body ?? "");
    expect(JSON.parse(response?.body ?? "")).toEqual({ trained: `me/data at ${repo.headSha}` });
    await hub.update(id, { url: receiver.urlOf("retrain"), secret: "another" });
    expect(await hub.trigger()).toMatchObject([{ status: 403 }]);
    await hub.update(id, { url: receiver.urlOf("retrain") });
    expect(await hub.trigger()).toMatchObject([{ status: 401 }]);
    await hub.update(id, { url: receiver.urlOf("nowhere"), secret });
    expect(await hub.trigger()).toMatchObject([{ status: 404 }]);
  });
});

describe("A secret that is invalid in an HTTP header", () => {
  test("is logged as a failed delivery without a request", async () => {
    const { hub, target, id } = await openWebhook();
    for (const invalid of ["a\x7fb", "\x7f", " a", "a ", " "]) {
      expect(await hub.update(id, { url: target.url, secret: invalid })).toMatchObject({ secret: invalid });
      expect(await hub.trigger(), invalid).toMatchObject([{ webhookId: id, status: null }]);
      const failure = { attempt: 1, status: null, response: null, error: expect.stringContaining("secret") };
      expect((await hub.entries(id))[0]).toMatchObject(failure);
    }
    expect(target.requests).toEqual([]);
    expect(await hub.entries(id)).toHaveLength(5);
  });

  test("does not affect the other webhooks of the event", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    await hub.create({ url: target.url, secret: "\x7f" });
    const fine = await hub.create({ url: target.url, secret });
    expect(await hub.trigger()).toMatchObject([{ status: null }, { webhookId: fine.id, status: 200 }]);
  });
});

describe("Many concurrent events", () => {
  test("are each delivered exactly once", async () => {
    const target = await openTarget();
    const hub = await openLocalHub({ triggersPerDay: Number.POSITIVE_INFINITY });
    const { id } = await hub.create({ url: target.url, watched: [{ type: "user", name: "me" }] });
    const events = process.env.SLOW_TESTS === "1" ? 500 : 60;
    const settled = Promise.all(
      Array.from({ length: events }, (_, index) => hub.hub.push({ type: "dataset", name: `me/data-${index}` })),
    );
    expect((await hub.request("GET /api/settings/webhooks")).status).toBe(200);
    const fired = (await settled).flat();
    expect(fired.every(({ status, webhookId }) => status === 200 && webhookId === id)).toBe(true);
    expect(new Set(target.ids).size).toBe(events);
    expect(target.requests).toHaveLength(events);
    expect(new Set(target.payloads.map(({ repo }) => repo.name)).size).toBe(events);
  });
});
