import { WebhookError } from "../../../../src/core/errors.ts";
import { createRetryPolicy } from "../../../../src/inbox/retry-policy.ts";
import type { SqliteInbox } from "../../../../src/inbox/sqlite/sqlite-inbox.ts";
import { incoming, openInbox, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { waitFor } from "../../../support/wait-for.ts";

/** When everything in a still inbox has happened. */
export const hour = "2026-09-01T10:00:00.000Z";

/** How long a test waits for what another process or a worker does: far longer than it takes. */
export const patiently = { timeout: 15_000, interval: 5 };

/** An inbox, and how the command line is told of it. */
export interface NamedInbox {
  inbox: SqliteInbox;
  file: string;
  url: string;
  env: Record<string, string>;
}

/** An inbox on a file of its own, whose clock stands still. */
export function stillInbox(file?: string): NamedInbox {
  return named(openInbox({ now: () => Date.parse(hour), ...(file !== undefined && { file }) }));
}

/** An inbox on a file of its own, with the clock of this machine. */
export function livelyInbox(): NamedInbox {
  return named(openInbox());
}

/**
 * A still inbox with three deliveries, oldest first: `good` of `retrain` has succeeded, `bad` is dead after two
 * attempts, `new` of `notify` waits. Nothing runs what the command line replays: the receiver that filled it is closed.
 */
export async function filledInbox({ reason = "The trainer is gone." } = {}): Promise<NamedInbox> {
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
  return stillInbox(file);
}

/** A delivery that came when the clock stood still. */
export function received(id: string, options: { endpoint?: string; body?: string } = {}) {
  return { ...incoming(id, options), receivedAt: new Date(hour) };
}

/** Resolves when these deliveries of `retrain` have succeeded or died. */
export function settled(inbox: SqliteInbox, ids: readonly string[]): Promise<void> {
  return waitFor(async () => {
    for (const id of ids) {
      const found = await inbox.get({ id, endpoint: "retrain" });
      if (found?.finishedAt === undefined) throw new Error(`${id} is ${found?.status}.`);
    }
  }, patiently);
}

function named({ inbox, file }: { inbox: SqliteInbox; file: string }): NamedInbox {
  const url = `sqlite:${file}`;
  return { inbox, file, url, env: { INBOX_URL: url, NO_COLOR: "1" } };
}
