import { describe, expect, test } from "vitest";
import type { ReceiverProcess } from "../support/receiver-process.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { createFaultyProcess, startFaultyProcess } from "./faulty-process.ts";
import { type Receiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("process");

const toSlow = { path: "/webhooks/slow" };
const toStuck = { path: "/webhooks/stuck" };

/** How long the slow handler runs in tests that need it to be in progress. */
const workMs = 400;

/** Maximum exit time in addition to the handler's: below the 10 s after which idle connections are closed. */
const maxExitMs = 8_000;

describe("SIGTERM", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "X1: %s under load finishes running requests, and exits with 0",
    async (name) => {
      const { child, receiver } = await createFaultyProcess({ WORK_MS: String(workMs) });
      const slow = Array.from({ length: 50 }, () => receiver.post(toSlow));
      await child.says("work started", 50);
      const load = keepSending(receiver);
      await child.says("target ran", 20);

      const signalledAt = performance.now();
      child.signal(name);
      expect(await child.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - signalledAt).toBeLessThan(workMs + maxExitMs);

      expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(Array(50).fill(200));
      const { accepted, refused } = await load;
      expect(child.lines.filter(({ msg }) => msg === "work finished")).toHaveLength(50);
      expect(countOf(child, "target ran")).toBeGreaterThanOrEqual(accepted);
      expect(refused.filter((status) => status !== 503)).toEqual([]);
      await saysOnce(child, new RegExp(`^Received ${name}[.] Waiting`));
      await worksAgain(child);
    },
  );

  test("X1: new connections are refused while running requests finish", async () => {
    // The handler still runs when a busy machine closes the socket late.
    const { child, receiver } = await createFaultyProcess({ WORK_MS: String(10 * workMs) });
    const slow = receiver.post(toSlow);
    await child.says("work started");
    child.signal("SIGTERM");
    await child.says(/^Received SIGTERM\. Waiting/);
    // The server logs the line shortly before it closes its socket.
    await waitFor(() => expect(receiver.post()).rejects.toMatchObject({ code: "ECONNREFUSED" }), { interval: 5 });
    expect(countOf(child, "work finished")).toBe(0);
    expect((await slow).status).toBe(200);
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });

  test("X1: requests beyond shutdownGrace are interrupted and logged, and the exit code is 1", async () => {
    const { child, receiver } = await createFaultyProcess({ GRACE_MS: "100" });
    const stuck = receiver.post(toStuck).catch(() => undefined);
    await child.says("work started");
    child.signal("SIGTERM");
    expect(await child.exited).toEqual({ code: 1, signal: null });
    expect(await stuck).toBeUndefined();
    expect(complaintsOf(child)).toMatchObject([{ level: "error", msg: expect.stringContaining("shutdownGrace") }]);
    await keepsSecret(child);
  });
});

describe("A second signal", () => {
  test.each([
    ["SIGTERM", "SIGTERM"],
    ["SIGTERM", "SIGINT"],
  ] as const)("X2: %s, then %s, ends the process immediately", async (first, second) => {
    const { child, receiver } = await createFaultyProcess();
    const stuck = receiver.post(toStuck).catch(() => undefined);
    await child.says("work started");
    child.signal(first);
    await child.says(new RegExp(`^Received ${first}[.] Waiting.*Send the signal again to exit immediately`));
    const signalledAt = performance.now();
    child.signal(second);
    expect(await child.exited).toEqual({ code: 1, signal: null });
    expect(performance.now() - signalledAt).toBeLessThan(maxExitMs);
    expect(await stuck).toBeUndefined();
    await worksAgain(child);
  });
});

describe("A failing start", () => {
  test("X3: on a port in use logs one clear line, and exits with 1", async () => {
    const { child: holder, receiver } = await createFaultyProcess();
    const port = new URL(receiver.url).port;
    const child = startFaultyProcess({ PORT: port });
    expect(await child.exited).toEqual({ code: 1, signal: null });
    const complaints = complaintsOf(child);
    expect(complaints).toMatchObject([{ level: "error", code: "PORT_IN_USE" }]);
    expect(complaints[0]?.msg).toMatch(new RegExp(`^Port ${port} .* is in use\\. .*port`));
    expect(JSON.stringify(child.lines)).not.toMatch(/\bat .*:\d+:\d+/);
    expect(child.errorOutput).toBe("");
    expect((await receiver.post()).status).toBe(200);
    await keepsSecret(child, holder);
  });

  const impossible: readonly { what: string; environment: Record<string, string>; code: string }[] = [
    { what: "an invalid port", environment: { PORT: "http" }, code: "OPTION_INVALID" },
    { what: "a port above 65535", environment: { PORT: "65536" }, code: "OPTION_INVALID" },
    { what: "an address of another machine", environment: { HOST: "192.0.2.1" }, code: "LISTEN_FAILED" },
    { what: "a host that does not exist", environment: { HOST: "nowhere.invalid" }, code: "LISTEN_FAILED" },
  ];

  test.each(impossible)("X3: on $what logs one clear line, and exits with 1", async ({ environment, code }) => {
    const child = startFaultyProcess(environment);
    expect(await child.exited).toEqual({ code: 1, signal: null });
    expect(complaintsOf(child)).toMatchObject([{ level: "error", code }]);
    expect(child.errorOutput).toBe("");
    await keepsSecret(child);
  });
});

function complaintsOf(child: ReceiverProcess) {
  return child.lines.filter(({ level }) => level === "warn" || level === "error");
}

function countOf(child: ReceiverProcess, text: string): number {
  return child.lines.filter(({ msg }) => msg === text).length;
}

async function saysOnce(child: ReceiverProcess, pattern: RegExp): Promise<void> {
  await child.says(pattern);
  expect(child.lines.filter(({ msg }) => pattern.test(msg))).toHaveLength(1);
}

/** Asserts that a new process answers the next valid delivery and that neither process logged the secret. */
async function worksAgain(ended: ReceiverProcess, environment: Readonly<Record<string, string>> = {}): Promise<void> {
  const { child, receiver } = await createFaultyProcess(environment);
  expect((await receiver.post()).status).toBe(200);
  await receiver.keepsSecret();
  await keepsSecret(ended, child);
}

async function keepsSecret(...processes: readonly ReceiverProcess[]): Promise<void> {
  for (const { lines, errorOutput } of processes) expect(holdsSecret([lines, errorOutput], secret)).toBe(false);
}

/** Sends deliveries on persistent connections until the receiver exits. */
async function keepSending(receiver: Receiver): Promise<{ accepted: number; refused: number[] }> {
  const refused: number[] = [];
  let accepted = 0;
  const sendOnOne = async () => {
    try {
      const socket = await receiver.connect();
      for (;;) {
        const { status } = await socket.send(receiver.delivery()).answer();
        if (status === 200) accepted += 1;
        else refused.push(status);
      }
    } catch {
      // The connection closed. The last delivery was not acknowledged, so the Hub would retry it.
    }
  };
  await Promise.all(Array.from({ length: 5 }, sendOnOne));
  return { accepted, refused };
}
