import type { DeadReplayed, DeliveryKey, ReplayFailure } from "../../console/protocol/deliveries.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { withInboxDeadline } from "./inbox-deadline.ts";

/** How many deliveries are replayed at the same time. */
const replaysAtOnce = 100;
/** How long one replay may take. */
const timeoutMs = 10_000;

export interface ReplayDeadOptions {
  /** When to start no more replays, as `performance.now()` measures the time. */
  stopAt: number;
  /** Called after each replay, successful or not. */
  onReplayed: (key: DeliveryKey) => void;
  log: Logger;
  /** Replaces secrets in the message of an error. */
  mask: (message: string) => string;
}

/** Replays deliveries until all are replayed, or until `stopAt`. A failed replay does not stop the others. */
export async function replayAll(
  inbox: Pick<Inbox, "replay">,
  keys: readonly DeliveryKey[],
  { stopAt, onReplayed, log, mask }: ReplayDeadOptions,
): Promise<DeadReplayed> {
  const failures = new Map<string, ReplayFailure>();
  let [replayed, failed, next] = [0, 0, 0];
  const replay = async (key: DeliveryKey) => {
    try {
      await withInboxDeadline(inbox.replay(key), timeoutMs);
      replayed += 1;
    } catch (thrown) {
      const { code, message } = toWebhookError(thrown);
      const known = failures.get(code);
      if (!known) log.error({ ...key, code, err: thrown }, "A dead delivery could not be replayed.");
      failures.set(code, { code, error: known?.error ?? mask(message), count: (known?.count ?? 0) + 1 });
      failed += 1;
    }
    onReplayed(key);
  };
  while (next < keys.length && performance.now() < stopAt) {
    await Promise.all(keys.slice(next, next + replaysAtOnce).map(replay));
    next += replaysAtOnce;
  }
  const sorted = [...failures.values()].sort((one, other) => other.count - one.count);
  return { replayed, failed, failures: sorted, isMore: next < keys.length };
}

function toWebhookError(thrown: unknown): WebhookError {
  if (WebhookError.isInstance(thrown) && thrown.code !== "INTERNAL") return thrown;
  return new WebhookError("The inbox could not replay the delivery. See the log of the server for the cause.", {
    code: "INTERNAL",
    status: 500,
    cause: thrown,
  });
}
