import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { webhookPayload } from "../../src/testing.ts";
import { denied, FaultyS3, full, type S3Fault, slowDown, storedAlthough500 } from "../support/faulty-s3.ts";
import { addressOf, type ReceiverProcess, startReceiverProcess } from "../support/receiver-process.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { waitFor } from "../support/wait-for.ts";
import { Ledger } from "./inbox-ledger.ts";
import { inboxEnvironment, inboxScript, startInboxReceiver } from "./inbox-receiver.ts";
import { secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("bucket-load");

/** The number of killed receivers. Each takes about two seconds. `npm run kills` sets KILLS. */
const kills = Number(process.env.KILLS ?? 6);
/** The same seed leads to the same actions and faults. The times at which they meet a step of a receiver differ. */
const seed = Number(process.env.SEED ?? 1);

/** How long an action may leave the inbox without an owner after the bucket works again, in milliseconds. */
const maxOutageMs = 60_000;
/** The time without an owner after which the leases of killed receivers expire, in milliseconds. */
const maxFencedMs = 15_000;
/** Longer than the lease of an owner, in milliseconds. */
const leaseMs = 61_000;

/** The faults of an action. All of them are transient: the bucket never loses or damages an object that it has stored. */
const faultProfiles: readonly { weight: number; name: string; faults: readonly S3Fault[] }[] = [
  { weight: 6, name: "none", faults: [] },
  { weight: 2, name: "latency", faults: [{ kind: "latency", ms: 200 }] },
  { weight: 3, name: "long tail", faults: [{ kind: "latency", ms: 5, maxMs: 4_000 }] },
  { weight: 2, name: "lost answers", faults: [{ kind: "lost answer", chance: 0.1 }] },
  { weight: 2, name: "dropped", faults: [{ kind: "dropped", chance: 0.1 }] },
  {
    weight: 2,
    name: "silence",
    faults: [
      { kind: "silent", chance: 0.01 },
      { kind: "silent", isApplied: true, chance: 0.01 },
    ],
  },
  {
    weight: 4,
    name: "late writes",
    faults: [
      { kind: "late", maxMs: 60_000, operations: ["PUT"], keys: "/log/", chance: 0.05 },
      { kind: "late", maxMs: 60_000, operations: ["PUT"], answer: "error", chance: 0.05 },
    ],
  },
  { weight: 2, name: "false 412", faults: [{ kind: "false 412", chance: 0.1 }] },
  { weight: 4, name: "stale lists", faults: [{ kind: "stale list", newest: 3, forMs: 20_000, chance: 0.5 }] },
  { weight: 2, name: "short reads", faults: [{ kind: "short", operations: ["GET"], chance: 0.1 }] },
  { weight: 2, name: "corrupted reads", faults: [{ kind: "corrupted", operations: ["GET"], chance: 0.1 }] },
  { weight: 2, name: "SlowDown", faults: [{ ...slowDown, retryAfterSeconds: 1, chance: 0.1 }] },
  { weight: 2, name: "stored although 500", faults: [{ ...storedAlthough500, chance: 0.1 }] },
  { weight: 1, name: "redirects", faults: [{ kind: "redirect", operations: ["GET"] }] },
  { weight: 1, name: "full", faults: [full] },
  { weight: 1, name: "revoked", faults: [denied] },
];

/** A receiver process. Each has an access key of its own, so that the history of the bucket shows its requests. */
interface Receiver {
  name: string;
  space: string;
  child: ReceiverProcess;
  /** By the clock of the bucket. */
  startedAt: number;
  /** Missing until the receiver listens. */
  url?: string;
  hasAcknowledged: boolean;
  /** Whether another receiver was running when this one started. */
  isTakeover: boolean;
  /** Whether the bucket answered within 1 s and without faults since the start. */
  isUndisturbed: boolean;
  isStopped: boolean;
}

/** Runs receivers on a faulty bucket under load, and records everything that must not happen. */
class Kills {
  readonly findings: string[] = [];
  readonly figures = { kills: 0, pauses: 0, races: 0, wipes: 0, exits: 0, refused: 0 };
  readonly ledger: Ledger;
  longestTakeoverMs = 0;
  longestStartMs = 0;
  readonly #s3: FaultyS3;
  readonly #random = new SeededRandom(seed);
  readonly #folder = mkdtempSync(join(tmpdir(), "bucket-kills-"));
  readonly #runs = new Map<string, number>();
  readonly #unacknowledged = new Set<string>();
  readonly #body = JSON.stringify(webhookPayload("repo.content"));
  readonly #loading: Promise<void>[];
  #receivers: Receiver[] = [];
  #started = 0;
  /** The Space of the last receiver that was started. It can have become the owner before it was killed. */
  #lastSpace: string | undefined;
  #round = 0;
  #lastAcknowledged: { by: Receiver; at: number } | undefined;
  #isLoading = true;

  constructor(s3: FaultyS3, ledger: Ledger) {
    this.#s3 = s3;
    this.ledger = ledger;
    onTestFinished(() => rmSync(this.#folder, { recursive: true, force: true }));
    this.#loading = Array.from({ length: 4 }, () => this.#load());
  }

  /** Does something to the receivers, and waits until one of them acknowledges deliveries again. */
  async act(): Promise<void> {
    this.#round += 1;
    const profile = this.#random.pickWeighted(faultProfiles);
    this.#s3.faults = profile.faults;
    const action = this.#random.pickWeighted(this.#actions);
    if (profile.name !== "none") for (const receiver of this.#receivers) receiver.isUndisturbed = false;
    const what = `round ${this.#round}: ${action.name}, ${profile.name}`;
    if (process.env.VERBOSE) console.log(what);
    await action.run();
    this.#s3.faults = [];
    await this.#serves(what);
  }

  /** Stops the load, applies all late writes, and lets a last receiver process what is queued. Returns the last receiver. */
  async finish(): Promise<Receiver> {
    this.#isLoading = false;
    await Promise.all(this.#loading);
    for (const receiver of [...this.#receivers]) await this.#kill(receiver);
    this.#s3.applyLate();
    this.#expireLeases();
    this.#isLoading = true;
    const last = this.#start();
    this.#loading.push(this.#load());
    await this.#serves("the last start");
    this.#isLoading = false;
    await Promise.all(this.#loading);
    return this.#lastAcknowledged?.by ?? last;
  }

  /** Sends deliveries, and returns the number of requests for the log for each of them, until all have run. */
  async costOf({ deliveries, connections, by }: { deliveries: number; connections: number; by: Receiver }) {
    const before = this.#s3.history.length;
    const ids = Array.from({ length: deliveries }, () => crypto.randomUUID());
    const unsent = [...ids];
    await Promise.all(
      Array.from({ length: connections }, async () => {
        for (let id = unsent.pop(); id !== undefined; id = unsent.pop()) {
          await this.#send(id, by);
          // The owner also yields to the request of a receiver that has been killed in the meantime.
          if (this.#unacknowledged.has(id)) unsent.push(id);
        }
      }),
    );
    for (const id of ids) await this.ledger.waitForStatus({ id, endpoint: "target" }, "succeeded");
    const sent = this.#s3.history.slice(before).filter(({ accessKey, key }) => {
      return accessKey === by.name && key.startsWith("inbox/test/log/");
    });
    const each = (wanted: string) => sent.filter(({ operation }) => operation === wanted).length / deliveries;
    // Records are deleted after a snapshot.
    return { writes: each("PUT"), reads: each("GET") + each("LIST"), deletes: each("DELETE") };
  }

  /** Returns the deliveries that ran more often than their recorded crashes explain. */
  async repeated(): Promise<string[]> {
    for (const receiver of this.#receivers) this.#countRuns(receiver);
    const ids = [...this.#runs].filter(([, runs]) => runs > 1).map(([id]) => id);
    const stored = await this.ledger.read(ids.map((id) => ({ id, endpoint: "target" })));
    return ids.filter((id, index) => {
      const crashes = (stored[index]?.attempts ?? []).filter(({ outcome }) => outcome === "abandoned").length;
      return (this.#runs.get(id) ?? 0) > 1 + crashes;
    });
  }

  readonly #actions: readonly { weight: number; name: string; run: () => Promise<void> }[] = [
    {
      weight: 4,
      name: "kill the owner, then start",
      run: async () => {
        await this.#wait(600);
        for (const receiver of [...this.#receivers]) await this.#kill(receiver);
        this.#startAfterKill();
        await this.#wait(3_000);
      },
    },
    {
      weight: 3,
      name: "start, then kill the owner",
      run: async () => {
        const old = [...this.#receivers];
        this.#start({ space: this.#lastAcknowledged?.by.space });
        await this.#wait(4_000);
        for (const receiver of old) await this.#kill(receiver);
        await this.#wait(1_000);
      },
    },
    {
      weight: 2,
      name: "kill while it starts",
      run: async () => {
        if (this.#random.chance(0.5)) for (const receiver of [...this.#receivers]) await this.#kill(receiver);
        const started = this.#startAfterKill();
        await this.#wait(3_000);
        await this.#kill(started);
        await this.#wait(1_000);
      },
    },
    {
      weight: 3,
      name: "race",
      run: async () => {
        this.figures.races += 1;
        if (this.#random.chance(0.5)) for (const receiver of [...this.#receivers]) await this.#kill(receiver);
        for (let count = 2 + this.#random.below(2); count > 0; count -= 1) this.#startAfterKill();
        await this.#wait(6_000);
      },
    },
    {
      weight: 3,
      name: "pause beyond the lease",
      run: async () => {
        this.figures.pauses += 1;
        const paused = [...this.#receivers];
        await this.#wait(500);
        for (const { child } of paused) child.signal("SIGSTOP");
        this.#expireLeases();
        this.#start({ space: this.#random.pick(["me/receiver", "me/other"]) });
        await this.#wait(5_000);
        for (const { child } of paused) child.signal("SIGCONT");
        await this.#wait(2_000);
      },
    },
    {
      weight: 2,
      name: "pause for a short time",
      run: async () => {
        this.figures.pauses += 1;
        const paused = [...this.#receivers];
        if (this.#random.chance(0.5)) this.#start({ space: this.#lastAcknowledged?.by.space });
        await this.#wait(2_000);
        for (const { child } of paused) child.signal("SIGSTOP");
        await this.#wait(3_000);
        for (const { child } of paused) child.signal("SIGCONT");
      },
    },
    {
      weight: 1,
      name: "start in another Space",
      run: async () => {
        this.#start({ space: "me/third" });
        await this.#wait(5_000);
      },
    },
    {
      weight: 1,
      name: "wipe the disk",
      run: async () => {
        this.#wipe();
        await this.#wait(1_000);
      },
    },
  ];

  /** Starts a receiver. A process in another Space has to wait until the lease has expired. */
  #startAfterKill(space = this.#random.pick(["me/receiver", "me/receiver", "me/other"])): Receiver {
    if (space !== this.#lastAcknowledged?.by.space || space !== this.#lastSpace) this.#expireLeases();
    return this.#start({ space });
  }

  #start({ space = "me/receiver" }: { space?: string | undefined } = {}): Receiver {
    this.#started += 1;
    this.#lastSpace = space;
    const name = `RECEIVER${this.#started}`;
    if (this.#random.chance(0.3)) this.#wipe();
    mkdirSync(this.#folder, { recursive: true });
    const { INBOX_URL = "", ...variables } = this.#s3.variables({ accessKey: name });
    const isTakeover = this.#receivers.some(({ hasAcknowledged }) => hasAcknowledged);
    const child = startReceiverProcess(
      inboxScript,
      inboxEnvironment(INBOX_URL, {
        ...variables,
        SPACE_ID: space,
        TMPDIR: this.#folder,
        // Other receivers open the inbox as an application does. They store few snapshots.
        ...(this.#random.chance(0.6) && { SNAPSHOT_RECORDS: "20", MAX_WAIT_MS: "5000" }),
      }),
    );
    const receiver: Receiver = {
      ...{ name, space, child, isTakeover, isStopped: false, hasAcknowledged: false, startedAt: this.#s3.now() },
      isUndisturbed: this.#s3.faults.length === 0,
    };
    this.#receivers.push(receiver);
    void addressOf(child).then(
      (url) => {
        receiver.url = url;
      },
      () => {},
    );
    void child.exited.then(({ code }) => {
      if (receiver.isStopped) return;
      this.#receivers = this.#receivers.filter((other) => other !== receiver);
      this.#countRuns(receiver);
      this.figures.exits += 1;
      const reason = /^\S*Error: .*/m.exec(child.errorOutput)?.[0] ?? JSON.stringify(child.lines.slice(-2));
      if (!reason.includes("is in use by")) this.#find(`${name} exited with ${code}: ${reason}`);
    });
    return receiver;
  }

  async #kill(receiver: Receiver): Promise<void> {
    this.figures.kills += 1;
    receiver.isStopped = true;
    this.#receivers = this.#receivers.filter((other) => other !== receiver);
    receiver.child.signal("SIGKILL");
    await receiver.child.exited;
    this.#countRuns(receiver);
  }

  #countRuns({ name, child }: Receiver): void {
    for (const { msg, id, code, ...line } of child.lines) {
      if (msg === "target ran" && typeof id === "string") this.#runs.set(id, (this.#runs.get(id) ?? 0) + 1);
      if (code === "INBOX_DAMAGED") this.#find(`${name} reports damage: ${JSON.stringify({ msg, ...line })}`);
    }
  }

  /** Waits until a receiver acknowledges deliveries, and kills the others. */
  async #serves(what: string): Promise<void> {
    const since = performance.now();
    let isExpired = false;
    while (!this.#lastAcknowledged || this.#lastAcknowledged.at < since) {
      if (this.#receivers.length === 0) this.#startAfterKill();
      const outageMs = performance.now() - since;
      // A receiver that was fenced by a killed process takes over when the lease of that process has expired.
      if (outageMs > maxFencedMs && !isExpired) {
        isExpired = true;
        this.#expireLeases();
      }
      if (outageMs > maxOutageMs) {
        const ends = this.#receivers.map(({ name, child }) => `${name}: ${JSON.stringify(child.lines.slice(-3))}`);
        this.#find(`No receiver has acknowledged a delivery for ${maxOutageMs} ms after ${what}. ${ends.join("\n")}`);
        for (const receiver of [...this.#receivers]) await this.#kill(receiver);
        this.#expireLeases();
        return;
      }
      await wait(20);
    }
    const { by } = this.#lastAcknowledged;
    for (const receiver of this.#receivers.filter((other) => other !== by)) await this.#kill(receiver);
  }

  async #load(): Promise<void> {
    while (this.#isLoading) {
      const ready = this.#receivers.filter(({ url }) => url !== undefined);
      if (ready.length === 0) {
        await wait(10);
        continue;
      }
      // The Hub sends a delivery again if it was not acknowledged.
      const [again] = this.#random.chance(0.3) ? this.#unacknowledged : [];
      const sent = this.#send(again ?? crypto.randomUUID(), this.#random.pick(ready));
      // A paused receiver must not stop the load of the others.
      await Promise.race([sent, wait(1_000)]);
      await wait(this.#random.below(10));
    }
  }

  async #send(id: string, to: Receiver): Promise<void> {
    try {
      const { status } = await fetch(`${to.url}/webhooks/target`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Webhook-Secret": secret, "Webhook-Id": id },
        body: this.#body,
        signal: AbortSignal.timeout(30_000),
      });
      if (status === 202) return this.#acknowledge(id, to);
      if (status !== 503) this.#find(`${to.name} responded with ${status}.`);
      this.figures.refused += 1;
    } catch {
      // The receiver was killed.
    }
    this.#unacknowledged.add(id);
  }

  #acknowledge(id: string, by: Receiver): void {
    const at = performance.now();
    this.ledger.acknowledge({ id, endpoint: "target" });
    this.#unacknowledged.delete(id);
    this.#lastAcknowledged = { by, at };
    if (by.hasAcknowledged) return;
    by.hasAcknowledged = true;
    if (!by.isUndisturbed) return;
    // The heartbeat precedes the takeover, and the check of the store precedes the heartbeat.
    const first = this.#s3.history.find(({ accessKey, operation, key }) => {
      return accessKey === by.name && operation === "PUT" && !key.includes("/check/");
    });
    const takeoverMs = this.#s3.now() - (first?.receivedAt ?? 0);
    if (by.isTakeover) this.longestTakeoverMs = Math.max(this.longestTakeoverMs, takeoverMs);
    this.longestStartMs = Math.max(this.longestStartMs, this.#s3.now() - by.startedAt);
  }

  /** Receivers measure the ages of heartbeats by the clock of the bucket. */
  #expireLeases(): void {
    this.#s3.advance(leaseMs);
    for (const receiver of this.#receivers) receiver.isUndisturbed = false;
  }

  #wipe(): void {
    this.figures.wipes += 1;
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
  }

  #wait(maxMs: number): Promise<void> {
    return wait(this.#random.below(maxMs));
  }

  #find(finding: string): void {
    this.findings.push(`seed ${seed}, round ${this.#round}: ${finding}`);
    if (process.env.VERBOSE) console.log(this.findings.at(-1));
  }
}

test(`B9: lose nothing and run nothing twice when receivers on a faulty bucket are killed ${kills} times, paused, and raced`, {
  timeout: 120_000 + kills * 10_000,
}, async () => {
  await using s3 = await FaultyS3.start({ seed });
  // The ledger reads the bucket in this process.
  Object.assign(process.env, s3.variables());
  const ledger = new Ledger(s3.variables().INBOX_URL ?? "");
  const run = new Kills(s3, ledger);
  while (run.figures.kills < kills) await run.act();
  const last = await run.finish();
  const one = await run.costOf({ deliveries: 40, connections: 1, by: last });
  const many = await run.costOf({ deliveries: 200, connections: 20, by: last });
  const repeated = await run.repeated();
  console.log(
    `B9 Bucket, seed ${seed}: ${JSON.stringify({
      ...run.figures,
      ranTwice: repeated.length,
      longestTakeoverMs: Math.round(run.longestTakeoverMs),
      longestStartMs: Math.round(run.longestStartMs),
      requestsPerDelivery: { oneConnection: one, twentyConnections: many },
      findings: run.findings.length,
    })}`,
  );
  await ledger.account("B9", "Bucket", { queued: 0, dead: 0 });
  expect(run.findings).toEqual([]);
  expect(repeated).toEqual([]);
});

const isRecord = { operations: ["PUT"], keys: "/log/" } as const;
const someWrites = { ...isRecord, chance: 0.4 };

test.each<{ name: string; faults: S3Fault[]; isRefusing: boolean }>([
  { name: "a latency with a long tail", faults: [{ kind: "latency", ms: 5, maxMs: 2_000 }], isRefusing: false },
  { name: "SlowDown", faults: [{ ...slowDown, retryAfterSeconds: 1, ...isRecord, chance: 0.2 }], isRefusing: false },
  { name: "lost answers", faults: [{ kind: "lost answer", ...someWrites }], isRefusing: false },
  { name: "errors of stored records", faults: [{ ...storedAlthough500, ...someWrites }], isRefusing: false },
  { name: "late writes", faults: [{ kind: "late", maxMs: 3_000, ...someWrites }], isRefusing: false },
  { name: "false 412", faults: [{ kind: "false 412", ...someWrites }], isRefusing: false },
  { name: "redirected reads", faults: [{ kind: "redirect" }], isRefusing: false },
  { name: "a full bucket", faults: [full], isRefusing: true },
  { name: "a revoked access key", faults: [denied], isRefusing: true },
])("B10: are available again after $name during load", { timeout: 90_000 }, async ({ name, faults, isRefusing }) => {
  await using s3 = await FaultyS3.start();
  // The ledger reads the bucket in this process.
  const variables = s3.variables();
  Object.assign(process.env, variables);
  const ledger = new Ledger(variables.INBOX_URL ?? "");
  // With less than the default of 20 s, a few failures in a row would be answered 503 too.
  const receiver = await startInboxReceiver({
    ...variables,
    ...{ url: variables.INBOX_URL ?? "", ledger, SPACE_ID: "me/receiver", SNAPSHOT_RECORDS: 20 },
    ...(isRefusing && { MAX_WAIT_MS: 5_000 }),
  });
  await receiver.stillWorks();
  s3.faults = faults;
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
  s3.faults = [];
  await waitFor(async () => expect((await receiver.deliver()).status).toBe(202));
  await receiver.stillWorks();
  const account = await ledger.account("B10", "Bucket", { queued: 0, dead: 0 });
  console.log(
    `B10 Bucket, ${name}: ${JSON.stringify(Object.fromEntries(statuses))}, longest answer ${Math.round(longestMs)} ms, ${account.lost} lost`,
  );
  expect([...statuses.keys()].filter((status) => status !== 202 && status !== 503)).toEqual([]);
  expect(statuses.has(503)).toBe(isRefusing);
  // A receiver with the limits above waits up to 5 s, others up to 20 s. The Hub waits 30 s.
  expect(longestMs).toBeLessThan(isRefusing ? 10_000 : 30_000);
});
