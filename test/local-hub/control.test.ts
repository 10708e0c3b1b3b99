import { beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { data, openLocalHub, pushed, type TestHub } from "./support/hub.ts";
import { neverRespond, openTarget } from "./support/target.ts";

const unknownId = "0123456789abcdef01234567";
const id = expect.stringMatching(/^[0-9a-f]{24}$/);

let hub: TestHub;
beforeEach(async () => {
  hub = await openLocalHub();
});

describe("POST /_local/events", () => {
  const unattempted = { attempts: 0, status: null, durationMs: null, answer: null, error: null };
  const attempted = { attempts: 1, status: 204, durationMs: expect.any(Number), answer: "", error: null };

  test.each([
    ["", unattempted],
    ["?wait=false", unattempted],
    ["?wait=true", attempted],
  ])("returns the deliveries without a token, and waits for them only with wait=true: %j", async (query, result) => {
    const target = await openTarget(result.status ?? neverRespond);
    const hub = await openLocalHub({ overSocket: true });
    const made = await hub.create({ url: target.url });
    const answer = await hub.request(`POST /_local/events${query}`, { token: null, body: pushed });
    const delivery = { webhookId: made.id, deliveryId: id, logId: id, url: target.url, ...result };
    expect([answer.status, answer.body]).toEqual([200, { deliveries: [delivery], notFired: [], notified: [] }]);
    await target.hasReceived(1);
    const entries = await hub.entries(made.id);
    const ids = entries.map(({ deliveryId, logId }) => ({ deliveryId, logId }));
    expect(ids).toHaveLength(result.attempts);
    if (result.attempts > 0) expect(answer.body).toMatchObject({ deliveries: ids });
  });

  test("returns the log id of the first attempt before it completes", async () => {
    const target = await openTarget();
    const made = await hub.create({ url: target.url });
    const [delivery] = await hub.trigger(pushed, { wait: false });
    await waitFor(async () => expect(await hub.entries(made.id)).toMatchObject([{ logId: delivery?.logId }]));
  });

  const repo = data;
  const { event } = pushed;

  test("returns 400 with the field that is invalid", async () => {
    const invalid: [field: string, body: unknown][] = [
      ["repo", { event }],
      ["event", { repo }],
      ["repo.type", { repo: { name: "me/data" }, event }],
      ["repo.type", { repo: { type: "datasets", name: "me/data" }, event }],
      ["repo.name", { repo: { type: "dataset" }, event }],
      ["repo.name", { repo: { type: "dataset", name: "me/" }, event }],
      ["repo.name", { repo: { type: "dataset", name: "me/data/more" }, event }],
      ["repo.private", { repo: { ...repo, private: "yes" }, event }],
      ["event.scope", { repo, event: { action: "update" } }],
      ["event.scope", { repo, event: { scope: "papers", action: "update" } }],
      ["event.scope", { repo, event: { scope: "repo.", action: "update" } }],
      ["event.scope", { repo, event: { scope: "", action: "update" } }],
      ["event.action", { repo, event: { scope: "repo" } }],
      ["event.action", { repo, event: { scope: "repo", action: "" } }],
      ["movedTo", { repo, event: { scope: "repo", action: "move" } }],
      ["movedTo.name", { repo, event: { scope: "repo", action: "move" }, movedTo: { name: "data" } }],
      ["discussion.num", { repo, event: { scope: "discussion", action: "create" }, discussion: { num: "7" } }],
      ["updatedRefs", { repo, event, updatedRefs: "main" }],
      ["updatedRefs[0].ref", { repo, event, updatedRefs: [{ ref: "main", newSha: "" }] }],
      ["updatedRefs[0].newSha", { repo, event, updatedRefs: [{ ref: "refs/heads/main", newSha: 5 }] }],
      [
        "updatedConfig.private",
        { repo, event: { scope: "repo.config", action: "update" }, updatedConfig: { private: 1 } },
      ],
      ["edits", { repo, event, edits: "x" }],
      ["edits[0].path", { repo, event, edits: [{ path: "a..b", value: 1 }] }],
      ["edits[0].path", { repo, event, edits: [{ path: "", value: 1 }] }],
      ["edits[0]", { repo, event, edits: [{ path: "a" }] }],
      ["edits[0]", { repo, event, edits: [{ path: "a", value: 1, remove: true }] }],
      ["body", []],
    ];
    for (const [field, body] of invalid) {
      const answer = await hub.request("POST /_local/events?wait=true", { body });
      expect(answer.status, field).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringContaining(`${field}: `) });
      expect(answer.headers.get("x-error-code")).toBe("BadRequest");
      const message = expect.stringContaining(`${field === "body" ? "event" : field}: `);
      const refused = { code: "ARGUMENT_INVALID", message };
      await expect(hub.hub.trigger(JSON.parse(JSON.stringify(body)))).rejects.toMatchObject(refused);
    }
    expect((await hub.request("GET /_local/repositories")).body).not.toContainEqual(expect.objectContaining(repo));
  });

  test("rejects the delivery of a webhook that points to it, which would be delivered again", async () => {
    const made = await hub.create({ url: `${hub.url}/_local/events` });
    await hub.trigger();
    expect(await hub.entries(made.id)).toMatchObject([3, 2, 1].map((attempt) => ({ attempt, status: 400 })));
  });

  test("rejects a value of wait other than true and false", async () => {
    const answer = await hub.request("POST /_local/events?wait=1", { body: pushed });
    expect([answer.status, answer.body]).toEqual([400, { error: expect.stringContaining("wait: ") }]);
  });
});

describe("GET /_local/webhooks/{id}/deliveries", () => {
  test("returns the log of any user's webhook, newest first", async () => {
    const clock = { now: Date.UTC(2026, 0, 31) };
    const target = await openTarget((_request, response) => {
      clock.now += 250;
      response.writeHead(200, { "content-type": "text/plain", "x-answer": "yes", date: "today" }).end("thanks");
    });
    const hub = await openLocalHub({ now: () => clock.now });
    const made = await hub.create({ url: `${target.url}?page=1` }, { token: "hf_other" });
    const [delivery] = await hub.trigger();
    const answer = await hub.request(`GET /_local/webhooks/${made.id}/deliveries`, { token: null });
    expect(answer.body).toEqual([
      {
        ...{ logId: delivery?.logId, deliveryId: delivery?.deliveryId, attempt: 1, status: 200, error: null },
        ...{ at: "2026-01-31T00:00:00.000Z", durationMs: 250, url: `${target.url}?page=1` },
        request: {
          headers: {
            "content-type": "application/json",
            "user-agent": expect.stringContaining("local Hub"),
            "webhook-id": delivery?.deliveryId,
          },
          body: target.requests[0]?.body,
        },
        response: {
          headers: expect.objectContaining({ "content-type": "text/plain", "x-answer": "yes" }),
          body: "thanks",
          truncated: false,
        },
      },
    ]);
    expect(hub.hub.deliveries(made.id)).toEqual(answer.body);
    const [second] = await hub.trigger();
    expect((await hub.entries(made.id)).map(({ logId }) => logId)).toEqual([second?.logId, delivery?.logId]);
  });

  test("returns an empty log before the first delivery, and 404 for an unknown webhook", async () => {
    const made = await hub.create({ url: "http://127.0.0.1:1/" });
    expect(await hub.entries(made.id)).toEqual([]);
    for (const unknown of [unknownId, "x", "__proto__"]) {
      const answer = await hub.request(`GET /_local/webhooks/${unknown}/deliveries`);
      expect([answer.status, answer.body]).toEqual([404, { error: expect.stringContaining(unknown) }]);
    }
  });
});

describe("POST /_local/webhooks/{id}/replay/{logId}", () => {
  const headers = { "content-type": "application/json" };

  test("replays without a token, and returns the status", async () => {
    const target = await openTarget(200, 418);
    const made = await hub.create({ url: target.url }, { token: "hf_other" });
    const [delivery] = await hub.trigger();
    const line = `POST /_local/webhooks/${made.id}/replay/${delivery?.logId}`;
    const answer = await hub.request(line, { token: null, headers });
    expect([answer.status, answer.body]).toEqual([200, { status: 418 }]);
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId]);
  });
});

test("A control request from another site is rejected, even as JSON, but one from the page is accepted", async () => {
  const hub = await openLocalHub({ overSocket: true });
  const reset = (origin: string) => hub.request("POST /_local/reset", { text: "{}", headers: { origin } });
  expect(await reset("http://evil.example")).toMatchObject({ status: 403 });
  expect(await reset("http://127.0.0.1:1")).toMatchObject({ status: 403 });
  expect(await reset("null")).toMatchObject({ status: 403 });
  expect(await reset(hub.url)).toMatchObject({ status: 200 });
});

test("A too deeply nested event returns 400 and changes nothing", async () => {
  const depth = 50_000;
  for (const [opener, closer] of ["[]", '{"a":}'].map((pair) => [pair.slice(0, -1), pair.slice(-1)] as const)) {
    const deep = `${opener.repeat(depth)}1${closer.repeat(depth)}`;
    const text = JSON.stringify(pushed).replace(/}$/, `,"more":${deep}}`);
    const error = expect.stringContaining("nested too deeply");
    expect(await hub.request("POST /_local/events", { text })).toMatchObject({ status: 400, body: { error } });
  }
  expect(hub.log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
