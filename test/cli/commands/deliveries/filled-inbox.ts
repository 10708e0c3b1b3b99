import { readFileSync, writeFileSync } from "node:fs";
import { WebhookError } from "../../../../src/core/errors.ts";
import { createRetryPolicy } from "../../../../src/inbox/retry.ts";
import type { SqliteInbox } from "../../../../src/inbox/sqlite/sqlite-inbox.ts";
import { inboxFile } from "../../../inbox/inbox-file.ts";
import { incoming, openInbox, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { waitFor } from "../../../support/wait-for.ts";

/** The fixed time of a still inbox. */
export const hour = "2026-09-01T10:00:00.000Z";

/** Timeouts for waiting for a worker or another process, much longer than usually needed. */
export const slowPoll = { timeout: 15_000, interval: 5 };

/** An inbox, and the environment that makes the command line use it. */
export interface NamedInbox {
  inbox: SqliteInbox;
  file: string;
  url: string;
  env: Record<string, string>;
}

/** Opens a new inbox file with a fixed clock. */
export function stillInbox(file?: string): NamedInbox {
  return named(openInbox({ now: () => Date.parse(hour), ...(file !== undefined && { file }) }));
}

/** Opens a new inbox file with the system clock. */
export function livelyInbox(): NamedInbox {
  return named(openInbox());
}

/** The filled inbox files of this process, by the reason of their dead delivery. */
const filledFiles = new Map<string, Promise<Buffer>>();

/**
 * Creates a still inbox with three deliveries, oldest first: `good` of `retrain` has succeeded, `bad` is dead after two
 * attempts, and `new` of `notify` is queued. Replayed deliveries do not run, because no receiver is open.
 */
export async function filledInbox({ reason = "The trainer is gone." } = {}): Promise<NamedInbox> {
  const content = filledFiles.get(reason) ?? fillFile(reason);
  filledFiles.set(reason, content);
  const file = inboxFile();
  writeFileSync(file, await content);
  return stillInbox(file);
}

async function fillFile(reason: string): Promise<Buffer> {
  const { inbox, file } = stillInbox();
  for (const id of ["good", "bad"]) await inbox.accept(received(id));
  await inbox.accept(received("new", { endpoint: "notify" }));
  const error = new WebhookError("It failed.", {
    code: "HANDLER_FAILED",
    retryable: true,
    cause: new Error(reason),
  });
  const run = (id: string) =>
    id === "good" ? succeeded : { status: "failed" as const, error, retryAt: new Date(hour) };
  work(inbox, ({ id }) => run(id), { policy: createRetryPolicy({ attempts: 2, backoff: { first: 1, max: 1 } }) });
  await settled(inbox, ["good", "bad"]);
  await inbox.close(1_000);
  return readFileSync(file);
}

/** Returns a delivery received at the fixed time. */
export function received(id: string, options: { endpoint?: string; body?: string } = {}) {
  return { ...incoming(id, options), receivedAt: new Date(hour) };
}

/** Resolves when these deliveries of `retrain` have succeeded or become dead. */
export function settled(inbox: SqliteInbox, ids: readonly string[]): Promise<void> {
  return waitFor(async () => {
    for (const id of ids) {
      const found = await inbox.get({ id, endpoint: "retrain" });
      if (found?.finishedAt === undefined) throw new Error(`${id} is ${found?.status}.`);
    }
  }, slowPoll);
}

function named({ inbox, file }: { inbox: SqliteInbox; file: string }): NamedInbox {
  const url = `sqlite:${file}`;
  return { inbox, file, url, env: { INBOX_URL: url, NO_COLOR: "1" } };
}
