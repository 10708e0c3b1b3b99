import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import {
  addDelivery,
  createProgress,
  summarize,
  type TriggeredDelivery,
  toListed,
} from "../../../../src/cli/commands/trigger/results.ts";
import { openLocalHub } from "../../../local-hub/support/hub.ts";
import { neverRespond, openTarget, type TargetAnswer } from "../../../local-hub/support/target.ts";
import { startCommand } from "../../command-process.ts";
import { runTrigger } from "../../run-command.ts";

describe("hub-webhooks trigger --repeat", () => {
  test("lists up to ten deliveries, and prints a summary", async () => {
    const target = await openTarget();
    const { exitCode, stdout, stderr } = await runTrigger(`model:me/net --url ${target.url} --repeat 10`);
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(11);
    expect(stderr).toMatch(
      /^10 deliveries: 10 succeeded, 0 failed\. By status: 200: 10\. Duration: p50 \d+ ms, p95 \d+ ms, max \d+ ms\. [\d.]+ per second\.\n$/,
    );
    expect(new Set(target.ids).size).toBe(10);
  });

  test("lists only the first ten failures of more deliveries", async () => {
    const answers = Array.from({ length: 15 }, (_, index) => (index < 3 ? 200 : 503));
    const target = await openTarget(...answers);
    const { exitCode, stdout, stderr } = await runTrigger(`model:me/net --url ${target.url} --repeat 15`);
    expect(exitCode).toBe(1);
    expect(stdout.match(/\t503\t/g)).toHaveLength(10);
    expect(stdout).not.toContain("\t200\t");
    expect(stderr).toContain("15 deliveries: 3 succeeded, 12 failed. By status: 200: 3, 503: 12.");
  });

  test("lists all of them as JSON", async () => {
    const target = await openTarget();
    const words = `model:me/net --url ${target.url} --repeat 25 --concurrency 5`;
    const json = JSON.parse((await runTrigger(`${words} --format json`)).stdout);
    expect(json.deliveries).toHaveLength(25);
    const quiet = await runTrigger(`${words} --format quiet`);
    expect(quiet.stdout.trimEnd().split("\n").sort()).toEqual(target.ids.slice(25).sort());
    expect(quiet.stderr).toBe("");
  });

  test("limits concurrent events to --concurrency", async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const target = await openTarget((_request, response) => {
      waiting.push(() => response.end());
      most = Math.max(most, waiting.length);
      if (waiting.length === 3) for (const answer of waiting.splice(0)) answer();
    });
    const words = `model:me/net --url ${target.url} --repeat 9 --concurrency 3`;
    expect(await runTrigger(words)).toMatchObject({ exitCode: 0 });
    expect([most, target.requests.length]).toEqual([3, 9]);
  });

  test("stops when no webhook fires", async () => {
    const hub = await openLocalHub({ triggersPerDay: 4 });
    const target = await openTarget();
    await hub.create({ url: target.url });
    const { exitCode, stdout, stderr } = await runTrigger("dataset:me/data --repeat 20", { hub });
    expect(exitCode).toBe(1);
    expect(stdout.match(/\t200\t/g)).toHaveLength(4);
    expect(stderr).toContain("Stopped after 4 of 20 events.");
    expect(stderr).toContain("has reached its daily limit of triggers");
    expect(target.requests).toHaveLength(4);
    expect(hub.log.lines.filter(({ msg }) => msg.includes("did not fire"))).toHaveLength(1);
  });

  test("stops when the Hub stops, and prints the results so far", async () => {
    const hub = await openLocalHub();
    let arrived = 0;
    const target = await openTarget((_request, response) => {
      arrived += 1;
      response.end();
      if (arrived === 3) hub.hub.close();
    });
    await hub.create({ url: target.url });
    const { exitCode, stderr } = await runTrigger("dataset:me/data --repeat 1000", { hub });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^[23] deliveries: /);
    expect(stderr).toMatch(/^Stopped after [23] of 1000 events\.$/m);
    expect(stderr).toMatch(/^error: (The local Hub at \S+ stopped|No local Hub is running)/m);
  });

  test("stops when a Hub refuses the event", async () => {
    const greet: TargetAnswer = (_request, response) => void response.end("[]");
    const refuse: TargetAnswer = (_request, response) => {
      response.writeHead(400).end(JSON.stringify({ error: "There is no such repository." }));
    };
    const hub = await openTarget(greet, refuse);
    const { origin } = new URL(hub.url);
    const words = `dataset:me/data --hub-url ${origin} --repeat 100 --concurrency 2`;
    const { exitCode, stderr } = await runTrigger(words);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("There is no such repository.");
    // The first error stops the command. By then, at most two requests have been sent.
    expect(hub.requests.filter(({ line }) => line.startsWith("POST")).length).toBeLessThanOrEqual(2);
  });
});

describe("Ctrl+C", () => {
  test("stops a process of trigger: the summary so far, and exit code 1", { tags: "slow" }, async () => {
    const target = await openTarget(200, 200, neverRespond);
    const argv = ["trigger", "model:me/net", "--url", target.url, "--repeat", "50"];
    const command = startCommand(argv);
    await target.hasReceived(3);
    command.signal("SIGINT");
    const { exitCode, signal, stdout, stderr } = await command.ended;
    expect({ exitCode, signal }).toEqual({ exitCode: 1, signal: null });
    expect(stdout.match(/\t200\t/g)).toHaveLength(2);
    expect(stderr).toMatch(/^2 deliveries: 2 succeeded, 0 failed\..*\nStopped after 2 of 50 events\.\n$/);
  });

  test("stops a delivery through the local Hub that gets no response", async () => {
    const hub = await openLocalHub();
    const target = await openTarget(neverRespond);
    await hub.create({ url: target.url });
    const result = await runTrigger("dataset:me/data", { hub, stopped: target.hasReceived(1) });
    expect(result).toEqual({ exitCode: 1, stdout: "", stderr: "Stopped after 0 of 1 events.\n" });
  });
});

describe("On a terminal", () => {
  test("a progress bar is shown, and removed before the table, also after Ctrl+C", async () => {
    const hub = await openLocalHub();
    const target = await openTarget(200, 200, neverRespond);
    await hub.create({ url: target.url });
    let screen = "";
    const { exitCode, stdout } = await runTrigger("dataset:me/data --repeat 50", {
      ...{ hub, stopped: target.hasReceived(3), isTerminal: true, hasPrompts: true },
      onOutput: () => {
        screen += "TABLE";
      },
      onNotice: (text) => {
        screen += text;
      },
    });
    expect(exitCode).toBe(1);
    expect(screen).toMatch(/^\r\[=+ *\] 1 of 50/);
    expect(screen).toMatch(/\r\u001b\[KTABLE.*2 deliveries: 2 succeeded.*Stopped after 2 of 50 events\./s);
    expect(stdout).toMatch(/^URL +STATUS +DURATION \(MS\)/);
    expect(stdout).toContain("\u001b[32m200");
  });
});

describe("The progress bar", () => {
  function bar({ isTTY = true } = {}) {
    const stream = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY });
    const clock = { now: 0 };
    const progress = createProgress({ stream, total: 4, now: () => clock.now });
    return { progress, clock, read: () => stream.read() };
  }

  test("is drawn at most ten times per second, and at the end", () => {
    const { progress, clock, read } = bar();
    progress.show({ done: 1, failed: 0 });
    progress.show({ done: 2, failed: 0 });
    expect(read()).toBe(`\r[${"=".repeat(8)}${" ".repeat(22)}] 1 of 4\u001b[K`);
    clock.now = 100;
    progress.show({ done: 3, failed: 2 });
    expect(read()).toContain("3 of 4, 2 failed");
    progress.show({ done: 4, failed: 2 });
    expect(read()).toContain("4 of 4");
    progress.clear();
    progress.clear();
    progress.show({ done: 3, failed: 2 });
    expect(read()).toBe("\r\u001b[K");
  });

  test("is not drawn on other outputs", () => {
    const { progress, read } = bar({ isTTY: false });
    progress.show({ done: 4, failed: 0 });
    progress.clear();
    expect(read()).toBeNull();
  });
});

test("Many deliveries are kept without the responses that are never listed", () => {
  const keep = (count: number, all: boolean) => {
    const kept: TriggeredDelivery[] = [];
    let failures = 0;
    for (let index = 0; index < count; index += 1) {
      const status = index % 4 === 3 ? 500 : 200;
      const result = { status, attempts: 1, durationMs: index, answer: `answer ${index}`, error: null };
      addDelivery(kept, { url: "", deliveryId: String(index), ...result }, { all, failures });
      if (status === 500) failures += 1;
    }
    return { kept, answers: kept.filter(({ answer }) => answer !== null).length };
  };
  const [all, few] = [keep(100, true), keep(100, false)];
  expect([all.answers, few.answers]).toEqual([100, 18]);
  expect(summarize(few.kept, { elapsedMs: 1_000 })).toEqual(summarize(all.kept, { elapsedMs: 1_000 }));
  expect(toListed(few.kept, { all: false })).toEqual(toListed(all.kept, { all: false }));
  expect(keep(10, false)).toEqual(keep(10, true));
});

describe("The summary", () => {
  test("counts by status, and computes the median and the 95th percentile", () => {
    const deliveries = Array.from({ length: 100 }, (_, index): TriggeredDelivery => {
      const status = index < 90 ? 200 : index < 95 ? 500 : null;
      const result = { status, attempts: 1, durationMs: index + 1, answer: "", error: null };
      return { url: "", deliveryId: String(index + 1), ...result };
    });
    expect(summarize(deliveries, { elapsedMs: 4_000 })).toEqual({
      ...{ deliveries: 100, succeeded: 90, failed: 10, byStatus: { "200": 90, "500": 5, none: 5 } },
      ...{ durationMs: { p50: 50, p95: 95, max: 100 }, perSecond: 25 },
    });
    expect(toListed(deliveries, { all: false }).map(({ deliveryId }) => deliveryId)).toEqual(
      Array.from({ length: 10 }, (_, index) => String(91 + index)),
    );
  });
});
