import { expect, onTestFinished, vi } from "vitest";
import type { Outcome } from "../../../src/delivery.ts";
import { WebhookError } from "../../../src/errors.ts";
import type { QueueOptions, Task } from "../../../src/inbox/inbox.ts";
import { createRetryPolicy } from "../../../src/inbox/retry-policy.ts";
import { SqliteInbox, type SqliteInboxOptions } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { inboxFile } from "../open-file.ts";

export const succeeded: Outcome = { status: "succeeded", result: undefined };

/** How a handler fails. */
export function failed(options: { retryable?: boolean; retryAt?: Date } = {}): Outcome {
  const { retryable = true, retryAt } = options;
  const error = new WebhookError("It failed.", { code: "HANDLER_FAILED", retryable });
  return { status: "failed", error, ...(retryAt && { retryAt }) };
}

/** Opens an inbox that looks around every few milliseconds; it is closed when the test is over. */
export function openInbox(options: Partial<SqliteInboxOptions> = {}) {
  const logger = createMemoryLogger();
  const file = options.file ?? inboxFile();
  const inbox = new SqliteInbox({ now: Date.now, pollMs: 20, log: () => logger, ...options, file });
  onTestFinished(() => inbox.close(1_000));
  return { inbox, file, logger };
}

/** Works on an endpoint, and keeps what was run. */
export function work(
  inbox: SqliteInbox,
  run: (task: Task, signal: AbortSignal) => Outcome | Promise<Outcome>,
  queue: Partial<QueueOptions> = {},
): Task[] {
  const runs: Task[] = [];
  inbox.work({
    endpoint: "retrain",
    concurrency: 4,
    policy: createRetryPolicy({ attempts: 3, backoff: { first: 1, longest: 5 } }),
    retentionMs: 60_000,
    ...queue,
    run: async (task, signal) => {
      runs.push(task);
      return run(task, signal);
    },
  });
  return runs;
}

/** A delivery that came just now. */
export function arrival(id: string, { endpoint = "retrain", body = `{"id":"${id}"}` } = {}) {
  return { id, endpoint, body, receivedAt: new Date() };
}

/** Waits until a delivery has this status, and returns it. */
export async function reached(inbox: SqliteInbox, id: string, status: string) {
  return vi.waitFor(
    async () => {
      const found = await inbox.get({ id, endpoint: "retrain" });
      expect(found).toMatchObject({ status });
      return found;
    },
    { interval: 5, timeout: 10_000 },
  );
}
