import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LocaltunnelConfig } from "../../src/tunnel/localtunnel-process.ts";
import { openTunnel } from "../../src/tunnel/tunnel.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { startLocalServer } from "./local-server.ts";
import { recordEvents } from "./manual-clock.ts";
import { newestProcess, runningProcesses } from "./tunnel-processes.ts";

describe("An open tunnel whose server dies", () => {
  test("is down, and does not throw without a listener", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });

    await host.close();

    // An error thrown into this process would fail the run.
    await expect.poll(() => tunnel.status).toBe("down");
  });

  test("emits the reason", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });
    const heard = recordEvents(tunnel);

    await host.close();

    await expect.poll(() => tunnel.status).toBe("down");
    expect(heard).toEqual([
      expect.stringMatching(/^error TUNNEL_FAILED: .* refused connections to port \d+/),
      "down TUNNEL_FAILED",
    ]);
  });

  test("emits nothing to a removed listener", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });
    const heard: string[] = [];
    const stopListening = tunnel.on("down", () => heard.push("stopped"));
    tunnel.on("down", () => heard.push("listening"));
    stopListening();

    await host.close();

    await expect.poll(() => heard).toEqual(["listening"]);
  });

  test("can be closed and leaves nothing running", async () => {
    const host = await startLocaltunnelServer();
    const tunnel = await openTunnel({ port: 1, host: host.url });
    await host.close();
    await expect.poll(() => tunnel.status).toBe("down");

    await tunnel.close();

    expect(tunnel.status).toBe("closed");
    expect(runningProcesses()).toEqual([]);
  });
});

test("A tunnel whose worker is killed emits the reason and is down", async () => {
  await using host = await startLocaltunnelServer();
  await using tunnel = await openTunnel({ port: 1, host: host.url });
  const heard = recordEvents(tunnel);

  newestProcess().kill("SIGKILL");

  await expect.poll(() => tunnel.status).toBe("down");
  expect(heard).toEqual([
    expect.stringMatching(/^error TUNNEL_FAILED: The tunnel process exited/),
    "down TUNNEL_FAILED",
  ]);
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

test("The worker reports an unreachable server as lost", async () => {
  const child = fork(new URL("../../src/tunnel/localtunnel-process.ts", import.meta.url));
  const ready = await once(child, "message");
  expect(ready[0]).toBe("ready");
  const order: LocaltunnelConfig = {
    remoteHost: "nowhere.invalid",
    remotePort: 1,
    localPort: 1,
    connections: 1,
    timeoutMs: 50,
  };

  child.send(order);

  const report = await once(child, "message");
  expect(report[0]).toBe("lost");
  child.disconnect();
  await once(child, "exit");
});

test("The worker reports a loss only after a time without a connection", async () => {
  /** Returns the reports of a worker with this timeout. */
  async function reportsWith(timeoutMs: number): Promise<unknown[]> {
    await using server = await startLocalServer(() => {});
    const child = fork(new URL("../../src/tunnel/localtunnel-process.ts", import.meta.url));
    onTestFinished(() => void child.kill("SIGKILL"));
    const reports: unknown[] = [];
    child.on("message", (report) => reports.push(report));
    await expect.poll(() => reports).toContain("ready");
    const order: LocaltunnelConfig = {
      remoteHost: "127.0.0.1",
      remotePort: server.port,
      localPort: 1,
      connections: 1,
      timeoutMs,
    };
    child.send(order);
    await expect.poll(() => reports).toContain("connected");
    // Wait longer than the timeout of a loss. Only the order of the events counts.
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
