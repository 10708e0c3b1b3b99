import { Queue } from "./queue.ts";

interface Lane {
  waiting: Queue<() => Promise<void>>;
  underWay: number;
}

/**
 * Runs tasks in lanes, each with a bound of its own: what waits behind a slow one in its lane does not hold up the
 * others.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<Promise<void>>();
  readonly #atOnce: number;
  #stopped = false;

  /** `atOnce`: how many tasks of a lane run at the same time. */
  constructor({ atOnce }: { atOnce: number }) {
    this.#atOnce = atOnce;
  }

  /** Runs a task, at once or when those before it in the lane have ended. It must not reject. */
  run(name: string, task: () => Promise<void>): void {
    const lane = this.#lanes.get(name) ?? { waiting: new Queue(), underWay: 0 };
    this.#lanes.set(name, lane);
    lane.waiting.push(task);
    this.#proceed(name, lane);
  }

  /** Begins no further task, and waits for those that run. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  #proceed(name: string, lane: Lane): void {
    while (lane.underWay < this.#atOnce && !this.#stopped) {
      const task = lane.waiting.shift();
      if (!task) break;
      lane.underWay += 1;
      const running = task().finally(() => {
        lane.underWay -= 1;
        this.#running.delete(running);
        this.#proceed(name, lane);
      });
      this.#running.add(running);
    }
    if (lane.underWay === 0) this.#lanes.delete(name);
  }
}
