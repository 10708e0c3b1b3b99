import type { Readable, Writable } from "node:stream";

/** An input stream. On a terminal, `isTTY` is set and raw mode delivers single keys. */
export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** An output stream. On a terminal, `isTTY` and the width are set. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

/** The environment of a run, which tests replace. */
export interface Shell {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  /** The environment variables that the command line reads, such as `NO_COLOR` and `INBOX_URL`. */
  env: Readonly<Record<string, string | undefined>>;
  /** For commands that run until stopped. Resolves on a signal, or on {@link Shell.stop}. */
  untilStopped(): Promise<void>;
  /** Stops the run like the first SIGINT. The next SIGINT exits the process immediately. */
  stop(): void;
}

/** The shell of this process. */
export function processShell(): Shell {
  const stopped = Promise.withResolvers<void>();
  // After the first signal, another signal immediately ends the process and everything that it has started.
  const stop = () => {
    // The new listener is added before the old one is removed, because Node drops a signal that has no listener.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1)).off(signal, stop);
    process.on("SIGHUP", () => {}).off("SIGHUP", stop);
    stopped.resolve();
  };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      // A reader such as `| head -1` has closed the pipe, which is not a failure.
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
