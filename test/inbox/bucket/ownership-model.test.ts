// @module-tag slow

import fc from "fast-check";
import { expect, test } from "vitest";
import { heartbeatPrefix, recordPrefix } from "../../../src/inbox/bucket/log.ts";
import { incoming } from "../engine.ts";
import { type Process, World } from "./bucket-world.ts";

/** Set `RUNS=500` for a longer search. */
const numRuns = Number(process.env.RUNS ?? 4);
const maxProcesses = 3;
/** How long processes have to open the inbox in the end at least, in real milliseconds. */
const minOpeningMs = 5_000;

/** Processes that open one inbox. Each step is decided by a number. */
class Simulation {
  readonly #world = new World();
  readonly #acknowledged: string[] = [];
  readonly #started: Process[] = [];
  #running: Process[] = [];
  #deliveries = 0;

  constructor() {
    this.#world.findsRequestsAtOnce = true;
  }

  async step(choice: number): Promise<void> {
    const { clock, store } = this.#world;
    const [action, picked] = [choice % 16, Math.floor(choice / 16)];
    const process = this.#running[picked % maxProcesses];
    if (this.#running.length === 0 || action < 3) this.#start(picked % 4 === 0 ? undefined : "acme/receiver");
    else if (action < 5) await clock.advance((picked % 40) * 50);
    else if (action === 5) await clock.advance((picked % 4) * 20_000);
    else if (action === 6 && store.late > 0) store.runLate(picked % store.late);
    else if (process === undefined) await clock.advance(1_000);
    else if (action < 11) this.#deliver(process, 1 + (picked % 3));
    else if (action === 11) this.#toggle(process);
    else if (action === 12) this.#kill(process);
    else if (action === 13) await this.#close(process);
    else this.#delayNext(process, { prefix: picked % 3 === 0 ? heartbeatPrefix : recordPrefix, isLast: action === 14 });
    await clock.advance(100);
  }

  #start(spaceId: string | undefined): void {
    if (this.#running.length === maxProcesses) return;
    const started: Process = this.#world.start({ spaceId, onFailure: () => this.#kill(started) });
    this.#running.push(started);
    this.#started.push(started);
  }

  #deliver({ inbox }: Process, count: number): void {
    for (let index = 0; index < count; index += 1) {
      this.#deliveries += 1;
      const id = `delivery ${this.#deliveries}`;
      inbox.accept(incoming(id, { body: "{}" })).then(
        () => this.#acknowledged.push(id),
        () => {},
      );
    }
  }

  #toggle({ name }: Process): void {
    const { paused } = this.#world.clock;
    if (!paused.delete(name)) paused.add(name);
  }

  #kill(process: Process): void {
    process.kill();
    this.#running = this.#running.filter((other) => other !== process);
  }

  async #close(process: Process): Promise<void> {
    this.#world.clock.paused.delete(process.name);
    let isClosed = false;
    void process.inbox.close(0).then(() => {
      isClosed = true;
    });
    // A fault can kill the process in the meantime.
    await this.#world.clock.until(() => isClosed || !this.#running.includes(process));
    this.#running = this.#running.filter((other) => other !== process);
  }

  /** The next object that a process stores is stored late. `isLast`: the process dies after its request. */
  #delayNext(process: Process, { prefix, isLast }: { prefix: string; isLast: boolean }): void {
    const { fault } = this.#world;
    this.#world.fault = (request) => {
      if (request.process !== process.name || request.method !== "put" || !request.key.startsWith(prefix)) {
        return fault(request);
      }
      this.#world.fault = fault;
      if (isLast) this.#kill(process);
      return "late";
    };
  }

  /** After all faults have ended, one process serves, and each of the others serves after it. Then, one takes over from another. */
  async finish(): Promise<void> {
    const { clock, store } = this.#world;
    clock.paused.clear();
    this.#world.fault = () => undefined;
    while (store.late > 0) store.runLate(0);
    this.#start("acme/receiver");
    this.#world.latencyMs = 100;
    while (this.#running.length > 0) {
      const owner = await this.#untilOneServes();
      const { deliveries } = await owner.inbox.list({ limit: 1_000 });
      expect(deliveries.map(({ id }) => id)).toEqual(expect.arrayContaining(this.#acknowledged));
      await this.#close(owner);
    }
    for (let next = 0; next < 2; next += 1) {
      this.#start("acme/receiver");
      expect(await this.#untilOneServes()).toBe(this.#started.at(-1));
    }
    for (const process of this.#running) await this.#close(process);
  }

  /**
   * Waits until one process, and always the same, accepts deliveries for a minute. Opening an inbox also takes real time for files and
   * threads.
   */
  async #untilOneServes(): Promise<Process> {
    const { clock } = this.#world;
    const startedAt = Date.now();
    let owner: Process | undefined;
    let rounds = 0;
    for (let round = 0; round < 24 || Date.now() - startedAt < minOpeningMs; round += 1) {
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const serving: Process[] = [];
      for (const process of this.#running) if (await process.accepts()) serving.push(process);
      const only = serving.length === 1 ? serving[0] : undefined;
      rounds = only !== undefined && only === owner ? rounds + 1 : 0;
      owner = only;
      if (owner && rounds === 6) return owner;
    }
    const states = this.#running.map(({ name, logger }) => `${name}: ${logger.lines.map(({ msg }) => msg).join(" ")}`);
    throw new Error(`No process keeps the inbox. ${states.join("\n")}`);
  }

  /** What the simulation has reached. */
  get found() {
    const opened = this.#started.map(
      ({ logger }) => logger.lines.filter(({ msg }) => /Opened the inbox/.test(String(msg))).length,
    );
    return {
      acknowledged: this.#acknowledged.length,
      opened: opened.reduce((sum, count) => sum + count, 0),
      reopened: opened.filter((count) => count > 1).length,
      requested: this.#world.store.requests.filter(({ method, key }) => method === "put" && key.startsWith("yield/"))
        .length,
    };
  }
}

test("of processes that take over an inbox from each other, one serves in the end, and nothing is lost", {
  timeout: 20_000 + 5_000 * numRuns,
}, async () => {
  const found: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(16 * 120 - 1), { minLength: 20, maxLength: 40 }), async (choices) => {
      const simulation = new Simulation();
      for (const choice of choices) await simulation.step(choice);
      await simulation.finish();
      for (const [name, count] of Object.entries(simulation.found)) found[name] = (found[name] ?? 0) + count;
    }),
    // A smaller counterexample would take minutes.
    { numRuns, endOnFailure: true },
  );
  if (process.env.RUNS !== undefined) console.log(`${numRuns} runs: ${JSON.stringify(found)}`);
  expect(found.opened).toBeGreaterThan(2 * numRuns);
});
