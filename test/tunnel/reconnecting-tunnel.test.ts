// @module-tag slow

import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createReachabilityCheck } from "../../src/tunnel/reachability-check.ts";
import { openWithReconnects } from "../../src/tunnel/reconnecting-tunnel.ts";
import {
  type OpenTunnelOptions,
  openReconnectingTunnel,
  resolveTunnelConfig,
  type Tunnel,
} from "../../src/tunnel/tunnel.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import {
  createManualClock,
  newestProcess,
  recordEvents,
  runningProcesses,
  startCheckedServer,
  startLocalServer,
} from "./support.ts";

const heartbeat = 15_000;

/** Opens a tunnel with a fake localtunnel server, a manual clock, and a server that answers reachability checks. */
async function openTestTunnel(options: Partial<OpenTunnelOptions> = {}, { hasReachabilityCheck = true } = {}) {
  const clock = createManualClock();
  const local = await startCheckedServer();
  const host = await startLocaltunnelServer();
  const reachabilityCheck = hasReachabilityCheck ? local.reachabilityCheck : undefined;
  const tunnel = await openReconnectingTunnel(
    { port: local.port, host: host.url, ...options },
    { reachabilityCheck, clock },
  );
  onTestFinished(async () => {
    await tunnel.close();
    await Promise.all([host.close(), local[Symbol.asyncDispose]()]);
  });
  return { clock, local, host, tunnel, heard: recordEvents(tunnel) };
}

/** A connection that the test provides. `name`: which the tunnel reads once the connection is open. */
interface ProvidedConnection {
  readonly name: string;
  onClose?: () => void;
}

/** Opens a tunnel whose connections the test provides, to a server that answers each request. */
async function openProvided(connections: readonly ProvidedConnection[]) {
  const clock = createManualClock();
  const sockets: Socket[] = [];
  const local = await startLocalServer((_request, response) => response.end(), {
    onConnection: (socket) => sockets.push(socket),
  });
  const url = `http://127.0.0.1:${local.port}`;
  const plan = resolveTunnelConfig({ port: local.port, existingUrl: url }, { clock });
  const [opened, closed, requested]: [AbortController[], string[], (string | undefined)[]] = [[], [], []];
  const open = async ({ subdomain }: { subdomain: string | undefined }) => {
    const connection = connections[opened.length];
    if (!connection) throw new Error("It was opened too many times.");
    requested.push(subdomain);
    const lost = new AbortController();
    opened.push(lost);
    const close = async () => {
      closed.push(connection.name);
      connection.onClose?.();
    };
    return Object.assign(connection, { url, lost: lost.signal, close });
  };
  const tunnel = await openWithReconnects({ ...plan, open });
  onTestFinished(async () => {
    await tunnel.close();
    await local[Symbol.asyncDispose]();
  });
  /** Loses the last connection. */
  const lose = () => opened.at(-1)?.abort(plan.failure("The tunnel is lost."));
  return { clock, tunnel, heard: recordEvents(tunnel), opened, closed, requested, sockets, lose };
}

async function pong(tunnel: Tunnel): Promise<string> {
  return (await fetch(`${tunnel.url}/ping`)).text();
}

const isDown = [expect.stringMatching(/^error TUNNEL_FAILED: /), "down TUNNEL_FAILED"];

describe("A tunnel whose server crashes", () => {
  test("reconnects at the same URL when the server is available again", async () => {
    const { clock, host, tunnel, heard } = await openTestTunnel();
    const { url } = tunnel;
    await host.crash();
    await expect.poll(() => heard).toEqual(isDown);
    expect(tunnel.status).toBe("down");
    await clock.pass(1_000);
    await expect.poll(() => heard.at(-1)).toMatch(/^error TUNNEL_FAILED: .* is not reachable/);
    host.comeBack();
    await clock.pass(2_000);
    await expect.poll(() => tunnel.status).toBe("up");
    expect(heard.slice(2)).toEqual([expect.stringMatching(/^error/), "up"]);
    expect(tunnel.url).toBe(url);
    expect(host.registrations).toEqual(["/?new", "/quiet-owl-12"]);
    expect(await pong(tunnel)).toBe("pong");
    expect(runningProcesses()).toHaveLength(1);
  });

  test("is retried forever with a delay that doubles from 1 s to 30 s", async () => {
    const { clock, host, heard } = await openTestTunnel();
    host.misbehave("forbidden");
    newestProcess().kill("SIGKILL");
    await expect.poll(() => heard).toEqual(isDown);
    const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000];
    for (const [index, wait] of waits.entries()) {
      await clock.pass(wait);
      await expect.poll(() => heard).toHaveLength(index + 3);
    }
    expect(clock.pauses.slice(1, waits.length + 1)).toEqual(waits);
    expect(heard.slice(2).every((line) => /^error TUNNEL_FAILED: .* status 403/.test(line))).toBe(true);
    expect(runningProcesses()).toEqual([]);
  });

  test("emits the new URL before `up` if another client has taken its name", async () => {
    const { clock, host, tunnel, heard } = await openTestTunnel();
    const urlBefore = tunnel.url;
    await host.crash();
    host.giveNamesAway();
    host.comeBack();
    await clock.pass(1_000);
    await expect.poll(() => heard.at(-1)).toMatch(/^error TUNNEL_FAILED: .*"quiet-owl-12"/);
    expect(tunnel.url).toBe(urlBefore);
    await clock.pass(2_000);
    await expect.poll(() => tunnel.status).toBe("up");
    expect(tunnel.url).not.toBe(urlBefore);
    expect(heard.slice(3)).toEqual([`urlChanged ${tunnel.url}`, "up"]);
    expect(await pong(tunnel)).toBe("pong");
  });

  test("requests its original name again, even after another one was assigned", async () => {
    const { clock, host, tunnel, heard } = await openTestTunnel({ subdomain: "my-bot" });
    await host.crash();
    host.giveNamesAway();
    host.comeBack();
    await clock.pass(1_000);
    await clock.pass(2_000);
    await expect.poll(() => tunnel.status).toBe("up");
    expect(heard.slice(3)).toEqual([
      `urlChanged ${tunnel.url}`,
      expect.stringMatching(/^error TUNNEL_NAME_TAKEN: .*"my-bot"/),
      "up",
    ]);
    newestProcess().kill("SIGKILL");
    await clock.pass(1_000);
    await expect.poll(() => host.registrations).toEqual(["/my-bot", "/my-bot", "/my-bot", "/my-bot"]);
  });
});

test("A tunnel that gets another name is closed, and its name requested again, before that name is accepted", async () => {
  const { clock, heard, closed, requested, lose } = await openProvided([
    { name: "first" },
    { name: "second" },
    { name: "third" },
  ]);
  lose();
  await clock.pass(1_000);
  await expect.poll(() => closed).toEqual(["first", "second"]);
  await clock.pass(2_000);
  await expect.poll(() => heard.at(-1)).toBe("up");
  expect(requested).toEqual([undefined, "first", "first"]);
  expect(closed).not.toContain("third");
});

test("A tunnel that was closed to reconnect is reopened even if its old URL responds", async () => {
  const { clock, host, tunnel, heard } = await openTestTunnel({}, { hasReachabilityCheck: false });
  host.stall();
  for (const count of [1, 2]) {
    await clock.pass(heartbeat);
    await clock.expire(10_000, count);
  }
  host.misbehave("forbidden");
  await clock.pass(1_000);
  await clock.expire(10_000, 3);
  await expect.poll(() => heard).toEqual([...isDown, expect.stringMatching(/status 403/)]);
  host.misbehave(undefined);
  host.forget();
  await clock.pass(2_000);
  await expect.poll(() => tunnel.status).toBe("up");
  expect(host.registrations).toHaveLength(3);
  expect(await pong(tunnel)).toBe("pong");
});

describe("A requested name that is taken", () => {
  test("is reported as an error once the tunnel is open, with the assigned URL", async () => {
    await using local = await startCheckedServer();
    await using host = await startLocaltunnelServer();
    const options = { port: local.port, host: host.url, subdomain: "my-bot" };
    await using first = await openReconnectingTunnel(options, { clock: createManualClock() });
    await using second = await openReconnectingTunnel(options, { clock: createManualClock() });
    const heard = recordEvents(second);
    await expect
      .poll(() => heard)
      .toEqual([
        `error TUNNEL_NAME_TAKEN: The tunnel server assigned "${second.url}", because the name "my-bot" is taken. Use that URL, or close the tunnel and request another name (option "subdomain").`,
      ]);
    expect(second.url).not.toBe(first.url);
    expect(second.status).toBe("up");
  });

  test("is not reported if the name was assigned", async () => {
    const here = await openTestTunnel({ subdomain: "my-bot" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(here.heard).toEqual([]);
  });
});

describe("The heartbeat", () => {
  test("detects a server that dropped the tunnel but kept its connections", async () => {
    const { clock, host, tunnel, heard } = await openTestTunnel();
    host.forget();
    expect(host.connections).toBeGreaterThan(0);
    await clock.pass(heartbeat);
    await clock.pass(heartbeat);
    await expect.poll(() => heard).toEqual([expect.stringMatching(/returned status 404/), "down TUNNEL_FAILED"]);
    await clock.pass(1_000);
    await expect.poll(() => tunnel.status).toBe("up");
    expect(host.registrations).toHaveLength(2);
    expect(await pong(tunnel)).toBe("pong");
    expect(runningProcesses()).toHaveLength(1);
  });

  test("detects a server that accepts requests but never answers", async () => {
    const { clock, host, tunnel, heard } = await openTestTunnel();
    host.stall();
    const asked = clock.deadlines.filter((milliseconds) => milliseconds === 10_000).length;
    for (const count of [1, 2]) {
      await clock.pass(heartbeat);
      await clock.expire(10_000, asked + count);
    }
    await expect.poll(() => heard).toEqual([expect.stringMatching(/did not answer in time/), "down TUNNEL_FAILED"]);
    await clock.pass(1_000);
    await clock.expire(10_000, asked + 3);
    await expect.poll(() => tunnel.status).toBe("up");
  });

  test("ignores a single failure", async () => {
    const { clock, local, tunnel, heard } = await openTestTunnel();
    for (const fails of [true, false, true, false]) {
      local.answer(fails ? (_request, response) => response.writeHead(502).end() : undefined);
      const asked = local.asked.length;
      await clock.pass(heartbeat);
      await expect.poll(() => local.asked).toHaveLength(asked + 1);
    }
    await expect.poll(() => clock.pauses.filter((pause) => pause === heartbeat)).toHaveLength(5);
    expect(heard).toEqual([]);
    expect(tunnel.status).toBe("up");
  });

  test("uses the interval of the option", async () => {
    const here = await openTestTunnel({ heartbeat: "2s" });
    expect(here.clock.pauses).toEqual([2_000]);
  });

  test("keeps the tunnel while no server is listening on the port, and reports that", async () => {
    const clock = createManualClock();
    const reachabilityCheck = createReachabilityCheck();
    const before = await startCheckedServer({ reachabilityCheck });
    const { port } = before;
    await using host = await startLocaltunnelServer();
    await using tunnel = await openReconnectingTunnel({ port, host: host.url }, { reachabilityCheck, clock });
    const { url } = tunnel;
    const heard = recordEvents(tunnel);
    await before[Symbol.asyncDispose]();
    const asked = clock.deadlines.length;
    for (const count of [1, 2]) {
      await clock.pass(heartbeat);
      await expect.poll(() => clock.deadlines).toHaveLength(asked + count);
      await clock.expire(10_000);
    }
    const notListening = expect.stringMatching(/^error TUNNEL_FAILED: No server is listening on 127\.0\.0\.1:\d+/);
    await expect.poll(() => heard).toEqual([notListening, "down TUNNEL_FAILED"]);
    await clock.pass(1_000);
    await clock.expire(10_000, 4);
    await expect.poll(() => heard).toHaveLength(3);
    await using _after = await startCheckedServer({ port, reachabilityCheck });
    await clock.pass(2_000);
    await expect.poll(() => tunnel.status).toBe("up");
    expect(host.registrations).toHaveLength(1);
    expect(tunnel.url).toBe(url);
  });

  test("accepts any status below 500 without a reachability check", async () => {
    const clock = createManualClock();
    let status = 404;
    let asked = 0;
    await using local = await startLocalServer((_request, response) => {
      asked += 1;
      response.writeHead(status).end();
    });
    const publicUrl = `http://127.0.0.1:${local.port}`;
    await using tunnel = await openReconnectingTunnel({ port: local.port, existingUrl: publicUrl }, { clock });
    const heard = recordEvents(tunnel);
    for (const count of [1, 2, 3]) {
      await clock.pass(heartbeat);
      await expect.poll(() => asked).toBe(count);
    }
    expect(heard).toEqual([]);
    status = 500;
    await clock.pass(heartbeat);
    await clock.pass(heartbeat);
    await expect.poll(() => heard).toEqual([expect.stringMatching(/returned status 500/), "down TUNNEL_FAILED"]);
  });
});

describe("Closing a tunnel that is down", () => {
  test.each([
    ["before the next attempt", undefined],
    ["while the server is asked for a new tunnel", "silent"],
    ["while the new tunnel is checked", "reachabilityCheck"],
  ] as const)("%s takes effect immediately, leaves no process running and emits no event", async (_name, moment) => {
    const { clock, host, local, tunnel, heard } = await openTestTunnel();
    if (moment === "silent") host.misbehave("silent");
    if (moment === "reachabilityCheck") local.answer(() => {});
    newestProcess().kill("SIGKILL");
    await expect.poll(() => heard).toEqual(isDown);
    const asked = local.asked.length;
    if (moment !== undefined) {
      await clock.pass(1_000);
      await expect.poll(() => host.registrations).toHaveLength(2);
    }
    if (moment === "reachabilityCheck") await expect.poll(() => local.asked).toHaveLength(asked + 1);
    await tunnel.close();
    expect(tunnel.status).toBe("closed");
    expect(runningProcesses()).toEqual([]);
    expect(heard).toEqual(isDown);
  });

  test("while it closes the lost connection opens no other one", async () => {
    const onClose = () => void (provided.tunnel.status === "down" && provided.tunnel.close());
    const provided = await openProvided([{ name: "first", onClose }, { name: "second" }]);
    provided.lose();
    await provided.clock.pass(1_000);
    await expect.poll(() => provided.tunnel.status).toBe("closed");
    await provided.tunnel.close();
    expect(provided.opened).toHaveLength(1);
  });

  test("just after it has reconnected also closes the new connection", async () => {
    const onClose = vi.fn();
    const second = {
      onClose,
      // Read when the connection is open and has not yet replaced the lost one.
      get name() {
        if (provided.opened.length === 2) void provided.tunnel.close();
        return "first";
      },
    };
    const provided = await openProvided([{ name: "first" }, second]);
    provided.lose();
    await provided.clock.pass(1_000);
    await expect.poll(() => onClose.mock.calls).not.toEqual([]);
    await provided.tunnel.close();
    expect(provided.tunnel.status).toBe("closed");
    expect(provided.opened).toHaveLength(2);
    expect(provided.heard).toEqual(isDown);
    // Includes the socket of the check whether the port is open.
    await expect.poll(() => provided.sockets.map((socket) => socket.closed)).toEqual([true, true]);
  });

  test("works in a listener", async () => {
    const { clock, tunnel, heard, closed, lose } = await openProvided([{ name: "first" }]);
    tunnel.on("down", () => tunnel.close());
    tunnel.on("down", () => heard.push("the next listener"));
    lose();
    await expect.poll(() => heard).toEqual([...isDown, "the next listener"]);
    await tunnel.close();
    expect([closed, clock.pauses]).toEqual([["first"], [heartbeat]]);
  });
});

test("A tunnel that a listener closes emits no more events", async () => {
  const { tunnel, heard, lose } = await openProvided([{ name: "first" }]);
  tunnel.on("error", () => tunnel.close());
  lose();
  await expect.poll(() => tunnel.status).toBe("closed");
  await tunnel.close();
  expect(heard).toEqual([expect.stringMatching(/^error TUNNEL_FAILED/)]);
});

describe("Listeners that fail", () => {
  test("do not affect other listeners or the tunnel, and are reported as warnings", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
    const { clock, tunnel, lose } = await openProvided([{ name: "first" }, { name: "first" }]);
    const heard: string[] = [];
    for (const event of ["error", "down", "up"] as const) {
      tunnel.on(event, () => {
        throw new Error(`${event} throws`);
      });
      tunnel.on(event, async () => {
        throw new Error(`${event} rejects`);
      });
      tunnel.on(event, () => heard.push(event));
    }
    lose();
    await clock.pass(1_000);
    await expect.poll(() => heard).toEqual(["error", "down", "up"]);
    expect(tunnel.status).toBe("up");
    const warnings = warn.mock.calls.map(([warning]) => String(warning));
    expect(warnings).toHaveLength(6);
    expect(warnings[0]).toMatch(/listener of the tunnel event "error" failed: .*error throws/);
    vi.restoreAllMocks();
  });
});
