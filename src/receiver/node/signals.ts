import type { Logger } from "../../core/logger.ts";

/** What {@link handleSignals} needs. */
export interface SignalOptions {
  /** Ends the work; returns whether all of it was finished. */
  close: () => Promise<boolean>;
  log: () => Logger;
}

/**
 * Makes the process a server's: the first SIGTERM or SIGINT finishes what is in work and exits with 0, or with 1 when
 * that took too long; the second one exits at once. A rejection that nobody handles, such as of a promise that a
 * handler left behind, is logged and survived. Returns the function that leaves the process alone again.
 */
export function handleSignals({ close, log }: SignalOptions): () => void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log().info(`${signal}: finishing what is in work. Once more ends it at once.`);
    close().then(
      (complete) => {
        if (!complete) log().error("Some work took longer than shutdownGrace and was cut off.");
        process.exit(complete ? 0 : 1);
      },
      (error) => {
        log().error({ err: error }, "The server could not be closed.");
        process.exit(1);
      },
    );
  };
  const onRejection = (reason: unknown) => {
    log().error({ err: reason }, "A promise was rejected and nobody handled it; the server goes on.");
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("unhandledRejection", onRejection);
  return () => {
    process.off("SIGTERM", onSignal).off("SIGINT", onSignal).off("unhandledRejection", onRejection);
  };
}
