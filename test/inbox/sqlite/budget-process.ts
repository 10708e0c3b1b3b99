import { accessSync } from "node:fs";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { MessagePort, Worker } from "node:worker_threads";
import type { Logger } from "../../../src/core/log.ts";
import { createRetryPolicy } from "../../../src/inbox/retry.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";

/*
 * Stores and runs groups of deliveries, and prints what each group takes: `budget-process.ts FILE`. Before and after a group, it
 * accesses a file with the group's name, which marks the group in a trace of the system calls.
 */

/** What the event loop does for a group. */
export interface Counts {
  statements: number;
  timers: number;
  messages: number;
}

const [, , file = ""] = process.argv;
const counts = { statements: 0, timers: 0, messages: 0 };

/** Counts the calls of a method. */
function count(owner: object, methods: readonly string[], name: keyof typeof counts): void {
  for (const method of methods) {
    const original: unknown = Reflect.get(owner, method);
    if (typeof original !== "function") throw new Error(`${method} is not a function.`);
    Reflect.set(owner, method, function (this: unknown, ...given: unknown[]) {
      counts[name] += 1;
      return Reflect.apply(original, this, given);
    });
  }
}

count(StatementSync.prototype, ["run", "get", "all", "iterate"], "statements");
count(DatabaseSync.prototype, ["exec"], "statements");
count(Worker.prototype, ["postMessage"], "messages");
count(MessagePort.prototype, ["postMessage"], "messages");
// Before, because the wait for quiet below is not part of a group.
const wait = setTimeout;
count(globalThis, ["setTimeout", "setInterval"], "timers");

const hourMs = 3_600_000;
const quiet = () => {};
const log: Logger = { debug: quiet, info: quiet, warn: console.error, error: console.error, child: () => log };
const inbox = new SqliteInbox({ file, log, now: Date.now, pollMs: hourMs, leaseMs: hourMs, firstPruneMs: hourMs });

let onStored = quiet;
/** The endpoints that run their deliveries, and how many at a time. */
const concurrencies: Readonly<Record<string, number>> = { worked: 32, "worked by 4": 4 };
for (const [endpoint, concurrency] of Object.entries(concurrencies)) {
  inbox.startWorker({
    ...{ endpoint, concurrency },
    policy: createRetryPolicy({}),
    retentionMs: hourMs,
    run: async () => ({ status: "succeeded", result: undefined }),
    onAttemptStored: () => onStored(),
  });
}

/** Stores a group and, if its endpoint runs deliveries, waits until it has run. */
async function deliver(endpoint: string, size: number): Promise<void> {
  const worked = Promise.withResolvers<void>();
  let left = endpoint in concurrencies ? size : 0;
  if (left === 0) worked.resolve();
  onStored = () => {
    left -= 1;
    if (left === 0) worked.resolve();
  };
  const body = JSON.stringify({ event: { action: "update", scope: "repo.content" }, padding: "x".repeat(1_000) });
  const accepting = Array.from({ length: size }, () =>
    inbox.accept({ endpoint, id: nextId(), body, receivedAt: new Date() }),
  );
  await Promise.all([...accepting, worked.promise]);
  // A claim that finds no more deliveries can follow.
  await new Promise((resolve) => wait(resolve, 100));
}

let ids = 0;
/** The same IDs in each run, because the pages of an index depend on them. */
function nextId(): string {
  ids += 1;
  return `${String((ids * 7_919) % 10_007).padStart(8, "0")}-3f4e-4b00-a6d8-000000000000`;
}

function mark(name: string): void {
  try {
    accessSync(`/budget/${name}`);
  } catch {
    // There is no such file.
  }
}

const results: Record<string, Counts> = {};

const reader = new DatabaseSync(file, { readOnly: true });
const indexed = reader.prepare(
  "SELECT delivery = (SELECT max(sequence) FROM deliveries) AS is_complete FROM event_index_end",
);

/** Waits until the thread has indexed all deliveries. It then rests, so a group does not wait for its lock. */
async function untilIndexed(): Promise<void> {
  for (let checks = 0; checks < 500 && indexed.get()?.is_complete !== 1; checks += 1) {
    await new Promise((resolve) => wait(resolve, 5));
  }
  // Longer than the pause after which the thread finds that nothing is left.
  await new Promise((resolve) => wait(resolve, 25));
}

async function measure(endpoint: string, sizes: readonly number[], place = ""): Promise<void> {
  for (const size of sizes) {
    await untilIndexed();
    const name = `${endpoint}, ${size}${place}`;
    const before = { ...counts };
    mark(name);
    await deliver(endpoint, size);
    mark("none");
    results[name] = {
      statements: counts.statements - before.statements,
      timers: counts.timers - before.timers,
      messages: counts.messages - before.messages,
    };
  }
}

await deliver("accepted", 40);
await deliver("worked", 40);
await measure("accepted", [1, 32]);
await measure("worked", [1, 32]);
await deliver("worked by 4", 40);
await measure("worked by 4", [32]);
// Other deliveries do not increase the pages that change.
await deliver("accepted", 3_000);
await measure("accepted", [32], " after 3,000");
console.log(JSON.stringify(results));
process.exit();
