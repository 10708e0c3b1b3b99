import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";

/** Handles a process's signals and unhandled rejections for a server. */
export interface ProcessManager {
  /**
   * `undefined` until a signal starts to close the server. Afterward, a promise that never settles, so that code that
   * awaits it does not run before the process exits.
   */
  readonly exiting: Promise<never> | undefined;
  /** Logs the error of a failed launch and exits the process with code 1. Returns if the error is not a `WebhookError`. */
  exitAfter(error: unknown): void;
  release(): void;
}

/**
 * Handles signals and unhandled rejections. The first SIGTERM or SIGINT closes the server and exits the process. The exit
 * code is 1 if requests were interrupted at the end of the grace period, because their clients received no response.
 * Otherwise, the exit code is 0, even if background deliveries were interrupted, because these deliveries run again. The
 * second signal exits the process immediately with code 1. Unhandled rejections, such as rejections of promises that a
 * handler does not await, are logged and do not crash the process.
 *
 * @param close closes the server, and returns whether all requests in progress finished in time.
 */
export function manageProcess(close: () => Promise<boolean>, log: Logger): ProcessManager {
  let exiting: Promise<never> | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (exiting) process.exit(1);
    exiting = new Promise(() => {});
    log.info(`Received ${signal}. Waiting for running deliveries. Send the signal again to exit immediately.`);
    close().then(
      (complete) => {
        if (!complete) {
          log.error(
            'Some requests did not finish within "shutdownGrace" and were interrupted. Increase "shutdownGrace" if your handlers need more time.',
          );
        }
        process.exit(complete ? 0 : 1);
      },
      (error) => {
        log.error({ err: error }, "The server could not be closed.");
        process.exit(1);
      },
    );
  };
  const onRejection = (reason: unknown) => {
    log.error(
      { err: reason },
      "Unhandled promise rejection. The server keeps running. Await the promise, or handle its rejection.",
    );
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("unhandledRejection", onRejection);
  return {
    get exiting() {
      return exiting;
    },
    exitAfter(error) {
      if (!WebhookError.isInstance(error)) return;
      log.error({ code: error.code }, error.message);
      process.exit(1);
    },
    release() {
      process.off("SIGTERM", onSignal).off("SIGINT", onSignal).off("unhandledRejection", onRejection);
    },
  };
}
