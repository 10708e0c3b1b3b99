import { describe, expect, test } from "vitest";
import { openReconnectingTunnel, openTunnel } from "../../src/tunnel/tunnel.ts";
import { startCheckedServer, startLocalServer } from "./local-server.ts";
import { createManualClock, recordEvents } from "./manual-clock.ts";
import { tunnelProcesses } from "./tunnel-processes.ts";

describe("A tunnel with existingUrl", () => {
  test("checks the URL and starts no process", async () => {
    await using local = await startCheckedServer();
    await using tunnel = await openReconnectingTunnel(
      {
        existingUrl: `http://127.0.0.1:${local.port}/`,
        port: local.port,
      },
      { reachabilityCheck: local.reachabilityCheck },
    );

    expect(tunnel.url).toBe(`http://127.0.0.1:${local.port}`);
    expect(tunnel.status).toBe("up");
    expect(local.asked).toHaveLength(1);
    expect(tunnelProcesses()).toEqual([]);
  });

  test("keeps the path of the URL", async () => {
    await using local = await startCheckedServer();
    const asked: (string | undefined)[] = [];
    await using proxy = await startLocalServer((request, response) => {
      asked.push(request.url);
      response.end(local.reachabilityCheck.answer);
    });
    await using tunnel = await openReconnectingTunnel(
      {
        existingUrl: `http://127.0.0.1:${proxy.port}/hooks/`,
        port: local.port,
      },
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
