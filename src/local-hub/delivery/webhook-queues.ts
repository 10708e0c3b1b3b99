/** Runs deliveries in one queue per webhook, so that a slow receiver does not delay other webhooks. */
export class WebhookQueues {
  readonly #queues = new Map<string, WebhookQueue>();
  readonly #maxConcurrent: number;
  #running = 0;
  #stopped: PromiseWithResolvers<void> | undefined;

  /** @param options.maxConcurrent the maximum number of tasks of one webhook that run at the same time. */
  constructor({ maxConcurrent }: { maxConcurrent: number }) {
    this.#maxConcurrent = maxConcurrent;
  }

  /** Adds a task to the queue of a webhook. The task must not reject. */
  add(webhookId: string, task: Task): void {
    const queue = this.#queues.get(webhookId) ?? { waiting: new Queue(), running: 0 };
    this.#queues.set(webhookId, queue);
    queue.waiting.push(task);
    this.#runNext(webhookId, queue);
  }

  /** Stops starting tasks. Resolves when all running tasks have ended. */
  stop(): Promise<void> {
    this.#stopped ??= Promise.withResolvers();
    if (this.#running === 0) this.#stopped.resolve();
    return this.#stopped.promise;
  }

  #runNext(webhookId: string, queue: WebhookQueue): void {
    while (queue.running < this.#maxConcurrent && !this.#stopped) {
      const task = queue.waiting.shift();
      if (!task) break;
      queue.running += 1;
      this.#running += 1;
      void task().finally(() => {
        queue.running -= 1;
        this.#running -= 1;
        this.#runNext(webhookId, queue);
        if (this.#running === 0) this.#stopped?.resolve();
      });
    }
    if (queue.running === 0) this.#queues.delete(webhookId);
  }
}

type Task = () => Promise<void>;

interface WebhookQueue {
  waiting: Queue<Task>;
  running: number;
}

interface Link<Item> {
  item: Item;
  next?: Link<Item>;
}

/** A queue, implemented as a linked list, because `shift` on a long array moves all remaining items. */
class Queue<Item> {
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
