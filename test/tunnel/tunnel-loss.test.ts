import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { openTunnel, type Tunnel } from "../../src/dev.ts";
import type { CarryOrder } from "../../src/tunnel/localtunnel-child.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { livingChildren, newestChild } from "./forked-children.ts";

/** Notes the name of every event, and of every error what it says. */
function listen(tunnel: Tunnel): string[] {
  const heard: string[] = [];
  tunnel.on("error", ({ code, message }) => heard.push(`error ${code}: ${message}`));
  tunnel.on("down", ({ code }) => heard.push(`down ${code}`));
  tunnel.on("up", () => heard.push("up"));
  return heard;
}

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
    const heard = listen(tunnel);

    await host.close();

    await expect.poll(() => tunnel.status).toBe("down");
    expect(heard).toEqual([
      expect.stringMatching(/^error TUNNEL_FAILED: .* refuses connections to port \d+/),
      "down TUNNEL_FAILED",
    ]);
  });

  test("is not told to be down a second time when its process dies too", async () => {
    const host = await startLocaltunnelServer();
    await using tunnel = await openTunnel({ port: 1, host: host.url });
    await host.close();
    await expect.poll(() => tunnel.status).toBe("down");
    const heard = listen(tunnel);

    newestChild().kill("SIGKILL");

    await expect.poll(() => heard).toEqual([expect.stringMatching(/^error TUNNEL_FAILED: .* has ended/)]);
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
    expect(livingChildren()).toEqual([]);
  });
});

test("an open tunnel whose process is killed tells its listeners and is down", async () => {
  await using host = await startLocaltunnelServer();
  await using tunnel = await openTunnel({ port: 1, host: host.url });
  const heard = listen(tunnel);

  newestChild().kill("SIGKILL");

  await expect.poll(() => tunnel.status).toBe("down");
  expect(heard).toEqual([
    expect.stringMatching(/^error TUNNEL_FAILED: The process that carries the tunnel has ended/),
    "down TUNNEL_FAILED",
  ]);
});

test("an open tunnel that finds its server again after a while is up again", async () => {
  await using host = await startLocaltunnelServer();
  await using tunnel = await openTunnel({ port: 1, host: host.url });
  const heard = listen(tunnel);

  // Said in place of the process, which would say it only after several seconds without a network.
  newestChild().emit("message", "lost", undefined);
  expect(tunnel.status).toBe("down");
  newestChild().emit("message", "connected", undefined);

  expect(tunnel.status).toBe("up");
  expect(heard).toEqual([expect.stringMatching(/ has lost its connections to /), "down TUNNEL_FAILED", "up"]);
});

test("the tunnel's process ends when its parent is killed without a warning", async () => {
  await using host = await startLocaltunnelServer();
  const script = `
    const { openTunnel } = await import(${JSON.stringify(new URL("../../src/dev.ts", import.meta.url))});
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
  const child = fork(new URL("../../src/tunnel/localtunnel-child.ts", import.meta.url));
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
