import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CarryOrder } from "../../src/tunnel/localtunnel-worker.ts";
import { openTunnel } from "../../src/tunnel/tunnel.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { startLocalServer } from "./local-server.ts";
import { recordEvents } from "./recorded-events.ts";
import { newestWorker, runningWorkers } from "./worker-processes.ts";

describe("an open tunnel whose server dies", () => {
  test("is down, and without a listener that is all that happens", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });

    await host.close();

    // An error thrown into this process would fail the run.
    await expect.poll(() => tunnel.status).toBe("down");
  });

  test("tells its listeners the reason", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });
    const heard = recordEvents(tunnel);

    await host.close();

    await expect.poll(() => tunnel.status).toBe("down");
    expect(heard).toEqual([
      expect.stringMatching(/^error TUNNEL_FAILED: .* refuses connections to port \d+/),
      "down TUNNEL_FAILED",
    ]);
  });

  test("tells nothing to a listener that has stopped listening", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });
    const heard: string[] = [];
    const stopListening = tunnel.on("down", () => heard.push("stopped"));
    tunnel.on("down", () => heard.push("listening"));
    stopListening();

    await host.close();

    await expect.poll(() => heard).toEqual(["listening"]);
  });

  test("can be closed and leaves nothing", async () => {
    const host = await startLocaltunnelServer();
    const tunnel = await openTunnel({ port: 1, host: host.url });
    await host.close();
    await expect.poll(() => tunnel.status).toBe("down");

    await tunnel.close();

    expect(tunnel.status).toBe("closed");
    expect(runningWorkers()).toEqual([]);
  });
});

test("an open tunnel whose process is killed tells its listeners and is down", async () => {
  await using host = await startLocaltunnelServer();
  await using tunnel = await openTunnel({ port: 1, host: host.url });
  const heard = recordEvents(tunnel);

  newestWorker().kill("SIGKILL");

  await expect.poll(() => tunnel.status).toBe("down");
  expect(heard).toEqual([
    expect.stringMatching(/^error TUNNEL_FAILED: The process that carries the tunnel has ended/),
    "down TUNNEL_FAILED",
  ]);
});

test("the tunnel's process ends when its parent is killed without a warning", async () => {
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

test("the tunnel's process reports a server that it cannot reach at all as lost", async () => {
  const child = fork(new URL("../../src/tunnel/localtunnel-worker.ts", import.meta.url));
  const ready = await once(child, "message");
  expect(ready[0]).toBe("ready");
  const order: CarryOrder = {
    remoteHost: "nowhere.invalid",
    remotePort: 1,
    localPort: 1,
    connections: 1,
    patience: 50,
  };

  child.send(order);

  const report = await once(child, "message");
  expect(report[0]).toBe("lost");
  child.disconnect();
  await once(child, "exit");
});

test("the tunnel's process reports a loss only once no connection has stood for a while", async () => {
  /** What is reported, where a loss is one after so many milliseconds without a connection. */
  async function reportsWith(patience: number): Promise<unknown[]> {
    await using server = await startLocalServer(() => {});
    const child = fork(new URL("../../src/tunnel/localtunnel-worker.ts", import.meta.url));
    onTestFinished(() => void child.kill("SIGKILL"));
    const reports: unknown[] = [];
    child.on("message", (report) => reports.push(report));
    await expect.poll(() => reports).toContain("ready");
    const order: CarryOrder = {
      remoteHost: "127.0.0.1",
      remotePort: server.port,
      localPort: 1,
      connections: 1,
      patience,
    };
    child.send(order);
    await expect.poll(() => reports).toContain("connected");
    // Long enough that a loss would have been reported. Only the order counts: no time is too long.
    await new Promise((resolve) => setTimeout(resolve, 2 * patience));
    reports.push("cut off");
    await server[Symbol.asyncDispose]();
    const end = reports.length + 1;
    await expect.poll(() => reports.length).toBeGreaterThanOrEqual(end);
    return reports.slice(0, end);
  }

  let patience = 50;
  let reports = await reportsWith(patience);
  // A busy machine may take longer than that to connect at all.
  while (reports[1] !== "connected") {
    patience *= 4;
    reports = await reportsWith(patience);
  }
  expect(reports).toEqual(["ready", "connected", "cut off", expect.stringMatching(/^(refused|lost)$/)]);
});
