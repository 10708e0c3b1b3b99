import { describe, expect, test } from "vitest";
import { openTimedTunnel, openTunnel } from "../../src/tunnel/tunnel.ts";
import { startLocalServer } from "./local-server.ts";
import { createManualClock } from "./manual-clock.ts";
import { startProbedServer } from "./probed-server.ts";
import { recordEvents } from "./recorded-events.ts";
import { tunnelWorkers } from "./worker-processes.ts";

describe("a public URL of one's own", () => {
  test("is probed, and nothing is started for it", async () => {
    await using local = await startProbedServer();
    await using tunnel = await openTunnel({
      publicUrl: `http://127.0.0.1:${local.port}/`,
      port: local.port,
      probe: local.probe,
    });

    expect(tunnel.url).toBe(`http://127.0.0.1:${local.port}`);
    expect(tunnel.status).toBe("up");
    expect(local.asked).toHaveLength(1);
    expect(tunnelWorkers()).toEqual([]);
  });

  test("keeps its path, for a proxy that leads from there", async () => {
    await using local = await startProbedServer();
    const asked: (string | undefined)[] = [];
    await using proxy = await startLocalServer((request, response) => {
      asked.push(request.url);
      response.end(local.probe.answer);
    });
    await using tunnel = await openTunnel({
      publicUrl: `http://127.0.0.1:${proxy.port}/hooks/`,
      port: local.port,
      probe: local.probe,
    });

    expect(tunnel.url).toBe(`http://127.0.0.1:${proxy.port}/hooks`);
    expect(asked).toEqual([`/hooks${local.probe.path}`]);
  });

  test("is down while it does not lead here, and up again by itself", async () => {
    const clock = createManualClock();
    await using local = await startProbedServer();
    const publicUrl = `http://127.0.0.1:${local.port}`;
    await using tunnel = await openTimedTunnel({ publicUrl, port: local.port, probe: local.probe }, clock);
    const heard = recordEvents(tunnel);
    local.answer((_request, response) => response.writeHead(302, { location: "/" }).end());

    await clock.pass(15_000);
    await clock.pass(15_000);
    await expect
      .poll(() => heard)
      .toEqual([
        expect.stringMatching(
          /sends us elsewhere \(status 302\), which is not followed\. Check that the tunnel or proxy/,
        ),
        "down TUNNEL_FAILED",
      ]);
    local.answer(undefined);
    await clock.pass(1_000);

    await expect.poll(() => heard.slice(2)).toEqual(["up"]);
    expect(tunnel.status).toBe("up");
  });

  test.each([
    ["no address", "hooks.example.com"],
    ["no web address", "ftp://hooks.example.com"],
    ["with a user and a password", "https://me:planted@hooks.example.com"],
    ["with a query", "https://hooks.example.com/?token=planted"],
    ["with a fragment", "https://hooks.example.com/#planted"],
  ])("that is %s is refused without repeating it", async (_name, publicUrl) => {
    const error: unknown = await openTunnel({ publicUrl, port: 1 }).catch((error: unknown) => error);

    expect(error).toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining("publicUrl") });
    expect(String(error)).not.toContain("planted");
  });

  test.each([
    ["provider", { provider: "ngrok" as const }],
    ["provider", { provider: "localtunnel" as const }],
    ["host", { host: "https://localtunnel.me" }],
    ["subdomain", { subdomain: "my-bot" }],
  ])("excludes the option %s", async (name, options) => {
    const opening = openTunnel({ publicUrl: "https://hooks.example.com", port: 1, ...options });

    await expect(opening).rejects.toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining(name) });
  });
});
