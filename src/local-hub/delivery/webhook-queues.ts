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
  readonly #atOnce: number;
  #running = 0;
  /** Resolved when no task runs any more, once it is stopped. */
  #stopped: PromiseWithResolvers<void> | undefined;

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
  stop(): Promise<void> {
    this.#stopped ??= Promise.withResolvers();
    if (this.#running === 0) this.#stopped.resolve();
    return this.#stopped.promise;
  }

  #proceed(name: string, lane: Lane): void {
    while (lane.underWay < this.#atOnce && !this.#stopped) {
      const task = lane.waiting.shift();
      if (!task) break;
      lane.underWay += 1;
      this.#running += 1;
      void task().finally(() => {
        lane.underWay -= 1;
        this.#running -= 1;
        this.#proceed(name, lane);
        if (this.#running === 0) this.#stopped?.resolve();
      });
    }
    if (lane.underWay === 0) this.#lanes.delete(name);
  }
}

interface Link<Item> {
  item: Item;
  next?: Link<Item>;
}

/** First in, first out. The `shift` of a long array moves all that is left in it; this one does not. */
export class Queue<Item> {
  #first: Link<Item> | undefined;
  #last: Link<Item> | undefined;

  push(item: Item): void {
    const link: Link<Item> = { item };
    if (this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
  }

  shift(): Item | undefined {
    const link = this.#first;
    this.#first = link?.next;
    if (!this.#first) this.#last = undefined;
    return link?.item;
  }
}
