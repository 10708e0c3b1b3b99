// @module-tag slow

import { getEventListeners, once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../src/client.ts";
import type { DevEvent } from "../../src/dev/dev-event.ts";
import { startDev } from "../../src/dev/dev-session.ts";
import { findSessionHub, findSessionSecret } from "../../src/dev/session-file.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { systemClock } from "../../src/tunnel/provider.ts";
import { runTrigger } from "../cli/run-command.ts";
import { ConsoleClient } from "../local-hub/support/console-client.ts";
import { freePort } from "../support/free-port.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { RawSocket, requestBytes } from "../support/raw-socket.ts";
import { waitFor } from "../support/wait-for.ts";
import {
  openProject,
  optionsIn,
  push,
  secret,
  serverFile,
  startIn,
  stateOf,
  watchingFile,
  watchingFileWith,
} from "./dev-project.ts";

const watching = (endpoints: Readonly<Record<string, string>>) =>
  serverFile(
    Object.fromEntries(Object.entries(endpoints).map(([name, watch]) => [name, { options: `{ watch: "${watch}" }` }])),
  );

/** Returns the watched items of a Hub's webhooks, by URL. */
async function watchedOn(hubUrl: string): Promise<Record<string, string[]>> {
  const webhooks = await new HubClient({ hubUrl, token: "hf_local" }).webhooks.list();
  return Object.fromEntries(
    webhooks.map(({ url, watched }) => [url ?? "", watched.map(({ type, name }) => `${type}:${name}`)]),
  );
}

async function statusesWith(baseUrl: string, secrets: readonly (string | undefined)[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const given of secrets) {
    const request = { endpoint: "retrain", payload: webhookPayload("repo"), baseUrl, ...(given && { secret: given }) };
    statuses.push((await fetch(deliveryRequest(request))).status);
  }
  return statuses;
}

describe("A session with a local Hub", () => {
  test("holds a push that arrives before its webhooks exist", async () => {
    const project = await openProject();
    const hubPort = await freePort();
    const starting = startIn(project, { hubPort });
    const repository = {
      repo: { type: "dataset", name: "me/data" },
      event: { scope: "repo.content", action: "update" },
    };
    const pushEarly = () =>
      fetch(`http://127.0.0.1:${hubPort}/_local/events?wait=true`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(repository),
      });
    let answer: Response | undefined;
    while (!answer) answer = await pushEarly().catch(() => undefined);
    expect(await answer.json()).toMatchObject({ deliveries: [{ status: 200 }] });
    await starting;
  });

  test("is ready when deliveries arrive, with all addresses and endpoints", async () => {
    const project = await openProject({
      "server.ts": serverFile({
        retrain: { options: '{ watch: "dataset:me/data", scope: "discussion" }' },
        environment: { handler: "() => ({ endpoint: process.env.HF_ENDPOINT, token: process.env.HF_TOKEN })" },
      }),
    });
    const { session, events, names, until } = await startIn(project);
    const { url, publicUrl, hub, endpoints } = session.state;
    expect(await until("ready")).toEqual({ event: "ready", ...session.state });
    expect(names()).toEqual(["ready"]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect([publicUrl, hub.kind]).toEqual([url, "local"]);
    expect(endpoints).toEqual([
      {
        name: "retrain",
        url: `${url}/webhooks/retrain`,
        watch: ["dataset:me/data"],
        trigger: ["dataset:me/data", "--scope", "discussion"],
      },
      {
        name: "environment",
        url: `${url}/webhooks/environment`,
        watch: ["user:local-user"],
        trigger: ["dataset:local-user/data"],
      },
    ]);
    expect(await watchedOn(hub.url)).toEqual({
      [`${url}/webhooks/retrain`]: ["dataset:me/data"],
      [`${url}/webhooks/environment`]: ["user:local-user"],
    });

    // Handlers use the local Hub, whose webhooks use the secret of the server.
    expect(await session.replay()).toBeUndefined();
    const [delivered] = await push(session, "local-user/data");
    expect(delivered).toMatchObject({ status: 200 });
    expect(JSON.parse(delivered?.answer ?? "")).toEqual({ endpoint: hub.url, token: "hf_server" });
    const { deliveryId, ...delivery } = await until("delivery");
    expect({ deliveryId, ...delivery }).toEqual({
      ...{ event: "delivery", endpoint: "environment", status: 200 },
      ...{ deliveryId: delivered?.deliveryId, durationMs: expect.any(Number) },
    });
    expect((await fetch(`${url}/webhooks/environment`, { method: "POST", body: "{}" })).status).toBe(401);
    expect(await session.replay()).toMatchObject({ endpoint: "environment", status: 200 });
    const socket = await RawSocket.open(url);
    const headers = { Host: "evil.example", "X-Webhook-Secret": secret, "Content-Type": "application/json" };
    socket.send(requestBytes({ path: "/webhooks/retrain", headers, body: JSON.stringify(webhookPayload("repo")) }));
    expect((await socket.answer()).status).toBe(403);
    socket.close();
    expect(await until("problem")).toMatchObject({
      code: "CROSS_SITE_REFUSED",
      message: expect.stringContaining("evil.example"),
    });

    await session.close();
    await session.close();
    // The ports are free, unless another program already uses them.
    for (const address of [url, hub.url]) {
      const page = await fetch(address).then(
        (response) => response.text(),
        () => "",
      );
      expect(page).not.toContain("/webhooks/environment");
    }
    // The session's Hub is closed too, so no webhooks need to be deleted later.
    expect(existsSync(stateOf(project))).toBe(false);
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("has its own inbox, which overrides INBOX_URL and the file", async () => {
    const project = await openProject();
    const deployed = (name: string) => `sqlite:${join(project.path, name)}`;
    const options = `{ secret: "${secret}", inbox: ${JSON.stringify(deployed("code.db"))} }`;
    const background = { options: '{ watch: "dataset:me/data", background: true }' };
    await project.write("server.ts", serverFile({ retrain: background }, options));
    vi.stubEnv("INBOX_URL", deployed("environment.db"));
    const { session } = await startIn(project);
    expect(session.state.inbox).toBe(deployed("dev.db"));
    expect(await push(session)).toMatchObject([{ status: 202 }]);
    const exists = (name: string) => existsSync(join(project.path, name));
    expect(["dev.db", "code.db", "environment.db"].map(exists)).toEqual([true, false, false]);
  });

  test("generates a secret if the server has none, and its Hub and trigger send it", async () => {
    const open = watchingFileWith("{}");
    const project = await openProject({ "server.ts": open });
    const { session, events, until } = await startIn(project);
    const { url } = session.state;
    const made = session.secret ?? "";
    expect(made).toMatch(/^[0-9a-f]{64}$/);
    expect(await statusesWith(url, [undefined, "guess", made])).toEqual([401, 403, 200]);
    expect(await push(session)).toMatchObject([{ status: 200 }]);
    const env = { WEBHOOK_SECRET: "of another server" };
    const sent = await runTrigger(`dataset:me/data --url ${url}/webhooks/retrain --format json`, { env });
    expect(sent).toMatchObject({ exitCode: 0 });
    await project.write("server.ts", `${open}\n// saved`);
    await until("reloaded");
    expect(await session.replay()).toMatchObject({ status: 200 });
    expect(await push(session)).toMatchObject([{ status: 200 }]);
    expect(JSON.stringify(events)).not.toContain(made);
    await session.close();
    expect(findSessionSecret(url)).toBeUndefined();
  });

  test("stores the URL of its local Hub and the secret in code, which trigger uses", async () => {
    const withSecret = (text: string) => watchingFileWith(`{ secret: "${text}" }`);
    const project = await openProject({ "server.ts": withSecret("from code") });
    vi.stubEnv("TMPDIR", project.path);
    const { session, until } = await startIn(project);
    const { url, hub } = session.state;
    expect([findSessionHub(process.cwd()), findSessionSecret(url)]).toEqual([hub.url, "from code"]);
    expect(await runTrigger("dataset:me/data")).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(hub.url),
    });
    await project.write("server.ts", withSecret("changed"));
    await until("reloaded");
    expect(await runTrigger(`dataset:me/data --url ${url}/webhooks/retrain`)).toMatchObject({ exitCode: 0 });
    await session.close();
    expect(findSessionHub(process.cwd())).toBeUndefined();
  });

  test("leaves no files in the temporary folder, no timer, and no listener", async () => {
    const project = await openProject();
    vi.stubEnv("TMPDIR", project.path);
    const started = vi.spyOn(globalThis, "setInterval");
    const cleared = vi.spyOn(globalThis, "clearInterval");
    onTestFinished(() => {
      started.mockRestore();
      cleared.mockRestore();
    });
    const { signal } = new AbortController();
    const { session } = await startIn(project, { repairInterval: 12_345, signal });
    const repairs = started.mock.results[started.mock.calls.findIndex(([, milliseconds]) => milliseconds === 12_345)];
    const passing = () => readdirSync(project.path).filter((name) => name.startsWith("hub-webhooks-dev-"));
    expect(passing()).toHaveLength(1);
    await session.close();
    expect(passing()).toEqual([]);
    expect(repairs?.type).toBe("return");
    expect(cleared).toHaveBeenCalledWith(repairs?.value);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test.each([
    { what: "has WEBHOOK_SECRET", options: "{}", variable: secret, statuses: [401, 200] },
    { what: "is deliberately open", options: "{ secret: false }", variable: undefined, statuses: [200, 200] },
  ])("generates no secret if its server $what", async ({ options, variable, statuses }) => {
    const project = await openProject({ "server.ts": watchingFileWith(options) });
    vi.stubEnv("WEBHOOK_SECRET", variable);
    const { session } = await startIn(project);
    const { url } = session.state;
    expect([session.secret, findSessionSecret(url)]).toEqual([undefined, variable]);
    expect(await statusesWith(url, [undefined, secret])).toEqual(statuses);
    expect(await push(session)).toMatchObject([{ status: 200 }]);
  });

  test("applies changes of the file: endpoints, watched items, and errors", async () => {
    const project = await openProject({ "server.ts": watching({ first: "dataset:me/data", second: "model:me/net" }) });
    const { session, names, until } = await startIn(project);
    const { url, hub } = session.state;
    await project.write("server.ts", watching({ second: "org:acme", third: "dataset:me/data" }));
    const { endpoints } = await until("reloaded");
    expect(endpoints.map(({ name, watch }) => [name, ...watch])).toEqual([
      ["second", "org:acme"],
      ["third", "dataset:me/data"],
    ]);
    expect(session.state.endpoints).toEqual(endpoints);
    expect(await watchedOn(hub.url)).toEqual({
      [`${url}/webhooks/second`]: ["org:acme"],
      [`${url}/webhooks/third`]: ["dataset:me/data"],
    });
    expect(names()).toEqual(["ready", "reloading", "webhooks", "reloaded"]);
    expect((await until("reloading")).files).toEqual([join(project.path, "server.ts")]);
    expect((await until("webhooks")).steps).toHaveLength(3);

    await project.write("server.ts", "throw new Error('no luck');\nexport {};");
    const broken = await until("broken");
    expect(broken).toMatchObject({ isRestarted: false, reason: expect.stringContaining("no luck") });
    const answer = await fetch(`${url}/webhooks/third`, { method: "POST", body: "{}" });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    await expect(session.replay()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
    await project.write("server.ts", watching({ third: "dataset:me/data" }));
    await until("reloaded", 2);
    expect(await push(session)).toMatchObject([{ status: 200 }]);
    expect(Object.keys(await watchedOn(hub.url))).toEqual([`${url}/webhooks/third`]);
  });

  test("uses and reports other ports if the default ones are in use", async () => {
    const project = await openProject();
    for (const port of [7860, 5050]) {
      const server = createServer().listen(port, "127.0.0.1");
      // Another program may use the port.
      await Promise.race([once(server, "listening"), once(server, "error")]).catch(() => {});
      onTestFinished(() => void server.close());
    }
    const { session, events } = await startIn(project, { port: undefined, hubPort: undefined });
    const { url, hub } = session.state;
    const problem = { event: "problem", code: "PORT_IN_USE" };
    expect(events.filter(({ event }) => event === "problem")).toEqual([
      { ...problem, message: `Port 7860 is in use. The server is at ${url}.` },
      { ...problem, message: expect.stringContaining(`The local Hub of this session is at ${hub.url}.`) },
    ]);
  });

  test("polls instead of creating webhooks", async () => {
    const options = '{ watch: "dataset:local-user/data", background: true }';
    const file = serverFile({ retrain: { options, handler: "() => console.log('handled')" } });
    const project = await openProject({ "server.ts": file });
    const { session, events } = await startIn(project, { poll: "50ms" });
    expect(await watchedOn(session.state.hub.url)).toEqual({});
    await push(session, "local-user/data");
    await waitFor(() => expect(events).toContainEqual(expect.objectContaining({ event: "output", text: "handled" })));
  });

  test("compares after it has enabled a webhook again", async () => {
    const options = '{ watch: "dataset:local-user/data", background: true, catchUp: true }';
    const handler = "(_payload, { delivery }) => console.log(delivery.origin)";
    const project = await openProject({ "server.ts": serverFile({ retrain: { options, handler } }) });
    const { session, events } = await startIn(project, { repairInterval: "300ms" });
    const client = new HubClient({ hubUrl: session.state.hub.url, token: "hf_local" });
    const [webhook] = await client.webhooks.list();
    await waitFor(
      async () => {
        await client.webhooks.disable(webhook?.id ?? "");
        await push(session, "local-user/data");
        expect(events).toContainEqual(expect.objectContaining({ event: "output", text: "catch-up" }));
      },
      { interval: 500, timeout: 15_000 },
    );
  });

  test.each([{ watch: ["dataset:me/data"] }, { publicUrl: "https://bot.example.com" }, { tunnel: {} }] as const)(
    "refuses to poll with %j",
    async (options) => {
      const project = await openProject();
      await expect(startDev(optionsIn(project, { poll: "1m", ...options }))).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
    },
  );

  test("uses the option watch for endpoints without watch, and does not override HF_ENDPOINT and HF_TOKEN", async () => {
    const project = await openProject({
      "server.ts": serverFile({
        environment: { handler: "() => [process.env.HF_ENDPOINT, process.env.HF_TOKEN]" },
        own: { options: '{ watch: "org:acme" }' },
      }),
    });
    vi.stubEnv("HF_ENDPOINT", "http://127.0.0.1:9");
    vi.stubEnv("HF_TOKEN", "hf_mine");
    const { session } = await startIn(project, { watch: ["dataset:me/data", "space:me/app"] });
    expect(session.state.endpoints.map(({ watch }) => watch)).toEqual([
      ["dataset:me/data", "space:me/app"],
      ["org:acme"],
    ]);
    expect(await push(session)).toMatchObject([{ answer: '["http://127.0.0.1:9","hf_mine"]' }]);
  });

  test("rejects if the file fails to load, and leaves nothing open", async () => {
    const project = await openProject({ "server.ts": "throw new Error('no luck');\nexport {};" });
    // Opening this tunnel would take longer than the test.
    await using host = await startLocaltunnelServer({ mode: "silent" });
    const resources = () => process.getActiveResourcesInfo().filter((name) => /Server|FSEvent|Process/.test(name));
    const before = resources();
    const events: DevEvent[] = [];
    const started = startDev({
      ...optionsIn(project),
      ...{ tunnel: { host: host.url, timeout: "60s" }, onEvent: (event: DevEvent) => events.push(event) },
    });
    const message = expect.stringContaining("no luck");
    await expect(started).rejects.toMatchObject({ code: "SERVER_FILE_INVALID", message });
    await expect.poll(resources).toEqual(before);
    expect(events.filter(({ event }) => event !== "output")).toEqual([]);
  });

  test("waits for a file that fails to load with waitForFile, and responds in the meantime", async () => {
    const project = await openProject({ "server.ts": "throw new Error('no luck');\nexport {};" });
    const broken = Promise.withResolvers<void>();
    const port = await freePort();
    const starting = startIn(project, {
      ...{ waitForFile: true, port },
      onEvent: ({ event }) => (event === "broken" ? broken.resolve() : undefined),
    });
    await broken.promise;
    expect((await fetch(`http://127.0.0.1:${port}/webhooks/retrain`, { method: "POST", body: "{}" })).status).toBe(503);
    await project.write("server.ts", watchingFile);
    const { session, names } = await starting;
    expect(await push(session)).toMatchObject([{ status: 200 }]);
    expect(names()).toEqual(["broken", "delivery", "reloading", "ready", "delivery"]);
  });

  test("stops its start if the signal aborts, with its reason, and leaves nothing open", async () => {
    const project = await openProject({ "server.ts": "throw new Error('no luck');\nexport {};" });
    const broken = Promise.withResolvers<void>();
    const stop = new AbortController();
    const port = await freePort();
    const starting = startDev({
      ...optionsIn(project, { port, waitForFile: true, signal: stop.signal }),
      onEvent: ({ event }) => (event === "broken" ? broken.resolve() : undefined),
    });
    await broken.promise;
    const reason = new Error("Ctrl+C");
    stop.abort(reason);
    await expect(starting).rejects.toBe(reason);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  test("rejects and is closed if the signal aborts just after the session becomes ready", async () => {
    const project = await openProject();
    const stop = new AbortController();
    const reason = new Error("stopped");
    const port = await freePort();
    const stopSoon = () => void Promise.resolve().then(() => stop.abort(reason));
    const starting = startDev({
      ...optionsIn(project, { port, signal: stop.signal }),
      onEvent: ({ event }) => (event === "ready" ? stopSoon() : undefined),
    });
    await expect(starting).rejects.toBe(reason);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  test("is closed when the signal aborts later", async () => {
    const project = await openProject();
    const stop = new AbortController();
    const { session } = await startIn(project, { signal: stop.signal });
    const { url } = session.state;
    const isOpen = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    expect(await isOpen()).toBe(true);
    stop.abort();
    await expect.poll(isOpen).toBe(false);
  });

  test.for([
    ["OPTION_INVALID", { watch: ["datset:me/data" as `dataset:${string}`] }],
    ["OPTION_INVALID", { repairInterval: "soon" as "1m" }],
    ["OPTION_INVALID", { port: 6000 }],
    ["OPTION_INVALID", { hubPort: 10_080 }],
    ["OPTION_INVALID", { hub: "real", tunnel: false }],
    ["OPTION_INVALID", { file: undefined, forward: "ftp://localhost/hook" }],
    ["OPTION_INVALID", { file: undefined, forward: "localhost:8000" }],
    ["OPTION_INVALID", { file: undefined, forward: "" }],
    ["OPTION_INVALID", { publicUrl: "ftp://example.com" }],
    ["OPTION_INVALID", { publicUrl: "https://bot.example.com", tunnel: {} }],
    ["SERVER_FILE_INVALID", { file: "nowhere.ts" }],
  ] as const)("rejects with %s for %o", async ([code, options]) => {
    const project = await openProject();
    await expect(startDev({ ...optionsIn(project), ...options })).rejects.toMatchObject({ code });
  });
});

describe("A session with a tunnel", () => {
  test("emits the loss, the return and a new URL of the tunnel, and updates its webhooks and its console", async () => {
    const { pause } = systemClock;
    const shortened = vi
      .spyOn(systemClock, "pause")
      .mockImplementation((milliseconds, signal) => pause(Math.min(milliseconds, 50), signal));
    onTestFinished(() => shortened.mockRestore());
    const project = await openProject();
    await using host = await startLocaltunnelServer();
    const { session, events, names, until } = await startIn(project, {
      tunnel: { host: host.url, heartbeat: "100ms", subdomain: "my-bot" },
    });
    const client = await ConsoleClient.signIn(session.createConsoleLink());
    const shown = async () => (await client.get("dev")).body;
    expect(await shown()).toMatchObject({ tunnel: { status: "up" } });
    const before = session.state.publicUrl;
    expect(before).not.toBe(session.state.url);
    const page = async () => (await (await fetch(session.state.url)).text()).replaceAll(/<[^>]*>/g, "");
    await expect.poll(page).toContain(`${before}/webhooks/retrain`);
    expect(await push(session)).toMatchObject([{ status: 200, url: `${before}/webhooks/retrain` }]);
    // The session has its own secret, because the tunnel sends plain TCP through a third party.
    const { status } = await fetch(`${session.state.url}/webhooks/retrain`, {
      ...{ method: "POST", body: "{}", headers: { "x-webhook-secret": secret } },
    });
    expect(status).toBe(403);
    expect((await fetch(`${before}/`)).status).toBe(404);

    await host.crash();
    const { reason } = await until("down");
    expect(reason).not.toBe("");
    expect(await shown()).toMatchObject({ tunnel: { status: "down", reason } });
    host.giveNamesAway();
    host.comeBack();
    const { publicUrl } = await until("up");
    expect(publicUrl).not.toBe(before);
    expect(await shown()).toMatchObject({ publicUrl, tunnel: { status: "up" } });
    expect(await until("urlChanged")).toEqual({ event: "urlChanged", publicUrl });
    expect(session.state).toMatchObject({ publicUrl, endpoints: [{ url: `${publicUrl}/webhooks/retrain` }] });
    await expect.poll(page).toContain(`${publicUrl}/webhooks/retrain`);
    await until("webhooks");
    expect(await watchedOn(session.state.hub.url)).toEqual({ [`${publicUrl}/webhooks/retrain`]: ["dataset:me/data"] });
    expect(await push(session)).toMatchObject([{ status: 200 }]);
    expect(names().filter((name) => name !== "delivery" && name !== "problem")).toEqual([
      ...["ready", "signedIn", "down", "urlChanged", "up", "webhooks"],
    ]);
    // Why the tunnel is down is part of `down`.
    const problems = events.flatMap((event) => (event.event === "problem" ? [event.code] : []));
    expect(problems).toEqual(["TUNNEL_NAME_TAKEN"]);
    expect(JSON.stringify(events)).not.toContain(secret);
  });
});
