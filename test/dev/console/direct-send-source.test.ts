// @module-tag slow

import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import type { SendResult } from "../../../src/console/protocol/send.ts";
import { directSendSource } from "../../../src/dev/console/hub-parts.ts";
import type { StartDevOptions } from "../../../src/dev/dev-options.ts";
import { parsePayload, WebhooksServer } from "../../../src/index.ts";
import { HttpSender } from "../../../src/local-hub/delivery/http-sender.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { webhookPayload } from "../../../src/testing.ts";
import { type ConsoleAnswer, ConsoleClient } from "../../local-hub/support/console-client.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { openFailingHub, openProject, openRealHub, secret, serverFile, startIn } from "../dev-project.ts";

const endpoints = {
  retrain: { options: '{ watch: "dataset:me/data", scope: "repo.content" }', handler: "({ webhook }) => webhook.id" },
  store: { options: '{ watch: "org:acme", repo: "model:me/net", background: true }' },
  fail: { handler: `() => { throw new Error("The key is ${secret}"); }` },
};

/** Starts a session on a Hub that stands for the real one, and signs in to its console. */
async function openSession(options: StartDevOptions = {}) {
  const project = await openProject({ "server.ts": serverFile(endpoints) });
  const real = await openRealHub();
  /** The changes that the session has made on the Hub. */
  const changes: { body: string }[] = [];
  const hubUrl = await openFailingHub(real.hub.url, ({ method, body }) => {
    if (method !== "GET") changes.push({ body });
    return undefined;
  });
  const recorded = await startIn(project, { ...real.options, hubUrl, ...options });
  const client = await ConsoleClient.signIn(recorded.session.createConsoleLink());
  return { project, ...real, hubUrl, ...recorded, client, changes };
}

async function draft(client: ConsoleClient, repository = "dataset:me/data"): Promise<string> {
  const query = new URLSearchParams({ scope: "repo.content", action: "update", repository });
  const { status, body, text } = await client.get(`send/payload?${query}`);
  expect(status, text).toBe(200);
  return String(Reflect.get(Object(body), "body"));
}

/** Returns the deliveries that were sent, by endpoint. */
function sentTo({ status, body, text }: ConsoleAnswer): Map<string, SendResult["deliveries"][number]> {
  expect(status, text).toBe(200);
  const { deliveries }: SendResult = Object(body);
  return new Map(deliveries.map((delivery) => [delivery.recipient, delivery]));
}

describe("A session with the real Hub", () => {
  test("offers to send, suggests the repositories of its endpoints, fills in each event with the URLs of the Hub, and checks the repository", async () => {
    const { client, hubUrl } = await openSession();
    expect((await client.get("session")).body).toMatchObject({
      features: expect.arrayContaining(["send"]),
    });
    expect((await client.get("send/options")).body).toMatchObject({
      isDirect: true,
      defaultRepository: "dataset:me/data",
      repositories: ["dataset:me/data", "model:me/net", "dataset:acme/data"],
      scopes: expect.arrayContaining([{ scope: "discussion.comment", actions: ["create", "update"] }]),
      samples: expect.arrayContaining([expect.objectContaining({ name: "repo.content update (bucket)" })]),
    });

    const { body: options } = await client.get("send/options");
    for (const { scope, action, repoType } of Object(options).samples) {
      const query = new URLSearchParams({ scope, action, repository: `${repoType}:acme/data` });
      const { body } = await client.get(`send/payload?${query}`);
      const payload = parsePayload(JSON.parse(String(Reflect.get(Object(body), "body"))));
      expect(payload).toMatchObject({ event: { scope, action }, repo: { type: repoType, name: "acme/data" } });
      expect(payload.repo.url.web).toContain(hubUrl);
    }
    for (const repository of ["data", "dataset:", "dataset:a/b/c", "sweater:me/data"]) {
      const query = new URLSearchParams({ scope: "repo", action: "update", repository });
      expect(await client.get(`send/payload?${query}`)).toMatchObject({
        status: 400,
        body: { code: "ARGUMENT_INVALID" },
      });
    }
  });

  test("shows which endpoints receive an event, why their filters ignore it, and refuses unknown endpoints and invalid payloads", async () => {
    const { client, names } = await openSession();
    const body = await draft(client);
    expect((await client.post("send/preview", { body })).body).toEqual({
      problems: [],
      recipients: [
        {
          kind: "endpoint",
          name: "retrain",
          url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/webhooks\/retrain$/),
        },
        expect.objectContaining({ kind: "endpoint", name: "store", ignored: expect.stringContaining("model:me/net") }),
        expect.objectContaining({ kind: "endpoint", name: "fail" }),
      ],
    });

    const { repo: _repo, ...incomplete } = JSON.parse(body);
    expect(
      await Promise.all([
        client.post("send", { body, endpoints: ["retrain", "other"] }),
        client.post("send", { body, endpoints: [] }),
        client.post("send", { body: JSON.stringify(incomplete) }),
      ]),
    ).toMatchObject([
      { status: 404, body: { code: "ENDPOINT_UNKNOWN" } },
      { status: 400, body: { code: "ARGUMENT_INVALID" } },
      { status: 422, body: { code: "PAYLOAD_INVALID", fields: [{ path: ["repo"] }] } },
    ]);
    expect(names()).not.toContain("delivery");
  });

  test("sends an event directly to the server, with new IDs each time, and nothing happens on the Hub", async () => {
    const { client, hub, webhooks, changes, until } = await openSession();
    const changesBefore = changes.length;
    const body = await draft(client);
    const both = [
      await client.post("send", { body, draft: body, endpoints: ["retrain"] }),
      await client.post("send", { body, draft: body, endpoints: ["retrain"] }),
    ].map((answer) => sentTo(answer).get("retrain"));
    const ids = new Set(both.map((sent) => sent?.id));
    expect(ids.size).toBe(2);
    expect(both).toMatchObject([
      { status: 200, durationMs: expect.any(Number), endpoint: "retrain" },
      { status: 200, endpoint: "retrain" },
    ]);
    const results = [];
    for (const id of ids) {
      const { body: delivery } = await client.get(`deliveries/one?endpoint=retrain&id=${id}`);
      expect(delivery).toMatchObject({ status: "succeeded" });
      results.push(JSON.parse(Object(delivery).body).webhook.id);
    }
    expect(new Set([...results, JSON.parse(body).webhook.id]).size).toBe(3);
    expect(await until("delivery", 2)).toMatchObject({ endpoint: "retrain", status: 200 });
    for (const { id } of await webhooks()) expect(hub.deliveries(id)).toEqual([]);
    expect(changes).toHaveLength(changesBefore);
  });

  test("stores a delivery of a background endpoint, also if the payload is that of a past one", async () => {
    const { client } = await openSession();
    const body = await draft(client, "model:me/net");
    const first = sentTo(await client.post("send", { body, endpoints: ["store"] })).get("store");
    expect(first).toMatchObject({ status: 202, endpoint: "store" });
    const { body: past } = await client.get(`deliveries/one?endpoint=store&id=${first?.id}`);
    const again = sentTo(await client.post("send", { body: Object(past).body, endpoints: ["store"] })).get("store");
    expect(again).toMatchObject({ status: 202 });
    const list = await client.get("deliveries?endpoint=store");
    expect(Object(list.body).deliveries).toHaveLength(2);
  });

  test("sends to all endpoints by default, and shows what each one answers", async () => {
    const { client, changes, events } = await openSession();
    const answer = await client.post("send", { body: await draft(client) });
    const sent = sentTo(answer);
    expect([...sent.keys()]).toEqual(["retrain", "store", "fail"]);
    expect(sent.get("retrain")).toMatchObject({ status: 200 });
    expect(sent.get("store")).toMatchObject({ status: 200, ignored: expect.stringContaining("model:me/net") });
    expect(sent.get("fail")).toMatchObject({ status: 500, problem: expect.any(String), endpoint: "fail" });
    const failed = await client.get(`deliveries/one?endpoint=fail&id=${sent.get("fail")?.id}`);
    expect(failed.body).toMatchObject({ status: "failed" });
    const logs = await client.get("logs");
    const secrets = changes.map(({ body }) => JSON.parse(body).secret);
    expect(secrets).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]);
    for (const planted of [secret, ...secrets]) {
      for (const text of [answer.text, failed.text, logs.text, JSON.stringify(events)])
        expect(text).not.toContain(planted);
    }
  });

  test("refuses to send while the server file does not load, and sends after it is fixed", async () => {
    const { client, project, until, names } = await openSession();
    const body = await draft(client);
    await project.write("server.ts", "export default (;");
    await until("broken");
    const refused = await client.post("send", { body });
    expect(refused).toMatchObject({ status: 503, body: { code: "SERVER_FILE_INVALID" } });
    expect(Object(refused.body).error).toMatch(/nothing was sent.*server\.ts/);
    expect(names()).not.toContain("delivery");
    await project.write("server.ts", serverFile({ added: {} }));
    await until("reloaded");
    expect((await client.post("send/preview", { body })).body).toMatchObject({ recipients: [{ name: "added" }] });
    expect(sentTo(await client.post("send", { body })).get("added")).toMatchObject({ status: 200 });
  });
});

describe("An event", () => {
  test("is linked to the deliveries that the server has recorded, and sent once to each endpoint", async () => {
    const server = new WebhooksServer({ secret: false, logger: createMemoryLogger() });
    server.webhook("strict", { schema: z.object({ other: z.string() }) }, () => "done");
    server.webhook("failing", () => Promise.reject(new Error("no GPU")));
    server.webhook("answering", () => Response.json({ error: "no GPU" }, { status: 503 }));
    onTestFinished(() => server.close());
    const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
    const source = directSendSource({
      server: () => server[serverControl].describe(),
      ...{ file: "server.ts", url: () => url, hubUrl: "https://huggingface.co" },
      serverPort: async () => Number(new URL(url).port),
      signal: new AbortController().signal,
    });
    const closed = vi.spyOn(HttpSender.prototype, "close");
    onTestFinished(() => closed.mockRestore());
    const chosen = ["strict", "failing", "answering", "strict"];
    const { deliveries } = await source.send({ payload: webhookPayload("repo.content"), endpoints: chosen });
    expect(deliveries.map(({ recipient, status, endpoint }) => ({ recipient, status, endpoint }))).toEqual([
      { recipient: "strict", status: 422, endpoint: undefined },
      { recipient: "failing", status: 500, endpoint: "failing" },
      { recipient: "answering", status: 503, endpoint: "answering" },
    ]);
    // No connection is kept.
    expect(closed).toHaveBeenCalledOnce();
  });

  test("does not wait for a server that never loads", async () => {
    const source = directSendSource({
      server: () => ({ endpoints: [] }),
      ...{ file: "server.ts", url: () => "http://127.0.0.1:1", hubUrl: "https://huggingface.co" },
      serverPort: () => new Promise(() => {}),
      serverTimeoutMs: 1,
      signal: new AbortController().signal,
    });
    const sending = source.send({ payload: webhookPayload("repo.content") });
    await expect(sending).rejects.toMatchObject({ code: "NOT_READY", status: 503 });
  });
});
