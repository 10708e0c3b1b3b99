import { WebhookError } from "../core/errors.ts";

/** The signals with which a process is asked to end. */
const endingSignals = ["SIGTERM", "SIGINT"] as const;

/** The error that a handler's signal is aborted with when its job is asked to end. */
export function jobIsToEnd(): WebhookError {
  return new WebhookError("The job was asked to end: run it again for what was left undone.", { code: "CLOSING" });
}

/**
 * A signal that the first SIGTERM or SIGINT to this process aborts. The second one ends the process with 1: by itself
 * it would not where the process is the first of a container. `release()` leaves the process alone again.
 */
export function abortedBySignals(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(jobIsToEnd());
  };
  for (const name of endingSignals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    release() {
      for (const name of endingSignals) process.off(name, onSignal);
    },
  };
}
