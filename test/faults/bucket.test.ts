import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { LocalHub } from "../../src/local-hub.ts";
import { startReceiverProcess } from "../support/receiver-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { Ledger } from "./inbox-ledger.ts";
import { type InboxReceiver, inboxEnvironment, inboxScript, startInboxReceiver } from "./inbox-receiver.ts";
import { countRows } from "./rows.ts";
import { RunCounts } from "./run-counts.ts";

countRows("bucket");

/** The number of kills. Each takes about a second. Set KILLS for more. */
const kills = Number(process.env.KILLS ?? 8);
/** The number of races for an inbox. Set RACES for more. */
const races = Number(process.env.RACES ?? 3);

type BucketFault = Parameters<LocalHub["setBucketFaults"]>[0][number];

const hub = await LocalHub.launch();
afterAll(() => hub.close());
let buckets = 0;
let variables: Record<string, string> = {};

beforeEach(() => {
  buckets += 1;
  hub.setBucketFaults([]);
  variables = { ...hub.createBucket(`local-user/inbox-${buckets}`), SPACE_ID: "local-user/receiver" };
  // The ledger reads the bucket in this process.
  Object.assign(process.env, variables);
});

/** Starts a receiver whose inbox is in the bucket. Snapshots are stored after 20 records. */
function start(ledger: Ledger, environment: Readonly<Record<string, unknown>> = {}): Promise<InboxReceiver> {
  const { INBOX_URL: url = "", ...others } = variables;
  return startInboxReceiver({ url, ledger, SNAPSHOT_RECORDS: 20, MAX_WAIT_MS: 5_000, ...others, ...environment });
}

function newLedger(): Ledger {
  return new Ledger(variables.INBOX_URL ?? "");
}

/**
 * The steps of the protocol. A latency makes a kill during the step likely: before the store executes the request, or after it, when
 * the answer is lost.
 */
const steps: readonly { step: string; faults: BucketFault[] }[] = [
  { step: "any", faults: [] },
  { step: "record, before it is stored", faults: [latency(["PUT"], "log/*")] },
  {
    step: "record, after it is stored",
    faults: [{ kind: "answer-lost", operations: ["PUT"], keys: "log/*", skip: 5 }],
  },
  { step: "heartbeat", faults: [latency(["PUT", "LIST", "GET"], "heartbeats/*")] },
  { step: "part of a snapshot", faults: [latency(["PUT", "GET"], "snapshots/*/0*")] },
  { step: "manifest of a snapshot", faults: [latency(["PUT", "GET"], "snapshots/*/manifest")] },
  { step: "deletion of old records", faults: [latency(["DELETE"], "*")] },
  { step: "start", faults: [latency(["GET", "LIST"], "*")] },
];

function latency(operations: BucketFault["operations"] & {}, keys: string): BucketFault {
  return { kind: "latency", latency: "150ms", operations, keys };
}

test(`B1: lose nothing that was acknowledged when they are killed at any step, ${kills} times`, {
  timeout: 60_000 + kills * 6_000,
}, async () => {
  const ledger = newLedger();
  const runs = new RunCounts();
  const folder = mkdtempSync(join(tmpdir(), "bucket-faults-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (let round = 0; round < kills; round += 1) {
    const { step, faults } = steps[round % steps.length] ?? { step: "any", faults: [] };
    // Every other process finds the working file of the killed process on its disk.
    if (round % 2 === 0) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    hub.setBucketFaults(faults);
    if (step === "start") {
      const child = startReceiverProcess(inboxScript, environmentOf({ TMPDIR: folder }));
      await wait(400 + ((round * 53) % 1_200));
      child.signal("SIGKILL");
      await child.exited;
      continue;
    }
    const receiver = await start(ledger, { TMPDIR: folder });
    const load = receiver.load();
    await wait(100 + ((round * 37) % 400));
    receiver.child.signal("SIGKILL");
    await load;
    await receiver.child.exited;
    runs.add(receiver);
  }
  hub.setBucketFaults([]);
  const last = await start(ledger);
  await last.stillWorks();
  const account = await ledger.account("B1", "Bucket", { queued: 0, dead: 0 });
  runs.add(last);
  const repeated = await runs.repeatedWithoutCrash(ledger);
  console.log(
    `B1 Bucket: ${kills} kills, ${account.acknowledged} acknowledged, ${account.lost} lost, ${repeated.length} deliveries ran twice without a crash`,
  );
  expect(repeated).toEqual([]);
});

test(`B2: never two answer 202 after a race for an inbox, ${races} times`, {
  timeout: 60_000 + races * 8_000,
}, async () => {
  const ledger = newLedger();
  let bothAnswered = 0;
  let fenced = 0;
  for (let race = 0; race < races; race += 1) {
    const [one, other] = await Promise.all([start(ledger), start(ledger)]);
    // The first delivery can find out that the other receiver has taken over.
    const answers = await Promise.all(
      [one, other, one, other].map((receiver) => receiver?.deliver().then(({ status }) => status)),
    );
    const [first, second, third, fourth] = answers;
    if ((first === 202 || third === 202) && (second === 202 || fourth === 202)) bothAnswered += 1;
    if (answers.includes(503)) fenced += 1;
    expect(new Set(answers)).toEqual(new Set([202, 503]));
    for (const receiver of [one, other]) {
      receiver?.child.signal("SIGKILL");
      await receiver?.child.exited;
    }
  }
  const last = await start(ledger);
  await last.stillWorks();
  const account = await ledger.account("B2", "Bucket", { queued: 0, dead: 0 });
  console.log(
    `B2 Bucket: ${races} races, ${fenced} with a fenced receiver, ${bothAnswered} in which both answered 202, ${account.lost} lost`,
  );
  expect({ bothAnswered, fenced }).toEqual({ bothAnswered: 0, fenced: races });
});

test.each<{ name: string; faults: BucketFault[]; isRefusing: boolean }>([
  { name: "latency", faults: [{ kind: "latency", latency: "200ms" }], isRefusing: false },
  { name: "an error after each second record", faults: everySecond({ kind: "error", status: 500 }), isRefusing: false },
  { name: "SlowDown", faults: everySecond({ kind: "error", status: 503, retryAfterSeconds: 1 }), isRefusing: false },
  { name: "lost answers", faults: everySecond({ kind: "answer-lost" }), isRefusing: false },
  {
    name: "an error although the record is stored",
    faults: everySecond({ kind: "error", status: 500, isExecuted: true }),
    isRefusing: false,
  },
  { name: "redirected reads", faults: [{ kind: "redirect" }], isRefusing: false },
  { name: "an outage", faults: [{ kind: "error", status: 503 }], isRefusing: true },
  { name: "a revoked access key", faults: [{ kind: "error", status: 403, code: "AccessDenied" }], isRefusing: true },
])("B3: are available again after $name during load", { timeout: 60_000 }, async ({ name, faults, isRefusing }) => {
  const ledger = newLedger();
  const receiver = await start(ledger);
  await receiver.stillWorks();
  hub.setBucketFaults(faults);
  const statuses = new Map<number, number>();
  let longestMs = 0;
  const until = performance.now() + 1_500;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (performance.now() < until) {
        const startedAt = performance.now();
        const { status } = await receiver.deliver();
        longestMs = Math.max(longestMs, performance.now() - startedAt);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status !== 202) await wait(20);
      }
    }),
  );
  hub.setBucketFaults([]);
  await waitFor(async () => expect((await receiver.deliver()).status).toBe(202));
  await receiver.stillWorks();
  const account = await ledger.account("B3", "Bucket", { queued: 0, dead: 0 });
  console.log(
    `B3 Bucket, ${name}: ${JSON.stringify(Object.fromEntries(statuses))}, longest answer ${Math.round(longestMs)} ms, ${account.lost} lost`,
  );
  expect([...statuses.keys()].filter((status) => status !== 202 && status !== 503)).toEqual([]);
  expect(statuses.has(503)).toBe(isRefusing);
  // The receiver waits up to 5 s here, and up to 20 s by default. The Hub waits 30 s.
  expect(longestMs).toBeLessThan(10_000);
});

function everySecond(fault: BucketFault): BucketFault[] {
  return Array.from({ length: 40 }, (_, index) => ({
    ...fault,
    operations: ["PUT"],
    keys: "log/*",
    skip: index * 2,
    count: 1,
  }));
}

test("B3: refuse a bucket that ignores conditions", async () => {
  hub.setBucketFaults([{ kind: "ignored-condition" }]);
  const child = startReceiverProcess(inboxScript, inboxEnvironment(variables.INBOX_URL ?? "", variables));
  const { code } = await child.exited;
  expect(code).not.toBe(0);
  expect(JSON.stringify([child.lines, child.errorOutput])).toContain("INBOX_UNUSABLE");
});

function environmentOf(environment: Readonly<Record<string, string>>) {
  return inboxEnvironment(variables.INBOX_URL ?? "", { SNAPSHOT_RECORDS: "20", ...variables, ...environment });
}
