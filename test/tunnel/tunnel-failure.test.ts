// @module-tag slow

import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { WebhookError } from "../../src/core/errors.ts";
import { type OpenTunnelOptions, openTunnel } from "../../src/tunnel/tunnel.ts";
import { type LocaltunnelServerOptions, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { newestProcess, runningProcesses, tunnelProcesses } from "./tunnel-processes.ts";

async function failureOf(options: OpenTunnelOptions): Promise<WebhookError> {
  const error: unknown = await openTunnel(options).then(
    () => new Error("The tunnel was opened."),
    (error: unknown) => error,
  );
  if (!WebhookError.isInstance(error)) throw error;
  return error;
}

const badServers: [name: string, reason: RegExp, server: LocaltunnelServerOptions][] = [
  ["is down", /is not reachable \(ECONNREFUSED\)/, { mode: "refuse" }],
  ["never answers", /did not answer in time/, { mode: "silent" }],
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
  ["assigns a closed port", /refused connections to port \d+/, { mode: "closed-port" }],
  [
    "assigns a port behind a firewall",
    /port \d+ did not answer in time\. Check that no firewall/,
    { mode: "deaf-port" },
  ],
];

describe("Opening a tunnel fails with the reason and leaves nothing running if the server", () => {
  test.each(badServers)("%s", { timeout: 90_000 }, async (_name, reason, server) => {
    await using host = await startLocaltunnelServer(server);
    const before = tunnelProcesses().length;
    const start = performance.now();
    // Only servers that never answer should hit the timeout, even on a busy machine.
    const isSilent = server.mode === "silent" || server.mode === "deaf-port";
    const error = await failureOf({ port: 1, host: host.url, timeout: isSilent ? "3s" : "60s" });
    expect(performance.now() - start).toBeLessThan(isSilent ? 15_000 : 60_000);
    expect(error).toMatchObject({ code: "TUNNEL_FAILED", retryable: true });
    expect(error.message).toMatch(reason);
    expect(error.message).toContain("set another tunnel server");
    expect(inspect(error)).not.toContain("captive portal");
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
