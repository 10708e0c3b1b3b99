import { messageOf } from "../../core/describe.ts";
import type { InboxProblem } from "../inbox.ts";
import type { DamageTracker } from "./damage-tracker.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { InboxFile } from "./inbox-file.ts";

/** The parts of an inbox that {@link findProblems} checks. */
export interface ProblemSources {
  file: InboxFile;
  groupCommit: GroupCommit;
  damage: DamageTracker;
  workers: readonly EndpointWorker[];
  /** Writes a row to check that the file is writable. Called within a transaction. */
  storageCheck: () => void;
}

/** The timeout of the storage check. */
const storageCheckMs = 2_000;
/** If claims of a worker fail for longer than this time in milliseconds, the inbox reports a problem. */
const stalledAfterMs = 10_000;

/**
 * Finds the problems of an inbox. Never rejects. Checks the storage with a write only if the last write failed or the
 * file is gone.
 */
export async function findProblems(sources: ProblemSources): Promise<InboxProblem[]> {
  const problems = [await findStorageProblem(sources), sources.damage.problem(), findStall(sources)];
  return problems.filter((problem) => problem !== undefined);
}

async function findStorageProblem({
  file,
  groupCommit,
  storageCheck,
}: ProblemSources): Promise<InboxProblem | undefined> {
  if (groupCommit.failure !== undefined || file.problem) {
    const failure = await failureOf(groupCommit.write(storageCheck));
    if (file.problem) return file.problem;
    if (failure !== undefined) {
      return unavailable(
        `The inbox is not writable (${failure}). Check the disk of the inbox and the permissions of its files.`,
      );
    }
  }
  try {
    if (file.hasSpace()) return undefined;
  } catch (error) {
    return unavailable(
      `The inbox is not readable (${messageOf(error)}). Check the disk of the inbox and the permissions of its files.`,
    );
  }
  return unavailable("The disk of the inbox is almost full, and new deliveries are rejected. Free some disk space.");
}

/** Returns the error message of a write, or `undefined` if the write succeeds. */
async function failureOf(write: Promise<void>): Promise<string | undefined> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve("another process holds the lock"), storageCheckMs);
  const failed = write.then(
    () => undefined,
    (error: unknown) => messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error),
  );
  return Promise.race([failed, late.promise]).finally(() => clearTimeout(timer));
}

function findStall({ workers }: ProblemSources): InboxProblem | undefined {
  const stalled = workers.filter(({ failingMs }) => failingMs > stalledAfterMs);
  if (stalled.length === 0) return undefined;
  const names = stalled.map(({ queue }) => `"${queue.endpoint}"`).join(", ");
  return {
    code: "INBOX_STALLED",
    severity: stalled.length === workers.length ? "unavailable" : "degraded",
    message: `Deliveries of ${names} could not be claimed for more than ${stalledAfterMs / 1_000} s. See the server's log for the error.`,
  };
}

function unavailable(message: string): InboxProblem {
  return { code: "INBOX_UNAVAILABLE", severity: "unavailable", message };
}
