import { messageOf } from "../../core/describe-error.ts";
import type { InboxProblem } from "../inbox.ts";
import type { DamageLog } from "./damage-log.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { InboxFile } from "./inbox-file.ts";
import type { QueueWorker } from "./queue-worker.ts";

/** What {@link findProblems} looks at. */
export interface Examined {
  file: InboxFile;
  commit: GroupCommit;
  damage: DamageLog;
  workers: readonly QueueWorker[];
  /** Writes something small, in a transaction. */
  probe: () => void;
}

/** How long the write that is tried may take, in milliseconds. */
const maxProbeMs = 2_000;
/** For how long a worker may be unable to take deliveries, in milliseconds, before that is a problem. */
const stalledAfterMs = 10_000;

/** Finds what keeps an inbox from its work; never rejects. Only when the last write has failed, another one is tried. */
export async function findProblems(examined: Examined): Promise<InboxProblem[]> {
  const problems = [await findStoreProblem(examined), examined.damage.problem(), findStall(examined)];
  return problems.filter((problem) => problem !== undefined);
}

async function findStoreProblem({ file, commit, probe }: Examined): Promise<InboxProblem | undefined> {
  if (commit.failure !== undefined || file.problem) {
    const failure = await failureOf(commit.write(probe));
    if (file.problem) return file.problem;
    if (failure !== undefined) {
      return unavailable(`The inbox cannot be written: ${failure} Check its disk and the permissions of its files.`);
    }
  }
  try {
    if (file.hasSpace()) return undefined;
  } catch (error) {
    return unavailable(
      `The inbox cannot be read: ${messageOf(error)} Check its disk and the permissions of its files.`,
    );
  }
  return unavailable("The disk of the inbox is almost full, so deliveries are refused. Free some space.");
}

/** What a write failed with, if it did. */
async function failureOf(write: Promise<void>): Promise<string | undefined> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve("Another process holds its lock."), maxProbeMs);
  const failed = write.then(
    () => undefined,
    (error: unknown) => messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error),
  );
  return Promise.race([failed, late.promise]).finally(() => clearTimeout(timer));
}

function findStall({ workers }: Examined): InboxProblem | undefined {
  const stalled = workers.filter(({ failingMs }) => failingMs > stalledAfterMs);
  if (stalled.length === 0) return undefined;
  const names = stalled.map(({ queue }) => `"${queue.endpoint}"`).join(", ");
  return {
    code: "INBOX_STALLED",
    severity: stalled.length === workers.length ? "unavailable" : "degraded",
    message: `No delivery of ${names} could be taken out of the inbox for more than ${stalledAfterMs / 1_000} seconds. The log of the receiver has the reason.`,
  };
}

function unavailable(message: string): InboxProblem {
  return { code: "INBOX_UNAVAILABLE", severity: "unavailable", message };
}
