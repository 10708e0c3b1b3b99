import type { Readable, Writable } from "node:stream";

/** A stream to read from; on a terminal, `isTTY` is set and raw mode passes single keys. */
export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** A stream to write to; on a terminal, `isTTY` and its width are set. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

/** The environment of a run, which tests replace. */
export interface Shell {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  /** Environment variables that the command line itself reads, such as `NO_COLOR` and `INBOX_URL`. */
  env: Readonly<Record<string, string | undefined>>;
  /** For commands that run until stopped. Resolves on a signal, or on {@link Shell.stop}. */
  untilStopped(): Promise<void>;
  /** Stops the run, as the first SIGINT does: the next one exits immediately. */
  stop(): void;
}

/** The shell of this process. */
export function processShell(): Shell {
  const stopped = Promise.withResolvers<void>();
  // From then on a signal exits the process immediately, with everything it has started.
  const stop = () => {
    // Added before removing: Node drops a simultaneous signal if there is a moment without a listener.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1)).off(signal, stop);
    process.on("SIGHUP", () => {}).off("SIGHUP", stop);
    stopped.resolve();
  };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      // The reader has closed the pipe, as `| head -1` does: not a failure.
      stop();
    });
  }
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    stop,
    untilStopped() {
      process.on("SIGINT", stop).on("SIGTERM", stop);
      // Closing a terminal sends SIGHUP, more than once.
      if (process.stdin.isTTY) process.on("SIGHUP", stop);
      return stopped.promise;
    },
  };
}
