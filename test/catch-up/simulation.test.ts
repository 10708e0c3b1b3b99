// @module-tag slow

import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RefChange } from "../../src/catch-up/cursor.ts";
import { HubClient } from "../../src/client.ts";
import { parseBucketUrl, readBucketCredentials } from "../../src/inbox/bucket/bucket-url.ts";
import type { ObjectStore } from "../../src/inbox/bucket/object-store.ts";
import { openBucketInbox } from "../../src/inbox/bucket/open-bucket.ts";
import { openS3ObjectStore } from "../../src/inbox/bucket/s3.ts";
import type { Inbox } from "../../src/inbox/inbox.ts";
import { openInbox } from "../../src/inbox/open-inbox.ts";
import type { BucketFault } from "../../src/local-hub/s3/faults.ts";
import { LocalHub } from "../../src/local-hub.ts";
import type { WebhookPayload } from "../../src/payload/schema.ts";
import { serverControl } from "../../src/receiver/control.ts";
import { WebhooksServer } from "../../src/receiver/server.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { differences, type Handled, type HubState } from "./effects.ts";
import { bucketName, SimulatedRepositories } from "./simulated-repositories.ts";

/** The store of a process. After the process has died, no request is sent, and no response arrives. */
function createMortalStore(store: ObjectStore, isDead: () => boolean): ObjectStore {
  const never = new Promise<never>(() => {});
  const alive = async <Result>(request: () => Promise<Result>): Promise<Result> => {
    if (isDead()) return never;
    try {
      return await request();
    } finally {
      if (isDead()) await never;
    }
  };
  return {
    name: store.name,
    put: (...given) => alive(() => store.put(...given)),
    get: (...given) => alive(() => store.get(...given)),
    list: (...given) => alive(() => store.list(...given)),
    delete: (...given) => alive(() => store.delete(...given)),
    wait: (ms) => store.wait(ms),
  };
}

/*
 * A world: a local Hub, its webhook, and a receiver with catch-up. The steps of a world depend only on its seed. The timing of
 * deliveries does not, so a seed that fails may need several runs to fail again.
 */

interface WorldReport {
  seed: number;
  counts: Record<string, number>;
  differences: string[];
  trace: string[];
}

const secret = "a-secret-of-the-simulation";
const owner = "local-user";

/** A process of the receiver. A killed process neither reaches its inbox nor finishes handlers. */
interface Process {
  server: WebhooksServer;
  inbox: Inbox;
  isDead: boolean;
  /** Whether the process was killed, or another one has taken over its inbox, so that its last deliveries run again. */
  isInterrupted: boolean;
  url: string;
  /** Resolves after the first run of catch-up. The next one must not start before. */
  firstRun: Promise<unknown>;
}

class World {
  readonly #random: SeededRandom;
  readonly #handlerRandom: SeededRandom;
  readonly #hub: LocalHub;
  readonly #client: HubClient;
  readonly #engine: "bucket" | "sqlite";
  /** Whether two processes share the inbox. */
  readonly #isShared: boolean;
  /** Whether the owner is watched, so that repositories can be renamed and created. Then, only main branches are compared. */
  readonly #watchesOwner: boolean;
  /** Without them, the changes of a branch must be exactly those that a receiver that never slept has received. */
  readonly #forcePushes: boolean;
  readonly #sqliteFile = join(createFolder(), "inbox.db");
  readonly #repositories: SimulatedRepositories;
  readonly #handled: Handled[] = [];
  readonly #acknowledged = new Set<string>();
  readonly #report: WorldReport;
  #initial: HubState = { repositories: new Map(), files: new Map() };
  #webhookId = "";
  #process: Process | undefined;
  /** Another process with the same inbox. */
  #partner: Process | undefined;
  /** Processes from which another one has taken over the inbox. */
  readonly #zombies: Process[] = [];
  #runs: Promise<unknown> = Promise.resolve();
  #stopRuns = new AbortController();

  static async run(seed: number, { steps = 40 }: { steps?: number } = {}): Promise<WorldReport> {
    // Lost, duplicated, and reordered deliveries do not depend on the seed.
    const hub = await LocalHub.launch({
      ...{ attempts: 2, backoff: "4ms", timeout: "400ms", suspendAfter: 4, triggersPerDay: Number.POSITIVE_INFINITY },
    });
    const world = new World(seed, hub);
    try {
      await world.#run(steps);
    } catch (error) {
      world.#report.differences.push(`The world has failed: ${error instanceof Error ? error.stack : error}`);
    } finally {
      await world.#end();
    }
    return world.#report;
  }

  private constructor(seed: number, hub: LocalHub) {
    this.#random = new SeededRandom(seed);
    this.#handlerRandom = new SeededRandom(seed + 1_000_000);
    this.#hub = hub;
    this.#client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    this.#engine = this.#random.chance(0.6) ? "bucket" : "sqlite";
    this.#isShared = this.#engine === "sqlite" && this.#random.chance(0.6);
    this.#watchesOwner = this.#random.chance(0.4);
    this.#forcePushes = this.#random.chance(0.6);
    this.#report = { seed, counts: {}, differences: [], trace: [] };
    this.#repositories = new SimulatedRepositories({
      ...{ hub, client: this.#client, owner, random: this.#random, onlyMain: this.#watchesOwner },
      forcePushes: this.#forcePushes,
    });
  }

  async #run(steps: number): Promise<void> {
    for (const name of ["one", "two"]) await this.#repositories.create(name);
    this.#hub.createBucket(bucketName);
    const { id } = await this.#client.webhooks.create({
      ...{ watched: this.#watched(), domains: ["repo", "discussion"], secret },
      url: "http://127.0.0.1:9/webhooks/bot",
    });
    this.#webhookId = id;
    await this.#start();
    await this.#firstRuns();
    this.#initial = await this.#repositories.state();
    for (let step = 0; step < steps; step += 1) await this.#step();
    await this.#heal();
    await this.#check("after healing");
    // In order and without faults, nothing needs to be derived, and nothing is ignored.
    for (let step = 0; step < 8; step += 1) {
      await this.#change((change) => !this.#isDerived(change));
      await this.#drain();
    }
    await this.#check("without faults");
    const derived = await this.#catchUp();
    if (derived.length > 0) this.#report.differences.push(`Derived without faults: ${JSON.stringify(derived)}`);
    await this.#drain();
    await this.#check("at the end");
  }

  #count(name: string, added = 1): void {
    this.#report.counts[name] = (this.#report.counts[name] ?? 0) + added;
  }

  #log(text: string): void {
    this.#report.trace.push(text);
  }

  async #step(): Promise<void> {
    if (this.#random.chance(0.6)) await this.#change();
    else await this.#disturb();
    for (const { deliveryId, status } of this.#hub.deliveries(this.#webhookId)) {
      if (status === 202) this.#acknowledged.add(deliveryId);
    }
    if (this.#random.chance(0.5)) await wait(this.#random.below(6));
  }

  async #change(isAllowed?: (change: RefChange) => boolean): Promise<void> {
    this.#count("events");
    this.#log(await this.#repositories.change(isAllowed));
  }

  /** Whether catch-up has derived a change of the ref. If it happens again, its delivery can look like a late one of the first change. */
  #isDerived({ ref }: RefChange): boolean {
    const derived = this.#handled.filter(({ origin }) => origin === "catch-up");
    return derived.some(({ payload }) => payload.updatedRefs?.some((change) => change.ref === ref));
  }

  /** Lets something happen to the receiver or to what it depends on. */
  async #disturb(): Promise<void> {
    const random = this.#random;
    const isAwake = this.#process !== undefined;
    const isBucket = this.#engine === "bucket";
    const { name, make } = random.pickWeighted<{ weight: number; name: string; make: () => unknown }>([
      { weight: isAwake ? 2 : 0, name: "sleeps", make: () => this.#sleep() },
      { weight: isAwake ? 0 : 6, name: "wakes", make: () => this.#start() },
      { weight: isAwake && isBucket ? 2 : 0, name: "kills", make: () => this.#kill() },
      { weight: isAwake && isBucket ? 1 : 0, name: "takeovers", make: () => this.#start() },
      { weight: isAwake ? 3 : 0, name: "runs", make: () => this.#catchUpLater() },
      { weight: 1, name: "suspensions", make: () => this.#client.webhooks.disable(this.#webhookId) },
      { weight: 2, name: "activations", make: () => this.#client.webhooks.enable(this.#webhookId) },
      { weight: 2, name: "delivery faults", make: () => this.#setDeliveryFaults() },
      { weight: isBucket ? 2 : 0, name: "store faults", make: () => this.#hub.setBucketFaults(this.#bucketFaults()) },
      { weight: 3, name: "late deliveries", make: () => this.#deliverLate() },
      { weight: isAwake && this.#isShared ? 3 : 0, name: "switches", make: () => this.#switch() },
    ]);
    this.#count(name);
    this.#log(`-- ${name}`);
    await make();
  }

  #setDeliveryFaults(): void {
    const random = this.#random;
    this.#hub.setDeliveryFaults({
      drop: random.pick([0, 0.3, 0.6]),
      duplicate: random.pick([0, 0.5]),
      delay: random.pick(["1ms", "5ms", "20ms"] as const),
      reorder: random.chance(0.5),
    });
  }

  #bucketFaults(): BucketFault[] {
    const count = 1 + this.#random.below(3);
    return this.#random.pick<BucketFault[]>([
      [],
      [{ kind: "latency", latency: "5ms" }],
      [{ kind: "error", status: 503, retryAfterSeconds: 0, operations: ["PUT"], count }],
      [{ kind: "answer-lost", operations: ["PUT"], keys: "log/*", count: 1 }],
    ]);
  }

  /** Sends a delivery again that was lost, refused, or delivered. */
  async #deliverLate(): Promise<void> {
    const attempts = this.#hub.deliveries(this.#webhookId);
    const failed = attempts.filter(({ deliveryId }) => !this.#acknowledged.has(deliveryId));
    const from = failed.length > 0 && this.#random.chance(0.8) ? failed : attempts;
    if (from.length === 0) return;
    const { logId } = this.#random.pick(from);
    await this.#client.webhooks.replay(this.#webhookId, logId);
  }

  #watched(): { type: "user" | "dataset" | "bucket"; name: string }[] {
    if (this.#watchesOwner) return [{ type: "user", name: owner }];
    const datasets = ["one", "two"].map((name) => ({ type: "dataset" as const, name: `${owner}/${name}` }));
    return [...datasets, { type: "bucket", name: bucketName }];
  }

  /** Starts a process, which takes over the inbox if another process has it. */
  async #start(): Promise<void> {
    const before = this.#process;
    if (before) {
      before.isInterrupted = true;
      this.#zombies.push(before);
    }
    this.#process = await this.#startProcess();
    if (this.#isShared) this.#partner = await this.#startProcess();
    await this.#setUrl();
  }

  async #setUrl(): Promise<void> {
    await this.#client.webhooks.update(this.#webhookId, { url: `${this.#process?.url}/webhooks/bot`, secret });
  }

  /** Lets the other process receive the next deliveries. */
  async #switch(): Promise<void> {
    [this.#process, this.#partner] = [this.#partner, this.#process];
    await this.#setUrl();
  }

  async #startProcess(): Promise<Process> {
    const running: { process?: Process } = {};
    const inbox = await this.#openInbox(() => running.process?.isDead ?? false);
    const { promise: firstRun, resolve } = Promise.withResolvers<void>();
    const logger = createMemoryLogger();
    const write = (_fields: unknown, message = "") => {
      if (/Catch-up/i.test(message)) this.#log(`${message} ${JSON.stringify(_fields)}`);
      if (/^Catch-up (found|accepted|could not compare|already runs)/.test(message)) resolve();
    };
    const server = new WebhooksServer({
      ...{ secret, inbox, hub: { hubUrl: this.#hub.url, token: "hf_local" } },
      logger: { ...logger, debug: write, info: write, warn: write },
    });
    const process: Process = { server, inbox, isDead: false, isInterrupted: false, url: "", firstRun };
    running.process = process;
    server.webhook(
      "bot",
      {
        watch: this.#watched().map(({ type, name }) => `${type}:${name}` as const),
        background: true,
        concurrency: 1,
        catchUp: true,
      },
      async (payload, { delivery }) => {
        await wait(this.#handlerRandom.below(4));
        if (process.isDead) await new Promise(() => {});
        if (this.#handlerRandom.chance(0.05)) throw new Error("A failure of the handler.");
        this.#handled.push({ ...delivery, payload: payload as WebhookPayload, process });
      },
    );
    server[serverControl].limitRetryWaits(5);
    const { url } = await server.launch({ port: 0, handleSignals: false, announce: false });
    process.url = url;
    return process;
  }

  async #openInbox(isDead: () => boolean): Promise<Inbox> {
    const shared = { log: createMemoryLogger(), now: Date.now };
    if (this.#engine === "sqlite") return openInbox({ url: `sqlite:${this.#sqliteFile}`, ...shared });
    const { INBOX_URL, ...variables } = this.#hub.createBucket("me/inbox");
    const read = (name: string) => new Map(Object.entries(variables)).get(name);
    const location = parseBucketUrl(INBOX_URL, read);
    const store = await openS3ObjectStore({ location, credentials: readBucketCredentials(location.name, read) });
    const canRetry = () => true;
    return openBucketInbox({
      ...{ ...shared, store: createMortalStore(store, isDead), spaceId: undefined, takeOver: true, canRetry },
      ...{ pollMs: 20, heartbeatMs: 100, parentFolder: createFolder() },
    });
  }

  async #sleep(): Promise<void> {
    const processes = [this.#process, this.#partner];
    this.#process = undefined;
    this.#partner = undefined;
    this.#stopRuns.abort();
    this.#stopRuns = new AbortController();
    if (processes[0]) await this.#runs;
    for (const closing of [...processes, ...this.#zombies.splice(0)]) await closing?.server.close();
  }

  /** Ends the process without a last request to the store. Its disk is lost. */
  #kill(): void {
    const process = this.#process;
    this.#process = undefined;
    this.#runs = Promise.resolve();
    for (const killed of [process, ...this.#zombies.splice(0)]) {
      if (!killed) continue;
      killed.isDead = true;
      killed.isInterrupted = true;
      void killed.server.close();
    }
  }

  /** Starts a run after those before. */
  #catchUpLater(): void {
    this.#runs = this.#runs
      .then(() => this.#catchUp())
      .catch((error) => {
        this.#count("failed runs");
        this.#log(String(error?.stack ?? error));
      });
  }

  #firstRuns(): Promise<unknown> {
    const both = Promise.all([this.#process?.firstRun, this.#partner?.firstRun]);
    return Promise.race([both, wait(5_000)]);
  }

  async #catchUp() {
    const process = this.#partner && this.#handlerRandom.chance(0.5) ? this.#partner : this.#process;
    await this.#firstRuns();
    const control = process?.server[serverControl];
    const { signal } = this.#stopRuns;
    const run = async () => (await control?.catchUp({ signal, dryRun: false }))?.get("bot");
    let report = await run();
    for (; report?.isElsewhere; report = await run()) await wait(5, undefined, { signal });
    const derived = report?.derived ?? [];
    this.#count("derived", derived.length);
    for (const { updatedRefs, scope, action, repository } of derived)
      this.#log(`derived ${repository} ${scope} ${action} ${JSON.stringify(updatedRefs)}`);
    return derived;
  }

  async #heal(): Promise<void> {
    this.#log("-- heal");
    this.#hub.setDeliveryFaults({});
    this.#hub.setBucketFaults([]);
    if (!this.#process) await this.#start();
    for (const zombie of this.#zombies.splice(0)) await zombie.server.close();
    await this.#drain();
    // Refused deliveries can have suspended it until now.
    await this.#client.webhooks.enable(this.#webhookId);
    await this.#catchUp();
    await this.#drain();
  }

  /** Waits until everything that was sent has run. */
  async #drain(): Promise<void> {
    await this.#hub.settled();
    await Promise.race([this.#runs, wait(2_000)]);
    const until = performance.now() + 10_000;
    for (;;) {
      const { bot } = (await this.#process?.inbox.counts()) ?? {};
      if ((bot?.queued ?? 0) + (bot?.running ?? 0) === 0) return;
      if (performance.now() > until) throw new Error(`The inbox is not drained: ${JSON.stringify(bot)}`);
      await wait(2);
    }
  }

  async #check(when: string): Promise<void> {
    const inbox = this.#process?.inbox;
    for (const id of this.#acknowledged) {
      const stored = await inbox?.get({ endpoint: "bot", id });
      if (stored?.status !== "succeeded" && stored?.status !== "ignored")
        this.#report.differences.push(`${when}: The acknowledged delivery ${id} is ${stored?.status ?? "missing"}.`);
    }
    const found = differences({
      ...{ handled: this.#handled, initial: this.#initial, present: await this.#repositories.state() },
      forcePushes: this.#forcePushes,
    });
    for (const text of found) this.#report.differences.push(`${when}: ${text}`);
    if (this.#report.differences.length > 0) await this.#logInbox();
  }

  async #logInbox(): Promise<void> {
    const { deliveries = [] } = (await this.#process?.inbox.list({ endpoint: "bot", limit: 1_000 })) ?? {};
    for (const { id, status, receivedAt, body = "{}", attempts } of deliveries) {
      const { event, repo, updatedRefs, discussion } = JSON.parse(body) as Partial<WebhookPayload>;
      const runs = attempts.map((attempt) => `${attempt.outcome} ${attempt.reason ?? ""}`).join(", ");
      const change = JSON.stringify(updatedRefs ?? discussion?.status);
      this.#log(`${receivedAt.toISOString()} ${id} ${status} [${runs}] ${repo?.name} ${event?.scope} ${change}`);
    }
  }

  async #end(): Promise<void> {
    this.#hub.setBucketFaults([]);
    await this.#sleep().catch(() => {});
    await this.#hub.close();
  }
}

/*
 * For a longer run, with a report in Markdown:
 *
 *   SLOW_TESTS=1 SIMULATION_MINUTES=60 SIMULATION_FROM=1000 SIMULATION_REPORT=bench/CATCH-UP.md vitest run test/catch-up/simulation.test.ts
 *
 * SIMULATION_SEEDS limits the worlds. SIMULATION_TRACE=1 prints the steps of a world that differs.
 */
const minutes = Number(process.env.SIMULATION_MINUTES ?? 0);
const count = Number(process.env.SIMULATION_SEEDS ?? (minutes > 0 ? Number.POSITIVE_INFINITY : 4));
const from = Number(process.env.SIMULATION_FROM ?? 1);
const report = process.env.SIMULATION_REPORT;

test("A receiver that sleeps, crashes, and misses deliveries has the effects of one that never did", async () => {
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 60_000;
  const total: Record<string, number> = { worlds: 0 };
  const failed: string[] = [];
  for (let seed = from; seed < from + count && (minutes === 0 || elapsed() < minutes); seed += 1) {
    const { counts, differences, trace } = await World.run(seed);
    for (const [name, added] of Object.entries({ worlds: 1, ...counts })) total[name] = (total[name] ?? 0) + added;
    if (differences.length > 0) {
      failed.push([`seed ${seed}`, ...(process.env.SIMULATION_TRACE ? trace : []), ...differences].join("\n  "));
      if (report !== undefined) console.log(failed.at(-1));
    }
    if (report !== undefined && seed % 50 === 0) console.log(`${total.worlds} worlds`);
  }
  if (report !== undefined) writeFileSync(report, describe({ total, differing: failed.length, minutes: elapsed() }));
  expect(failed).toEqual([]);
}, 4_000_000);

function describe({
  total,
  differing,
  minutes,
}: {
  total: Record<string, number>;
  differing: number;
  minutes: number;
}) {
  const { worlds = 0, ...counts } = total;
  const rows = Object.entries(counts).sort(([one], [other]) => one.localeCompare(other));
  return `# Catch-up simulation

Each world is a local Hub, its webhook, and a receiver with \`catchUp\`, to which random things happen. At the end, everything is repaired,
and the effects of the handler must equal those of a receiver that never slept. Written by:

<!-- not run: takes minutes -->
\`\`\`sh
SLOW_TESTS=1 SIMULATION_MINUTES=${Math.round(minutes)} SIMULATION_FROM=${from} SIMULATION_REPORT=bench/CATCH-UP.md npx vitest run test/catch-up/simulation.test.ts
\`\`\`

- ${cpus().length} cores, ${cpus()[0]?.model}; Node ${process.version}
- Seeds ${from} to ${from + worlds - 1}, ${minutes.toFixed(1)} minutes
- **${worlds} worlds, ${differing} with differences**

| what happened | times |
| --- | ---: |
${rows.map(([name, times]) => `| ${name} | ${times} |`).join("\n")}
`;
}
