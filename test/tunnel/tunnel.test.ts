import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { buffer } from "node:stream/consumers";
import { inspect } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openTunnel, type Tunnel } from "../../src/dev.ts";
import { requestTunnel } from "../../src/tunnel/localtunnel.ts";
import { openReconnectingTunnel } from "../../src/tunnel/tunnel.ts";
import {
  type LocaltunnelServer,
  type LocaltunnelServerOptions,
  startLocaltunnelServer,
} from "../support/localtunnel-server.ts";
import {
  createManualClock,
  type LocalServer,
  newestProcess,
  openHosted,
  recordEvents,
  runningProcesses,
  startCheckedServer,
  startLocalServer,
  tunnelProcesses,
} from "./support.ts";

describe("An open tunnel", () => {
  let local: LocalServer;
  let host: LocaltunnelServer;
  let tunnel: Tunnel;
  /** How the local server answers, which each test sets. */
  let answer: RequestListener = (_request, response) => response.end();
  beforeAll(async () => {
    local = await startLocalServer((request, response) => answer(request, response));
    host = await startLocaltunnelServer();
    tunnel = await openTunnel({ port: local.port, host: host.url });
    return async () => {
      await tunnel.close();
      await host.close();
      await local[Symbol.asyncDispose]();
    };
  });

  test("forwards a request and the response byte for byte", async () => {
    const arrived: { method: string | undefined; url: string | undefined; body: Buffer }[] = [];
    answer = async (request, response) => {
      arrived.push({ method: request.method, url: request.url, body: await buffer(request) });
      response.writeHead(202).end("reçu ✓");
    };
    // Large enough to arrive in several pieces, so that multi-byte characters are split.
    const body = Buffer.from(JSON.stringify({ title: "Größe 大小 🤗".repeat(20_000) }));
    const response = await fetch(`${tunnel.url}/webhooks/größe?x=1`, { method: "POST", body });
    expect(response.status).toBe(202);
    expect(await response.text()).toBe("reçu ✓");
    expect(arrived).toHaveLength(1);
    expect(arrived[0]).toMatchObject({ method: "POST", url: "/webhooks/gr%C3%B6%C3%9Fe?x=1" });
    expect(arrived[0]?.body.equals(body)).toBe(true);
  });

  test("forwards more requests than it has connections, in parallel and in sequence", async () => {
    answer = (request, response) => response.setHeader("connection", "close").end(request.url);
    const paths = Array.from({ length: 30 }, (_, index) => `/${index}`);
    const answers = await Promise.all(paths.map(async (path) => (await fetch(tunnel.url + path)).text()));
    expect(answers).toEqual(paths);
    expect(await (await fetch(`${tunnel.url}/last`)).text()).toBe("/last");
  });

  test("keeps its connections when the local server resets many requests", async () => {
    answer = (request, response) => {
      if (request.url === "/reset") request.socket.resetAndDestroy();
      else response.end("still here");
    };
    for (let count = 0; count < 8; count += 1) await expect(fetch(`${tunnel.url}/reset`)).rejects.toThrow();
    expect(await (await fetch(tunnel.url)).text()).toBe("still here");
  });

  test("points to 127.0.0.1 even if another program uses the same port on ::1", async (context) => {
    answer = (_request, response) => response.end("ours");
    const elsewhere = await startLocalServer((_request, response) => response.end("not ours"), {
      host: "::1",
      port: local.port,
    }).catch(() => undefined);
    if (elsewhere === undefined) return context.skip("This machine has no ::1.");
    expect(await (await fetch(tunnel.url)).text()).toBe("ours");
  });
});

describe("A tunnel", () => {
  test("opens at most ten connections, even if the server allows more", async () => {
    const { host } = await openHosted({ answer: { max_conn_count: 1_000_000 } });
    await expect.poll(() => host.connections).toBe(10);
  });

  test("has only the origin of the URL that the server assigned", async () => {
    const { tunnel } = await openHosted({ answer: { url: "https://user:pass@Quiet-Owl.example/path?token=1#part" } });
    expect(tunnel.url).toBe("https://quiet-owl.example");
  });

  test("ignores Ctrl+C in its worker, because the parent decides when to stop", async () => {
    await using local = await startLocalServer((_request, response) => response.end("pong"));
    await using host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: local.port, host: host.url });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) newestProcess().kill(signal);
    expect(await (await fetch(tunnel.url)).text()).toBe("pong");
    expect(runningProcesses()).toEqual([newestProcess().pid]);
    expect(tunnel.status).toBe("up");
  });

  test.skipIf(process.platform !== "linux")("passes no environment variable to localtunnel", async () => {
    vi.stubEnv("HF_TOKEN", "hf_planted");
    await openHosted();
    vi.unstubAllEnvs();
    const environment = await readFile(`/proc/${newestProcess().pid}/environ`, "utf8");
    expect(environment).toContain("NODE_CHANNEL_FD");
    expect(environment).not.toContain("hf_planted");
  });
});

describe("The options", () => {
  test("request the given subdomain, or a new tunnel of the host in LOCALTUNNEL_HOST", { tags: "slow" }, async () => {
    await using host = await startLocaltunnelServer();
    await (await openTunnel({ port: 1, host: host.url, subdomain: "my-bot" })).close();
    vi.stubEnv("LOCALTUNNEL_HOST", host.url);
    await using _tunnel = await openTunnel({ port: 1 });
    vi.unstubAllEnvs();
    expect(host.registrations).toEqual(["/my-bot", "/?new"]);
  });

  test.each([
    ["a port of 0", { port: 0 }],
    ["a port of 65536", { port: 65_536 }],
    ["a port of 80.5", { port: 80.5 }],
    ["a host that is not a URL", { port: 1, host: "localtunnel.me" }],
    ["a host that is not an http(s) URL", { port: 1, host: "file:///etc/passwd" }],
    ["a subdomain with a slash", { port: 1, subdomain: "../admin" }],
    ["a subdomain with a query", { port: 1, subdomain: "owl?new" }],
    ["a timeout of 0", { port: 1, timeout: 0 }],
  ])("reject %s before a process is started", async (_name, options) => {
    const before = tunnelProcesses().length;
    await expect(openTunnel(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(tunnelProcesses()).toHaveLength(before);
  });
});

describe("Closing", () => {
  test("stops the worker and its connections, emits no `down`, and can be repeated", async () => {
    const { host, tunnel, heard } = await openHosted();
    expect(runningProcesses()).toHaveLength(1);
    await Promise.all([tunnel.close(), tunnel.close()]);
    await tunnel.close();
    expect(tunnel.status).toBe("closed");
    expect(runningProcesses()).toEqual([]);
    expect(heard).toEqual([]);
    await expect.poll(() => host.connections).toBe(0);
  });
});

describe("An AbortSignal", () => {
  test("that has already aborted starts nothing", async () => {
    await using host = await startLocaltunnelServer();
    const before = tunnelProcesses().length;
    const reason = new Error("changed my mind");
    const opening = openTunnel({ port: 1, host: host.url, signal: AbortSignal.abort(reason) });
    await expect(opening).rejects.toBe(reason);
    expect(host.registrations).toEqual([]);
    expect(tunnelProcesses()).toHaveLength(before);
  });

  test.each(["silent", "deaf-port"] as const)(
    "cancels the opening at a %s server and leaves nothing running",
    async (mode) => {
      await using host = await startLocaltunnelServer({ mode });
      const controller = new AbortController();
      const reason = new Error("changed my mind");
      const opening = openTunnel({ port: 1, host: host.url, signal: controller.signal });
      const rejected = expect(opening).rejects.toBe(reason);
      await expect.poll(() => host.registrations).toHaveLength(1);
      controller.abort(reason);
      await rejected;
      expect(runningProcesses()).toEqual([]);
    },
  );

  test("has no effect on an open tunnel", async () => {
    await using host = await startLocaltunnelServer();
    const controller = new AbortController();
    await using tunnel = await openTunnel({ port: 1, host: host.url, signal: controller.signal });
    controller.abort();
    expect(tunnel.status).toBe("up");
    expect(runningProcesses()).toHaveLength(1);
  });
});

describe("A tunnel with existingUrl", () => {
  test("checks the URL and starts no process", async () => {
    const before = tunnelProcesses().length;
    await using local = await startCheckedServer();
    await using tunnel = await openReconnectingTunnel(
      { existingUrl: `http://127.0.0.1:${local.port}/`, port: local.port },
      { reachabilityCheck: local.reachabilityCheck },
    );
    expect(tunnel.url).toBe(`http://127.0.0.1:${local.port}`);
    expect(tunnel.status).toBe("up");
    expect(local.asked).toHaveLength(1);
    expect(tunnelProcesses()).toHaveLength(before);
  });

  test("keeps the path of the URL", async () => {
    await using local = await startCheckedServer();
    const asked: (string | undefined)[] = [];
    await using proxy = await startLocalServer((request, response) => {
      asked.push(request.url);
      response.end(local.reachabilityCheck.answer);
    });
    await using tunnel = await openReconnectingTunnel(
      { existingUrl: `http://127.0.0.1:${proxy.port}/hooks/`, port: local.port },
      { reachabilityCheck: local.reachabilityCheck },
    );
    expect(tunnel.url).toBe(`http://127.0.0.1:${proxy.port}/hooks`);
    expect(asked).toEqual([`/hooks${local.reachabilityCheck.path}`]);
  });

  test("goes down while the URL points to another server, and up again automatically", async () => {
    const clock = createManualClock();
    await using local = await startCheckedServer();
    const publicUrl = `http://127.0.0.1:${local.port}`;
    await using tunnel = await openReconnectingTunnel(
      { existingUrl: publicUrl, port: local.port },
      { reachabilityCheck: local.reachabilityCheck, clock },
    );
    const heard = recordEvents(tunnel);
    local.answer((_request, response) => response.writeHead(302, { location: "/" }).end());
    await clock.pass(15_000);
    await clock.pass(15_000);
    await expect
      .poll(() => heard)
      .toEqual([
        expect.stringMatching(/redirected \(status 302\).* Check that the tunnel or proxy/),
        "down TUNNEL_FAILED",
      ]);
    local.answer(undefined);
    await clock.pass(1_000);
    await expect.poll(() => heard.slice(2)).toEqual(["up"]);
    expect(tunnel.status).toBe("up");
  });

  test.each([
    ["not a URL", "hooks.example.com"],
    ["not an http(s) URL", "ftp://hooks.example.com"],
    ["a URL with credentials", "https://me:planted@hooks.example.com"],
    ["a URL with a query", "https://hooks.example.com/?token=planted"],
    ["a URL with a fragment", "https://hooks.example.com/#planted"],
  ])("rejects %s without repeating it", async (_name, publicUrl) => {
    const error: unknown = await openTunnel({ existingUrl: publicUrl, port: 1 }).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining("existingUrl") });
    expect(String(error)).not.toContain("planted");
  });

  test.each([
    ["provider", { provider: "ngrok" as const }],
    ["provider", { provider: "localtunnel" as const }],
    ["host", { host: "https://localtunnel.me" }],
    ["subdomain", { subdomain: "my-bot" }],
  ])("cannot be combined with the option %s", async (name, options) => {
    const opening = openTunnel({ existingUrl: "https://hooks.example.com", port: 1, ...options });
    await expect(opening).rejects.toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining(name) });
  });
});

const options = { subdomain: undefined, signal: new AbortController().signal };

test.each([
  ["a public address", "203.0.113.7", "203.0.113.7"],
  ["an address of this machine", "127.0.0.2", "127.0.0.1"],
  ["an address of the private network", "192.168.1.1", "127.0.0.1"],
  ["the address of a cloud's metadata", "169.254.169.254", "127.0.0.1"],
  ["an IPv6 address", "::1", "127.0.0.1"],
  ["a host name", "localhost", "127.0.0.1"],
  ["a number", 7, "127.0.0.1"],
])("A server that sends %s (%s) as its own address is contacted at %s", async (_name, ip, remoteHost) => {
  await using host = await startLocaltunnelServer({ answer: { ip } });
  expect((await requestTunnel(host.url, options)).remoteHost).toBe(remoteHost);
});

test.each([
  [undefined, 1],
  [0, 1],
  ["10", 1],
  [3, 3],
  [1e9, 10],
])("A server that allows %s connections gets %s", async (max_conn_count, connections) => {
  await using host = await startLocaltunnelServer({ answer: { max_conn_count } });
  expect((await requestTunnel(host.url, options)).connections).toBe(connections);
});

test.each([
  ["the id", { id: "my-bot" }, "my-bot"],
  ["the first label of the URL", { id: undefined, url: "https://quiet-owl.example.com" }, "quiet-owl"],
  ["undefined if the id is a path and the URL an IP address", { id: "../admin" }, undefined],
  ["undefined if the id is not a string", { id: { length: 5 } }, undefined],
])("The name of a tunnel is %s", async (_name, answer, name) => {
  await using host = await startLocaltunnelServer({ answer });
  expect((await requestTunnel(host.url, options)).name).toBe(name);
});

test.each([
  ["never ends", "x".repeat(70_000), /more than 64 KiB/],
  ["is a JSON string", `"https://example.com"`, /an unknown response instead of a tunnel/],
  ["is null", "null", /an unknown response instead of a tunnel/],
  ["is empty", "", /an unknown response instead of a tunnel/],
])("A response that %s is rejected", async (_name, answer, reason) => {
  await using server = await startLocalServer((_request, response) => {
    response.write(answer);
    if (answer.length < 70_000) response.end();
  });

  const registering = requestTunnel(`http://127.0.0.1:${server.port}`, options);
  await expect(registering).rejects.toMatchObject({ code: "TUNNEL_FAILED", message: expect.stringMatching(reason) });
});

const badServers: [name: string, reason: RegExp, server: LocaltunnelServerOptions][] = [
  ["is down", /is not reachable \(ECONNREFUSED\)/, { mode: "refuse" }],
  ["answers 403", /returned status 403/, { mode: "forbidden" }],
  ["answers 500", /returned status 500/, { mode: "broken" }],
  ["redirects", /redirected \(status 302\)/, { mode: "redirect" }],
  ["answers with a web page", /a web page \(HTML\) instead of a tunnel/, { mode: "html" }],
  ["does not speak HTTP", /is not reachable/, { mode: "garbage" }],
  ["assigns no URL", /without a valid http or https URL/, { mode: "no-url" }],
  [
    "assigns a URL that is not http(s)",
    /without a valid http or https URL/,
    { answer: { url: "javascript:alert(1)" } },
  ],
  ["assigns no port", /without a valid port/, { answer: { port: undefined } }],
  ["assigns an invalid port", /without a valid port/, { answer: { port: 99_999 } }],
];

test.each(badServers)(
  "A server that %s assigns no tunnel, and its text is not repeated",
  async (_name, reason, server) => {
    await using host = await startLocaltunnelServer(server);
    const error: unknown = await requestTunnel(host.url, options).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "TUNNEL_FAILED", retryable: true, message: expect.stringMatching(reason) });
    expect(inspect(error)).not.toContain("captive portal");
  },
);

test("A response with another status is closed without reading its body", async () => {
  const canceled = vi.spyOn(ReadableStream.prototype, "cancel");
  onTestFinished(() => canceled.mockRestore());
  await using server = await startLocalServer((_request, response) => void response.writeHead(500).write("endless"));
  await expect(requestTunnel(`http://127.0.0.1:${server.port}`, options)).rejects.toMatchObject({
    code: "TUNNEL_FAILED",
  });
  expect(canceled).toHaveBeenCalledOnce();
});

test("A response that ends early is reported as such", async () => {
  await using server = await startLocalServer((_request, response) => {
    response.writeHead(200, { "content-length": 1_000 });
    response.write(`{ "url": `, () => response.destroy());
  });

  const registering = requestTunnel(`http://127.0.0.1:${server.port}`, options);
  await expect(registering).rejects.toMatchObject({
    code: "TUNNEL_FAILED",
    message: expect.stringMatching(/closed the connection before the end/),
  });
});
