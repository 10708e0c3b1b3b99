// @module-tag slow

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
import { createManualClock, newestProcess, runningProcesses, startCheckedServer, startLocalServer } from "./support.ts";

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

const check = createReachabilityCheck();
const wrongAnswers: [name: string, reason: RegExp, answer: RequestListener][] = [
  ["has another status", /returned status 502 instead of/, (_request, response) => response.writeHead(502).end()],
  ["redirects", /redirected \(status 302\)/, (_request, response) => response.writeHead(302, { location: "/" }).end()],
  ["is a page", /a response that is not from this server/, (_request, response) => response.end("<html>")],
  ["is empty", /a response that is not from this server/, (_request, response) => response.end()],
  ["is interrupted", /is not reachable/, (request) => request.socket.resetAndDestroy()],
  // The check ends although the response does not.
  [
    "is longer",
    /a response that is not from this server/,
    (_request, response) => response.write(`${check.answer}${"x".repeat(100_000)}`),
  ],
];

test.each(wrongAnswers)("A check returns the reason when the answer %s", async (_name, reason, answer) => {
  await using local = await startLocalServer(answer);
  const { signal } = new AbortController();
  const checked = { reachabilityCheck: check, signal, clock: createManualClock() };
  expect(await checkPublicUrl(`http://127.0.0.1:${local.port}`, checked)).toMatch(reason);
});

/** Starts to open a tunnel to a server that answers its check like this. */
async function startOpening(answer?: RequestListener) {
  const clock = createManualClock();
  const local = await startCheckedServer();
  const host = await startLocaltunnelServer();
  onTestFinished(async () => {
    await local[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });
  local.answer(answer);
  const opening = openReconnectingTunnel(
    { port: local.port, host: host.url },
    { reachabilityCheck: local.reachabilityCheck, clock },
  );
  opening.catch(() => {});
  return { clock, local, opening };
}

describe("Opening with a reachability check", () => {
  test("requests the public URL and skips the interstitial page of the service", async () => {
    const { local, opening } = await startOpening();
    await using _tunnel = await opening;
    expect(local.asked).toMatchObject([
      { "bypass-tunnel-reminder": "1", "ngrok-skip-browser-warning": "1", connection: "close" },
    ]);
  });

  test("waits until the answer arrives", async () => {
    const { clock, local, opening } = await startOpening((_request, response) => response.writeHead(503).end());
    await clock.pass(500);
    await expect.poll(() => local.asked).toHaveLength(2);
    local.answer(undefined);
    await clock.pass(500);
    await using tunnel = await opening;
    expect(tunnel.status).toBe("up");
    expect(local.asked).toHaveLength(3);
  });

  test("fails with the reason of the last complete check, and leaves nothing running", async () => {
    const { clock, local, opening } = await startOpening((_request, response) => response.writeHead(502).end());
    await expect.poll(() => clock.pauses).toHaveLength(1);
    // The deadline interrupts the second check.
    local.answer(() => {});
    await clock.pass(500);
    await expect.poll(() => local.asked).toHaveLength(2);
    await clock.expire(15_000);
    await expect(opening).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      retryable: true,
      message: expect.stringContaining("returned status 502"),
    });
    expect(runningProcesses()).toEqual([]);
  });

  test("fails at once if the tunnel is lost before the answer arrives", async () => {
    const { clock, opening } = await startOpening((_request, response) => response.writeHead(503).end());
    await expect.poll(() => clock.pauses).toHaveLength(1);
    newestProcess().kill("SIGKILL");
    await expect(opening).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringContaining("The tunnel process exited."),
    });
  });

  test("retries a check that takes longer than 10 s", async () => {
    const { clock, local, opening } = await startOpening(() => {});
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
