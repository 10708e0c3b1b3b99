// @module-tag slow

import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebhookError } from "../../src/core/errors.ts";
import type { LocaltunnelConfig } from "../../src/tunnel/localtunnel-process.ts";
import { type OpenTunnelOptions, openTunnel } from "../../src/tunnel/tunnel.ts";
import { listenOnPort } from "../support/free-port.ts";
import { type ServerFault, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { newestProcess, openHosted, runningProcesses, startLocalServer, tunnelProcesses } from "./support.ts";

async function failureOf(options: OpenTunnelOptions): Promise<WebhookError> {
  const error: unknown = await openTunnel(options).then(
    () => new Error("The tunnel was opened."),
    (error: unknown) => error,
  );
  if (!WebhookError.isInstance(error)) throw error;
  return error;
}

describe("Opening a tunnel fails with the reason and leaves nothing running if the server", () => {
  // `tunnel.test.ts` tests the other answers without a process.
  test.each<[name: string, reason: RegExp, mode: ServerFault]>([
    ["answers 403", /returned status 403/, "forbidden"],
    ["never answers", /did not answer in time/, "silent"],
    ["assigns a closed port", /refused connections to port \d+/, "closed-port"],
    ["assigns a port behind a firewall", /port \d+ did not answer in time\. Check that no firewall/, "deaf-port"],
  ])("%s", { timeout: 90_000 }, async (_name, reason, mode) => {
    await using host = await startLocaltunnelServer({ mode });
    const before = tunnelProcesses().length;
    const start = performance.now();
    // Only servers that never answer should hit the timeout, even on a busy machine.
    const isSilent = mode === "silent" || mode === "deaf-port";
    const error = await failureOf({ port: 1, host: host.url, timeout: isSilent ? "3s" : "60s" });
    expect(performance.now() - start).toBeLessThan(isSilent ? 15_000 : 60_000);
    expect(error).toMatchObject({ code: "TUNNEL_FAILED", retryable: true });
    expect(error.message).toMatch(reason);
    expect(error.message).toContain("set another tunnel server");
    expect(tunnelProcesses()).toHaveLength(before + 1);
    expect(runningProcesses()).toEqual([]);
    await expect.poll(() => host.connections).toBe(0);
  });
});

describe("Opening a tunnel fails", () => {
  test("if its worker is killed while it opens", async () => {
    await using host = await startLocaltunnelServer({ mode: "silent" });
    const failure = failureOf({ port: 1, host: host.url });
    await expect.poll(() => host.registrations).toHaveLength(1);
    newestProcess().kill("SIGKILL");
    expect((await failure).message).toMatch(/tunnel process exited/);
  });

  test("without repeating the secrets in the address of the host", async () => {
    await using host = await startLocaltunnelServer({ mode: "forbidden" });
    const address = `${host.url.replace("//", "//user:planted@")}/planted?token=planted`;
    const error = await failureOf({ port: 1, host: address });
    expect(error.message).toContain(`${host.url} returned`);
    expect(inspect(error)).not.toContain("planted");
  });
});

describe("An open tunnel whose server crashes", () => {
  test("emits the reason, and can be closed and leaves nothing running", async () => {
    const { host, tunnel, heard } = await openHosted();
    await host.close();
    await expect.poll(() => tunnel.status).toBe("down");
    expect(heard).toEqual([
      expect.stringMatching(/^error TUNNEL_FAILED: .* refused connections to port \d+/),
      "down TUNNEL_FAILED",
    ]);
    await tunnel.close();
    expect(tunnel.status).toBe("closed");
    expect(runningProcesses()).toEqual([]);
  });

  test("emits nothing to a removed listener, and does not throw without a listener for errors", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });
    const heard: string[] = [];
    const stopListening = tunnel.on("down", () => heard.push("stopped"));
    tunnel.on("down", () => heard.push("listening"));
    stopListening();
    await host.close();
    // An error that this process does not handle would fail the test run.
    await expect.poll(() => heard).toEqual(["listening"]);
  });
});

test("A tunnel whose worker reports a loss emits the reason and is down", async () => {
  const { tunnel, heard } = await openHosted();
  newestProcess().emit("message", "lost");
  await expect.poll(() => tunnel.status).toBe("down");
  expect(heard).toEqual([expect.stringMatching(/^error TUNNEL_FAILED: .* lost its connections/), "down TUNNEL_FAILED"]);
});

test("A tunnel whose worker cannot start is not opened", async () => {
  const { execPath } = process;
  onTestFinished(() => {
    process.execPath = execPath;
  });
  process.execPath = "/no/such/node";
  await expect(openTunnel({ port: 1 })).rejects.toMatchObject({ code: "TUNNEL_FAILED" });
});

test("The worker exits when its parent is killed with SIGKILL", async () => {
  await using host = await startLocaltunnelServer();
  const script = `
    const { openTunnel } = await import(${JSON.stringify(new URL("../../src/tunnel/tunnel.ts", import.meta.url))});
    await openTunnel({ port: 1, host: ${JSON.stringify(host.url)} });
    console.log("open");`;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(parent.stdout, "data");
  await expect.poll(() => host.connections).toBe(4);
  parent.kill("SIGKILL");
  await expect.poll(() => host.connections).toBe(0);
});

/** Starts a worker with one connection to a port of 127.0.0.1 and records its reports. */
async function startWorker(remotePort: number, config: Partial<LocaltunnelConfig> = {}) {
  const child = fork(new URL("../../src/tunnel/localtunnel-process.ts", import.meta.url));
  onTestFinished(() => void child.kill("SIGKILL"));
  const reports: unknown[] = [];
  child.on("message", (report) => reports.push(report));
  await expect.poll(() => reports).toContain("ready");
  const defaults: LocaltunnelConfig = {
    remoteHost: "127.0.0.1",
    remotePort,
    localPort: 1,
    connections: 1,
    timeoutMs: 50,
  };
  child.send({ ...defaults, ...config });
  return { child, reports };
}

test("The worker reports an unreachable server as lost", async () => {
  const { child, reports } = await startWorker(1, { remoteHost: "nowhere.invalid" });
  await expect.poll(() => reports).toEqual(["ready", "lost"]);
  child.disconnect();
  await once(child, "exit");
});

test("The worker exits when its parent disconnects while it loads", async () => {
  const child = fork(new URL("../../src/tunnel/localtunnel-process.ts", import.meta.url), { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.disconnect();
  await once(child, "exit");
});

test("The worker connects to 127.0.0.1 if localhost has both kinds of addresses", async () => {
  const preload = `
    import { getDefaultResultOrder } from "node:dns";
    process.once("exit", () => console.log(getDefaultResultOrder()));`;
  const child = fork(new URL("../../src/tunnel/localtunnel-process.ts", import.meta.url), {
    execArgv: ["--dns-result-order=ipv6first", "--import", `data:text/javascript,${encodeURIComponent(preload)}`],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = child.stdout ? buffer(child.stdout) : undefined;
  await once(child, "message");
  child.disconnect();
  expect((await output)?.toString()).toBe("ipv4first\n");
});

test("The worker reports a refused connection only when no other connection is open", async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)));
  });
  const { reports } = await startWorker(await listenOnPort(server), { connections: 2, timeoutMs: 60_000 });
  await expect.poll(() => sockets.size).toBe(2);
  await expect.poll(() => reports).toEqual(["ready", "connected"]);
  server.close();
  const [first, second] = sockets;
  first?.destroy();
  // The worker opens another connection after 20 ms, which is refused.
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(reports).toEqual(["ready", "connected"]);
  second?.destroy();
  await expect.poll(() => reports).toEqual(["ready", "connected", "refused"]);
});

test("The worker reports a loss when its last connection closes and the server accepts no other one", async () => {
  // Accepts one connection and closes it when a byte arrives. It accepts no others, so its queue fills up.
  const script = `
    const { readSync, writeSync } = require("node:fs");
    const server = require("node:net").createServer((socket) => {
      writeSync(1, "accepted");
      readSync(0, Buffer.alloc(1));
      socket.destroy();
      readSync(0, Buffer.alloc(1));
    });
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => writeSync(1, String(server.address().port)));`;
  const server = spawn(process.execPath, ["--eval", script], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  const [output] = await once(server.stdout, "data");
  const port = Number(output);
  const { reports } = await startWorker(port, { timeoutMs: 1_500 });
  await once(server.stdout, "data");
  const waiting = Array.from({ length: 4 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => {}));
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy();
  });
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, "connect")));
  await expect.poll(() => reports).toEqual(["ready", "connected"]);
  server.stdin.write("x");
  await expect.poll(() => reports, { timeout: 10_000 }).toEqual(["ready", "connected", "lost"]);
});

test("The worker reports a loss only after a time without a connection", async () => {
  /** Returns the reports of a worker with this timeout. */
  async function reportsWith(timeoutMs: number): Promise<unknown[]> {
    await using server = await startLocalServer(() => {});
    const { reports } = await startWorker(server.port, { timeoutMs });
    await expect.poll(() => reports).toContain("connected");
    // Wait longer than the timeout of a lost connection. Only the order of events matters.
    await new Promise((resolve) => setTimeout(resolve, 2 * timeoutMs));
    reports.push("cut off");
    await server[Symbol.asyncDispose]();
    const end = reports.length + 1;
    await expect.poll(() => reports.length).toBeGreaterThanOrEqual(end);
    return reports.slice(0, end);
  }
  let timeoutMs = 50;
  let reports = await reportsWith(timeoutMs);
  // On a busy machine, connecting can take longer than this timeout.
  while (reports[1] !== "connected") {
    timeoutMs *= 4;
    reports = await reportsWith(timeoutMs);
  }
  expect(reports).toEqual(["ready", "connected", "cut off", expect.stringMatching(/^(refused|lost)$/)]);
});
