import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { openReconnectingTunnel } from "../../src/tunnel/tunnel.ts";
import { type ServerFault, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { holdsSecret } from "../support/secrets.ts";
import { createManualClock, runningProcesses, startLocalServer } from "../tunnel/support.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { countRows, inOwnProcess } from "./rows.ts";

countRows("tunnel");

/** A token in the environment, the server's URL, and the webhook URLs. It must not appear in any output. */
const secret = "Planted-5ecret-9e1f";

describe("A failing tunnel server", () => {
  test.each<[string, ServerFault, RegExp]>([
    ["that is down", "refuse", /is not reachable \(ECONNREFUSED\)/],
    ["that is silent", "silent", /did not answer in time/],
    ["that answers 403", "forbidden", /returned status 403/],
    ["that answers 500", "broken", /returned status 500/],
    ["that answers with HTML", "html", /a web page \(HTML\) instead of a tunnel/],
  ])("T1: %s is an error within 15 s, with the fix", { timeout: 60_000 }, async (_name, mode, reason) => {
    vi.stubEnv("HF_TOKEN", secret);
    await using host = await startLocaltunnelServer({ mode });
    const clock = createManualClock();
    const startedAt = performance.now();
    const address = `${host.url.replace("//", `//me:${secret}@`)}/?token=${secret}`;

    const opening = openReconnectingTunnel({ port: 1, host: address }, { clock }).catch((error: unknown) => error);
    if (mode === "silent") {
      await expect.poll(() => host.registrations).toHaveLength(1);
      await clock.expire(15_000);
    }
    const error = await opening;

    expect(clock.deadlines).toEqual([15_000]);
    // The test controls the clock, so the deadline is never reached on a slow machine.
    expect(performance.now() - startedAt).toBeLessThan(45_000);
    expect(error).toMatchObject({ code: "TUNNEL_FAILED", retryable: true, message: expect.stringMatching(reason) });
    expect(String(error)).toMatch(/try again, set another tunnel server .* choose another provider .* "publicUrl"/);
    expect(holdsSecret([error, inspect(error, { depth: 10 })], secret)).toBe(false);
    expect(runningProcesses()).toEqual([]);
  });
});

test("T3: a tunnel that fails without a listener does not end the process, and reconnects", async () => {
  await using local = await startLocalServer((_request, response) => response.end("pong"));
  await using host = await startLocaltunnelServer();
  const script = `
    const { openTunnel } = await import(${JSON.stringify(new URL("../../src/tunnel/tunnel.ts", import.meta.url))});
    const tunnel = await openTunnel({ port: ${local.port}, host: ${JSON.stringify(host.url)} });
    let logged;
    setInterval(() => { if (logged !== tunnel.status) console.log(logged = tunnel.status); }, 10);
    process.stdin.once("data", () => tunnel.close().then(() => process.exit(0)));`;
  inOwnProcess();
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, ...packageEnvironment, HF_TOKEN: secret, WEBHOOK_SECRET: secret },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on("line", (line) => said.push(line));
  const ended = new Promise((resolve) => child.once("close", resolve));
  await expect.poll(() => said).toEqual(["up"]);

  await host.crash();
  await expect.poll(() => said).toEqual(["up", "down"]);
  host.comeBack();
  await expect.poll(() => said).toEqual(["up", "down", "up"]);
  child.stdin.write("end\n");

  expect(await ended).toBe(0);
  expect(holdsSecret(said, secret)).toBe(false);
});
