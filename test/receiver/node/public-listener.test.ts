// @module-tag slow

import { once } from "node:events";
import { connect, Server } from "node:net";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { WebhookError, WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { systemClock } from "../../../src/tunnel/provider.ts";
import { TunnelListeners } from "../../../src/tunnel/reconnecting-tunnel.ts";
import { freePort } from "../../support/free-port.ts";
import { type LocaltunnelServer, startLocaltunnelServer } from "../../support/localtunnel-server.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { startLocalServer } from "../../tunnel/support.ts";

const logger = createMemoryLogger();

/** Called when a tunnel is closed. */
const tunnelCloses = vi.hoisted(() => vi.fn());
/** Loses the tunnel that was opened last, for its listeners. `onOpened` is called before the server receives it. */
const openedTunnel = vi.hoisted(() => ({ lose: (_error: WebhookError) => {}, onOpened: () => {} }));

vi.mock(import("../../../src/tunnel/tunnel.ts"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    async openReconnectingTunnel(...given) {
      const opened = await original.openReconnectingTunnel(...given);
      const close = opened.close.bind(opened);
      opened.close = () => {
        tunnelCloses();
        return close();
      };
      const on = opened.on.bind(opened);
      const listeners = new TunnelListeners();
      opened.on = (event, listener) => {
        const removers = [on(event, listener), listeners.add(event, listener)];
        return () => {
          for (const remove of removers) remove();
        };
      };
      openedTunnel.lose = (error) => listeners.emit("down", error);
      openedTunnel.onOpened();
      return opened;
    },
  };
});

afterEach(() => {
  vi.restoreAllMocks();
  openedTunnel.onOpened = () => {};
  logger.lines.length = 0;
});

function serverWithSecret(secret?: string): WebhooksServer {
  const server = new WebhooksServer({ logger, ...(secret && { secret }) });
  server.webhook("hello", () => "hello");
  server.app.get("/private", (context) => context.text("for this machine only"));
  return server;
}

function launchThrough(server: WebhooksServer, host: LocaltunnelServer) {
  return server.launch({ port: 0, host: "127.0.0.1", tunnel: { host: host.url, timeout: "15s" } });
}

/** Makes lost tunnels reconnect immediately. */
function shortenWaits(): void {
  const { pause } = systemClock;
  vi.spyOn(systemClock, "pause").mockImplementation((milliseconds, signal) =>
    pause(milliseconds < 15_000 ? 10 : milliseconds, signal),
  );
}

function said(level: string): string[] {
  return logger.lines.filter((line) => line.level === level).map(({ msg }) => msg);
}

function deliver(baseUrl: string, secret?: string): Promise<Response> {
  const payload = webhookPayload("repo");
  return fetch(deliveryRequest({ endpoint: "hello", payload, baseUrl, ...(secret && { secret }) }));
}

describe("A server launched with a tunnel", () => {
  test("by TUNNEL=1 receives only deliveries at its public URL, and logs where to register it", async () => {
    await using host = await startLocaltunnelServer();
    vi.stubEnv("TUNNEL", "1");
    vi.stubEnv("LOCALTUNNEL_HOST", host.url);
    await using server = serverWithSecret("s3cret-of-ours");
    const { publicUrl, url } = await server.launch({ port: 0, host: "127.0.0.1" });
    expect(publicUrl).not.toBe(url);
    expect((await deliver(publicUrl, "s3cret-of-ours")).status).toBe(200);
    expect((await deliver(publicUrl, "wrong")).status).toBe(403);
    expect(logger.lines.find(({ endpoints }) => endpoints)).toMatchObject({
      endpoints: [`POST ${publicUrl}/webhooks/hello`],
      register: "https://huggingface.co/settings/webhooks",
    });
    for (const path of ["/", "/health", "/private", "/webhooks/../private", "/webhooks"]) {
      expect((await fetch(`${publicUrl}${path}`)).status, path).toBe(404);
    }
    expect((await fetch(`${url}/private`)).status).toBe(200);
  });

  test("creates a session secret if none is set, which is printed and not logged", async () => {
    vi.stubEnv("WEBHOOK_SECRET", undefined);
    const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    await using host = await startLocaltunnelServer();
    await using server = serverWithSecret();
    const { publicUrl } = await launchThrough(server, host);
    const secret = /[0-9a-f]{32}/.exec(printed.mock.calls.join("\n"))?.[0] ?? "";
    expect((await deliver(publicUrl)).status).toBe(401);
    expect((await deliver(publicUrl, secret)).status).toBe(200);
    expect(logger.text()).not.toContain(secret);
    expect(logger.text()).not.toContain("open to everyone");
  });

  test("requires a session secret already while the tunnel opens", async () => {
    vi.stubEnv("WEBHOOK_SECRET", undefined);
    await using host = await startLocaltunnelServer({ mode: "silent" });
    await using server = serverWithSecret();
    const port = await freePort();
    const launching = server.launch({ port, host: "127.0.0.1", tunnel: { host: host.url, timeout: "15s" } });
    await waitFor(() => expect(host.registrations).toHaveLength(1));
    expect((await deliver(`http://127.0.0.1:${port}`)).status).toBe(401);
    await server.close();
    await launching;
  });

  test("keeps idle connections of the tunnel open", async () => {
    await using host = await startLocaltunnelServer();
    await using server = serverWithSecret("s3cret-of-ours");
    const { publicUrl } = await server.launch({
      port: 0,
      host: "127.0.0.1",
      timeouts: { headers: 50, request: 50, keepAlive: 50 },
      tunnel: { host: host.url, timeout: "15s" },
    });
    await waitFor(() => expect(host.connections).toBeGreaterThan(0));
    const probe = connect(Number(new URL(publicUrl).port), "127.0.0.1");
    const answered: Buffer[] = [];
    probe.on("data", (chunk) => answered.push(chunk));
    await waitFor(() => expect(probe.readyState).toBe("open"));
    // The server closes a direct connection after the same time, so the idle connections have waited long enough.
    const direct = connect(Number(new URL((await server.launch()).url).port), "127.0.0.1");
    direct.resume();
    await once(direct, "close");
    expect(Buffer.concat(answered).toString()).toBe("");
    probe.destroy();
    expect((await deliver(publicUrl, "s3cret-of-ours")).status).toBe(200);
  });

  test("stops listening, and prints and requires no secret, if the tunnel cannot be opened", async () => {
    vi.stubEnv("WEBHOOK_SECRET", undefined);
    const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const listen = vi.spyOn(Server.prototype, "listen");
    await using host = await startLocaltunnelServer({ mode: "forbidden" });
    await using server = serverWithSecret();
    const own = { port: await freePort(), host: "127.0.0.1" };
    listen.mockClear();
    await expect(server.launch({ ...own, tunnel: { host: host.url, timeout: "15s" } })).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringMatching(/LOCALTUNNEL_HOST.*TUNNEL=cloudflared.*PUBLIC_URL for a server/),
    });
    // The server's socket and the tunnel's socket.
    expect(listen.mock.contexts.map((socket) => socket instanceof Server && socket.listening)).toEqual([false, false]);
    expect(printed.mock.calls.join("\n")).not.toMatch(/[0-9a-f]{32}/);
    const { url, port } = await server.launch({ ...own, tunnel: false });
    expect([port, (await deliver(url)).status]).toEqual([own.port, 200]);
  });

  test("stops opening the tunnel if your signal aborts", async () => {
    await using host = await startLocaltunnelServer({ mode: "silent" });
    const server = serverWithSecret("s3cret-of-ours");
    const opening = Promise.withResolvers<void>();
    const { deadline } = systemClock;
    vi.spyOn(systemClock, "deadline").mockImplementation((milliseconds) => {
      opening.resolve();
      return deadline(milliseconds);
    });
    const own = new AbortController();
    const tunnel = { host: host.url, timeout: "10m", signal: own.signal } as const;
    const launched = server.launch({ port: 0, host: "127.0.0.1", tunnel }).catch((error: unknown) => error);
    await opening.promise;
    own.abort(new Error("No tunnel, please."));
    expect(await launched).toMatchObject({ message: "No tunnel, please." });
    await server.close();
  });

  test("logs that the tunnel is lost, keeps running, and logs when it reconnects", async () => {
    shortenWaits();
    await using host = await startLocaltunnelServer();
    await using server = serverWithSecret("s3cret-of-ours");
    const launched = await launchThrough(server, host);
    const urlBefore = launched.publicUrl;
    await host.crash();
    await waitFor(() => expect(said("error")).toEqual([expect.stringMatching(/^The tunnel is down.*reconnects/)]));
    expect((await deliver(launched.url, "s3cret-of-ours")).status).toBe(200);
    host.comeBack();
    await waitFor(() => expect(said("info")).toContain("The tunnel is up again."));
    expect(launched.publicUrl).toBe(urlBefore);
    expect((await deliver(urlBefore, "s3cret-of-ours")).status).toBe(200);
    expect(said("warn")).toEqual([]);
  });

  test("logs each change of the address with the previous one, and serves the new one", async () => {
    shortenWaits();
    await using host = await startLocaltunnelServer();
    await using server = serverWithSecret("s3cret-of-ours");
    const launched = await launchThrough(server, host);
    const urls = [launched.publicUrl];
    for (const changes of [1, 2]) {
      await host.crash();
      host.giveNamesAway();
      host.comeBack();
      await waitFor(() => expect(said("warn")).toHaveLength(changes));
      urls.push(launched.publicUrl);
    }
    expect(new Set(urls).size).toBe(3);
    expect(logger.lines.filter(({ level }) => level === "warn")).toMatchObject([
      {
        ...{ urlBefore: urls[0], url: urls[1], msg: expect.stringContaining("NEW URL") },
        ...{ endpoints: `POST ${urls[1]}/webhooks/<name>`, register: "https://huggingface.co/settings/webhooks" },
      },
      { urlBefore: urls[1], url: urls[2] },
    ]);
    expect((await deliver(launched.publicUrl, "s3cret-of-ours")).status).toBe(200);
  });

  test("logs that the requested name is taken", async () => {
    await using host = await startLocaltunnelServer({ answer: { id: "another-bot" } });
    await using server = serverWithSecret("s3cret-of-ours");
    const tunnel = { host: host.url, subdomain: "my-bot" };
    await server.launch({ port: 0, host: "127.0.0.1", tunnel });
    await waitFor(() => expect(said("warn")).toEqual([expect.stringMatching(/"my-bot" is taken/)]));
  });

  test("leaves no timer after it is closed", async () => {
    await using host = await startLocaltunnelServer();
    const set = vi.spyOn(globalThis, "setTimeout");
    const cleared = vi.spyOn(globalThis, "clearTimeout");
    const server = serverWithSecret("s3cret-of-ours");
    await server.launch({ port: 0, host: "127.0.0.1", tunnel: { host: host.url } });
    const lives = set.mock.calls.findIndex(([, ms]) => ms === 72 * 60 * 60 * 1_000);
    const timer = set.mock.results[lives]?.value;
    await server.close();
    expect(timer).toBeDefined();
    expect(cleared).toHaveBeenCalledWith(timer);
    set.mockRestore();
    cleared.mockRestore();
  });

  test("opens after a request through its address has arrived", async () => {
    const overdue = new AbortController();
    const { deadline } = systemClock;
    vi.spyOn(systemClock, "deadline").mockImplementation((milliseconds) =>
      milliseconds === 61_000 ? overdue.signal : deadline(milliseconds),
    );
    let asked = 0;
    await using page = await startLocalServer((_request, response) => {
      response.end("somebody else's page");
      asked += 1;
      // The first response has been checked by then.
      if (asked === 2) overdue.abort();
    });
    await using host = await startLocaltunnelServer({ answer: { url: `http://127.0.0.1:${page.port}` } });
    await using server = serverWithSecret("s3cret-of-ours");
    const tunnel = { host: host.url, timeout: "61s" } as const;
    await expect(server.launch({ port: 0, host: "127.0.0.1", tunnel })).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringMatching(/a response that is not from this server/),
    });
  });

  test("monitors your own public URL, which points to the server itself", async () => {
    await using proxy = await startLocalServer((_request, response) => response.end("proxy"));
    const publicUrl = `http://127.0.0.1:${proxy.port}`;
    await using server = serverWithSecret("s3cret-of-ours");
    const launched = await server.launch({ port: 0, host: "127.0.0.1", tunnel: { existingUrl: publicUrl } });
    expect(launched.publicUrl).toBe(publicUrl);
    expect(said("info")).toContain(
      "Using your public URL. Check that your tunnel or proxy forwards it to this server.",
    );
    expect(logger.lines.find(({ endpoints }) => endpoints)).toMatchObject({
      endpoints: [`POST ${publicUrl}/webhooks/hello`],
    });
  });

  test("logs that a public URL of your own is down, and stops polling it when the server closes", async () => {
    shortenWaits();
    const proxyAnswer = { status: 502, count: 0 };
    await using proxy = await startLocalServer((_request, response) => {
      proxyAnswer.count += 1;
      response.writeHead(proxyAnswer.status).end();
    });
    const publicUrl = `http://127.0.0.1:${proxy.port}`;
    const server = serverWithSecret("s3cret-of-ours");
    await server.launch({ port: 0, host: "127.0.0.1", tunnel: { existingUrl: publicUrl, heartbeat: "10ms" } });
    await waitFor(() => {
      expect(logger.lines.filter(({ level }) => level === "error")).toMatchObject([
        { url: publicUrl, err: { code: "TUNNEL_FAILED" } },
      ]);
    });
    proxyAnswer.status = 200;
    await waitFor(() => expect(said("info").join("\n")).toContain("up again"));
    await server.close();
    const before = proxyAnswer.count;
    // Ten heartbeats.
    await wait(100);
    expect(proxyAnswer.count).toBe(before);
  });

  test("answers a delivery in progress before it closes the tunnel, and no longer logs that the tunnel is lost", async () => {
    await using host = await startLocaltunnelServer();
    const server = serverWithSecret("s3cret-of-ours");
    tunnelCloses.mockClear();
    const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    server.webhook("slow", () => {
      started.resolve();
      return finish.promise;
    });
    const { publicUrl } = await launchThrough(server, host);
    const payload = webhookPayload("repo");
    const request = deliveryRequest({ endpoint: "slow", payload, baseUrl: publicUrl, secret: "s3cret-of-ours" });
    const answer = fetch(request);
    await started.promise;
    expect(host.connections).toBeGreaterThan(0);
    const closed = server.close();
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(tunnelCloses).not.toHaveBeenCalled();
    openedTunnel.lose(new WebhookError("The tunnel does not answer.", { code: "TUNNEL_FAILED" }));
    finish.resolve("done");
    expect(await (await answer).json()).toBe("done");
    await closed;
    expect(tunnelCloses).toHaveBeenCalledOnce();
    expect(said("error")).toEqual([]);
    await waitFor(() => expect(host.connections).toBe(0));
  });

  test("exits with 1 at a signal if a request through the tunnel did not finish in time", async () => {
    await using host = await startLocaltunnelServer();
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    const server = serverWithSecret("s3cret-of-ours");
    const started = Promise.withResolvers<void>();
    server.webhook("endless", () => {
      started.resolve();
      return new Promise(() => {});
    });
    const own = { port: 0, host: "127.0.0.1", handleSignals: true, shutdownGrace: 50 };
    const { publicUrl } = await server.launch({ ...own, tunnel: { host: host.url, timeout: "15s" } });
    const payload = webhookPayload("repo");
    const request = deliveryRequest({ endpoint: "endless", payload, baseUrl: publicUrl, secret: "s3cret-of-ours" });
    const broken = fetch(request).catch(() => {});
    await started.promise;
    process.emit("SIGTERM", "SIGTERM");
    await waitFor(() => expect(exit).toHaveBeenCalledExactlyOnceWith(1));
    expect(said("error")).toContainEqual(expect.stringContaining('Increase "shutdownGrace"'));
    await broken;
  });

  test("stops opening the tunnel when it is closed, also if you passed a signal", async () => {
    await using host = await startLocaltunnelServer({ mode: "silent" });
    const server = serverWithSecret("s3cret-of-ours");
    const tunnel = { host: host.url, timeout: "10m", signal: new AbortController().signal } as const;
    const launching = server.launch({ port: 0, host: "127.0.0.1", tunnel });
    await waitFor(() => expect(host.registrations).toHaveLength(1));
    await server.close();
    const { url, publicUrl } = await launching;
    expect(publicUrl).toBe(url);
    await expect(deliver(url)).rejects.toThrow();
    expect(logger.text()).not.toContain("The server is ready");
    expect(logger.text()).not.toContain("webhook secret is set");
  });

  test("does not report its secret if it is closed when the tunnel has just opened", async () => {
    await using host = await startLocaltunnelServer();
    const server = serverWithSecret("s3cret-of-ours");
    openedTunnel.onOpened = () => void server.close();
    await launchThrough(server, host);
    await server.close();
    expect(logger.text()).toContain("reachable through a tunnel");
    expect(logger.text()).not.toContain("webhook secret is set");
  });

  test("closes the tunnel after 72 hours, and logs the time at the start", async () => {
    await using host = await startLocaltunnelServer();
    await using server = serverWithSecret("s3cret-of-ours");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    try {
      const startedAt = Date.now();
      await launchThrough(server, host);
      const hours72 = 72 * 60 * 60 * 1000;
      expect(logger.lines.find(({ closesAt }) => closesAt)?.closesAt).toBe(new Date(startedAt + hours72).toISOString());
      await vi.advanceTimersByTimeAsync(hours72 - 1_000);
      expect(logger.text()).not.toContain("72 hours");
      await vi.advanceTimersByTimeAsync(1_000);
      expect(logger.text()).toContain("72 hours");
      server.webhook("later", () => "later");
      expect(logger.lines.at(-1)?.url).toBe(`${(await server.launch()).url}/webhooks/later`);
    } finally {
      vi.useRealTimers();
    }
    await waitFor(() => expect(host.connections).toBe(0));
  });
});
