import type { RequestListener } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  answerReachabilityCheck,
  checkPublicUrl,
  createReachabilityCheck,
} from "../../src/tunnel/reachability-check.ts";
import { openReconnectingTunnel } from "../../src/tunnel/tunnel.ts";
import { freePort } from "../support/free-port.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { startCheckedServer, startLocalServer } from "./local-server.ts";
import { createManualClock } from "./manual-clock.ts";
import { newestProcess, runningProcesses } from "./tunnel-processes.ts";

test("Each reachability check is new and unguessable", () => {
  const { path, answer } = createReachabilityCheck();

  expect(path).toMatch(/^\/_hub-webhooks\/reachability\/[0-9a-f]{32}$/);
  expect(answer).toMatch(/^[0-9a-f]{32}$/);
  expect(path).not.toContain(answer);
  expect(createReachabilityCheck().path).not.toBe(path);
});

test("A reachability check is answered as plain text, and only at its path", async () => {
  const reachabilityCheck = createReachabilityCheck();

  const response = answerReachabilityCheck(reachabilityCheck, new Request(`http://127.0.0.1${reachabilityCheck.path}`));

  expect(response?.headers.get("content-type")).toBe("text/plain");
  expect(await response?.text()).toBe(reachabilityCheck.answer);
  expect(
    answerReachabilityCheck(reachabilityCheck, new Request(`http://127.0.0.1${reachabilityCheck.path}/`)),
  ).toBeUndefined();
  expect(answerReachabilityCheck(reachabilityCheck, new Request("http://127.0.0.1/"))).toBeUndefined();
});

test("A response with an unexpected status is closed without reading its body", async () => {
  const canceled = vi.spyOn(ReadableStream.prototype, "cancel");
  onTestFinished(() => canceled.mockRestore());
  await using local = await startLocalServer((_request, response) => void response.writeHead(503).write("endless"));
  const reachabilityCheck = createReachabilityCheck();
  const { signal } = new AbortController();
  const checked = { reachabilityCheck, signal, clock: createManualClock() };
  expect(await checkPublicUrl(`http://127.0.0.1:${local.port}`, checked)).toContain("returned status 503");
  expect(canceled).toHaveBeenCalledOnce();
});

describe("Opening with a reachability check", () => {
  test("requests the public URL and skips the interstitial page of the service", async () => {
    await using local = await startCheckedServer();
    await using host = await startLocaltunnelServer();
    await using _tunnel = await openReconnectingTunnel(
      { port: local.port, host: host.url },
      { reachabilityCheck: local.reachabilityCheck },
    );

    expect(local.asked).toHaveLength(1);
    expect(local.asked[0]).toMatchObject({
      "bypass-tunnel-reminder": "1",
      "ngrok-skip-browser-warning": "1",
      connection: "close",
    });
  });

  test("waits until the answer arrives", async () => {
    const clock = createManualClock();
    await using local = await startCheckedServer();
    await using host = await startLocaltunnelServer();
    local.answer((_request, response) => response.writeHead(503).end());
    const opening = openReconnectingTunnel(
      { port: local.port, host: host.url },
      { reachabilityCheck: local.reachabilityCheck, clock },
    );

    await clock.pass(500);
    await expect.poll(() => local.asked).toHaveLength(2);
    local.answer(undefined);
    await clock.pass(500);

    await using tunnel = await opening;
    expect(tunnel.status).toBe("up");
    expect(local.asked).toHaveLength(3);
  });

  const wrongAnswers: [name: string, reason: RegExp, answer: RequestListener][] = [
    ["has another status", /returned status 502 instead of/, (_request, response) => response.writeHead(502).end()],
    [
      "redirects",
      /redirected \(status 302\)/,
      (_request, response) => response.writeHead(302, { location: "/" }).end(),
    ],
    [
      "is a page",
      /a response that is not from this server/,
      (_request, response) => response.end("<html>Friendly reminder"),
    ],
    ["is empty", /a response that is not from this server/, (_request, response) => response.end()],
    ["is interrupted", /is not reachable/, (request) => request.socket.resetAndDestroy()],
  ];

  test.each(wrongAnswers)(
    "fails with the reason when the answer %s, and leaves nothing running",
    async (_name, reason, answer) => {
      const clock = createManualClock();
      await using local = await startCheckedServer();
      await using host = await startLocaltunnelServer();
      local.answer(answer);
      const opening = openReconnectingTunnel(
        { port: local.port, host: host.url },
        { reachabilityCheck: local.reachabilityCheck, clock },
      );
      const rejected = expect(opening).rejects.toMatchObject({
        code: "TUNNEL_FAILED",
        retryable: true,
        message: expect.stringMatching(reason),
      });

      await expect.poll(() => clock.pauses).toHaveLength(1);
      await clock.expire(15_000);

      await rejected;
      expect(runningProcesses()).toEqual([]);
    },
  );

  test("fails for a longer response without reading it completely", async () => {
    const clock = createManualClock();
    await using local = await startCheckedServer();
    await using host = await startLocaltunnelServer();
    local.answer((_request, response) => response.write(`${local.reachabilityCheck.answer}${"x".repeat(100_000)}`));
    const opening = openReconnectingTunnel(
      { port: local.port, host: host.url },
      { reachabilityCheck: local.reachabilityCheck, clock },
    );
    const rejected = expect(opening).rejects.toThrow(/a response that is not from this server/);

    await expect.poll(() => clock.pauses).toHaveLength(1);
    await clock.expire(15_000);

    await rejected;
  });

  test("fails with the reason of the last complete check, not of the one that the deadline interrupted", async () => {
    const clock = createManualClock();
    await using local = await startCheckedServer();
    await using host = await startLocaltunnelServer();
    local.answer((_request, response) => response.writeHead(502).end());
    const opening = openReconnectingTunnel(
      { port: local.port, host: host.url },
      { reachabilityCheck: local.reachabilityCheck, clock },
    );
    const rejected = expect(opening).rejects.toThrow(/returned status 502/);

    await expect.poll(() => clock.pauses).toHaveLength(1);
    local.answer(() => {});
    await clock.pass(500);
    await expect.poll(() => local.asked).toHaveLength(2);
    await clock.expire(15_000);

    await rejected;
  });

  test("fails at once if the tunnel is lost before the answer arrives", async () => {
    const clock = createManualClock();
    await using local = await startCheckedServer();
    await using host = await startLocaltunnelServer();
    local.answer((_request, response) => response.writeHead(503).end());
    const opening = openReconnectingTunnel(
      { port: local.port, host: host.url },
      { reachabilityCheck: local.reachabilityCheck, clock },
    );
    const rejected = expect(opening).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringContaining("The tunnel process exited."),
    });

    await expect.poll(() => clock.pauses).toHaveLength(1);
    newestProcess().kill("SIGKILL");

    await rejected;
  });

  test("retries a check that takes longer than 10 s", async () => {
    const clock = createManualClock();
    await using local = await startCheckedServer();
    await using host = await startLocaltunnelServer();
    local.answer(() => {});
    const opening = openReconnectingTunnel(
      { port: local.port, host: host.url },
      { reachabilityCheck: local.reachabilityCheck, clock },
    );

    await expect.poll(() => local.asked).toHaveLength(1);
    await clock.expire(10_000);
    local.answer(undefined);
    await clock.pass(500);

    await using tunnel = await opening;
    expect(tunnel.status).toBe("up");
  });

  test("fails with a distinct reason if the local server is not running", async () => {
    const clock = createManualClock();
    await using host = await startLocaltunnelServer();
    const opening = openReconnectingTunnel(
      { port: await freePort(), host: host.url },
      { reachabilityCheck: createReachabilityCheck(), clock },
    );
    const rejected = expect(opening).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringMatching(/^No server is listening on 127\.0\.0\.1:\d+/),
    });

    await clock.expire(10_000);
    await expect.poll(() => clock.pauses).toHaveLength(1);
    await clock.expire(15_000);

    await rejected;
    expect(runningProcesses()).toEqual([]);
  });
});
