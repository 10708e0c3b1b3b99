import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import { answerProbe, createProbe } from "../../src/tunnel/probe.ts";
import { openTimedTunnel, openTunnel } from "../../src/tunnel/tunnel.ts";
import { freePort } from "../support/free-port.ts";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { createManualClock } from "./manual-clock.ts";
import { startProbedServer } from "./probed-server.ts";
import { runningWorkers } from "./worker-processes.ts";

test("a probe cannot be guessed, and is another one each time", () => {
  const { path, answer } = createProbe();

  expect(path).toMatch(/^\/_hub-webhooks\/probe\/[0-9a-f]{32}$/);
  expect(answer).toMatch(/^[0-9a-f]{32}$/);
  expect(path).not.toContain(answer);
  expect(createProbe().path).not.toBe(path);
});

test("a probe is answered as plain text at its path alone", async () => {
  const probe = createProbe();

  const response = answerProbe(probe, new Request(`http://127.0.0.1${probe.path}`));

  expect(response?.headers.get("content-type")).toBe("text/plain");
  expect(await response?.text()).toBe(probe.answer);
  expect(answerProbe(probe, new Request(`http://127.0.0.1${probe.path}/`))).toBeUndefined();
  expect(answerProbe(probe, new Request("http://127.0.0.1/"))).toBeUndefined();
});

describe("opening with a probe", () => {
  test("asks through the public URL, and asks the services for no page in between", async () => {
    await using local = await startProbedServer();
    await using host = await startLocaltunnelServer();
    await using _tunnel = await openTunnel({ port: local.port, host: host.url, probe: local.probe });

    expect(local.asked).toHaveLength(1);
    expect(local.asked[0]).toMatchObject({
      "bypass-tunnel-reminder": "1",
      "ngrok-skip-browser-warning": "1",
      connection: "close",
    });
  });

  test("waits until the answer comes", async () => {
    const clock = createManualClock();
    await using local = await startProbedServer();
    await using host = await startLocaltunnelServer();
    local.answer((_request, response) => response.writeHead(503).end());
    const opening = openTimedTunnel({ port: local.port, host: host.url, probe: local.probe }, clock);

    await clock.pass(500);
    await expect.poll(() => local.asked).toHaveLength(2);
    local.answer(undefined);
    await clock.pass(500);

    await using tunnel = await opening;
    expect(tunnel.status).toBe("up");
    expect(local.asked).toHaveLength(3);
  });

  const wrongAnswers: [name: string, reason: RegExp, answer: RequestListener][] = [
    ["has another status", /answers with status 502 instead of/, (_request, response) => response.writeHead(502).end()],
    [
      "redirects",
      /sends us elsewhere \(status 302\), which is not followed/,
      (_request, response) => response.writeHead(302, { location: "/" }).end(),
    ],
    ["is a page", /something else than this server/, (_request, response) => response.end("<html>Friendly reminder")],
    ["is empty", /something else than this server/, (_request, response) => response.end()],
    ["breaks off", /cannot be reached/, (request) => request.socket.resetAndDestroy()],
  ];

  test.each(wrongAnswers)(
    "fails with the reason when the answer %s, and leaves nothing",
    async (_name, reason, answer) => {
      const clock = createManualClock();
      await using local = await startProbedServer();
      await using host = await startLocaltunnelServer();
      local.answer(answer);
      const opening = openTimedTunnel({ port: local.port, host: host.url, probe: local.probe }, clock);
      const rejected = expect(opening).rejects.toMatchObject({
        code: "TUNNEL_FAILED",
        retryable: true,
        message: expect.stringMatching(reason),
      });

      await expect.poll(() => clock.pauses).toHaveLength(1);
      await clock.expire(15_000);

      await rejected;
      expect(runningWorkers()).toEqual([]);
    },
  );

  test("fails when more comes after the answer, and does not wait for its end", async () => {
    const clock = createManualClock();
    await using local = await startProbedServer();
    await using host = await startLocaltunnelServer();
    local.answer((_request, response) => response.write(`${local.probe.answer}${"x".repeat(100_000)}`));
    const opening = openTimedTunnel({ port: local.port, host: host.url, probe: local.probe }, clock);
    const rejected = expect(opening).rejects.toThrow(/answers with something else than this server/);

    await expect.poll(() => clock.pauses).toHaveLength(1);
    await clock.expire(15_000);

    await rejected;
  });

  test("fails with what was wrong, and not with the question that the end has cut short", async () => {
    const clock = createManualClock();
    await using local = await startProbedServer();
    await using host = await startLocaltunnelServer();
    local.answer((_request, response) => response.writeHead(502).end());
    const opening = openTimedTunnel({ port: local.port, host: host.url, probe: local.probe }, clock);
    const rejected = expect(opening).rejects.toThrow(/answers with status 502/);

    await expect.poll(() => clock.pauses).toHaveLength(1);
    local.answer(() => {});
    await clock.pass(500);
    await expect.poll(() => local.asked).toHaveLength(2);
    await clock.expire(15_000);

    await rejected;
  });

  test("gives each question ten seconds, and asks again", async () => {
    const clock = createManualClock();
    await using local = await startProbedServer();
    await using host = await startLocaltunnelServer();
    local.answer(() => {});
    const opening = openTimedTunnel({ port: local.port, host: host.url, probe: local.probe }, clock);

    await expect.poll(() => local.asked).toHaveLength(1);
    await clock.expire(10_000);
    local.answer(undefined);
    await clock.pass(500);

    await using tunnel = await opening;
    expect(tunnel.status).toBe("up");
  });

  test("says so when it is the local server that is missing", async () => {
    const clock = createManualClock();
    await using host = await startLocaltunnelServer();
    const opening = openTimedTunnel({ port: await freePort(), host: host.url, probe: createProbe() }, clock);
    const rejected = expect(opening).rejects.toMatchObject({
      code: "TUNNEL_FAILED",
      message: expect.stringMatching(/^Nothing listens on port \d+ of this machine/),
    });

    await clock.expire(10_000);
    await expect.poll(() => clock.pauses).toHaveLength(1);
    await clock.expire(15_000);

    await rejected;
    expect(runningWorkers()).toEqual([]);
  });
});
