import type { Logger } from "../../core/logger.ts";

interface SignalOptions {
  /** Closes the server. Returns whether everything in progress finished in time. */
  close: () => Promise<boolean>;
  log: () => Logger;
}

/**
 * On the first SIGTERM or SIGINT, closes the server and exits with 0, or with 1 if that takes too long. On the second one,
 * exits at once. Logs unhandled rejections, such as those of promises that a handler does not await, instead of crashing.
 * Returns the function that stops all this.
 */
export function handleSignals({ close, log }: SignalOptions): () => void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log().info(`Received ${signal}: finishing the deliveries in progress. Send it again to exit at once.`);
    close().then(
      (complete) => {
        if (!complete) log().error("Some deliveries took longer than shutdownGrace and were interrupted.");
        process.exit(complete ? 0 : 1);
      },
      (error) => {
        log().error({ err: error }, "The server could not be closed.");
        process.exit(1);
      },
    );
  };
  const onRejection = (reason: unknown) => {
    log().error({ err: reason }, "Unhandled promise rejection. The server keeps running.");
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("unhandledRejection", onRejection);
  return () => {
    process.off("SIGTERM", onSignal).off("SIGINT", onSignal).off("unhandledRejection", onRejection);
  };
}
