import type { Readable, Writable } from "node:stream";

/** An input stream. If it is a terminal, `isTTY` is set, and raw mode reads single keys. */
export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** An output stream. If it is a terminal, `isTTY` and the width in `columns` are set. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

/** The streams, environment variables, and signals of a run. Tests replace them. */
export interface Shell {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  /** Environment variables, such as `NO_COLOR` and `INBOX_URL`. */
  env: Readonly<Record<string, string | undefined>>;
  /**
   * Resolves when the process receives a signal or {@link Shell.stop} is called, for commands that run until stopped.
   */
  untilStopped(): Promise<void>;
  /** Stops the run like a first SIGINT. The next SIGINT exits the process immediately. */
  stop(): void;
}

/** Returns the streams, environment variables, and signals of this process. */
export function processShell(): Shell {
  const stopped = Promise.withResolvers<void>();
  // Stops the run at the first signal. The second signal exits the process immediately.
  const stop = () => {
    // Add the new listener before the old one is removed. Otherwise, a signal between the two calls has no listener.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1)).off(signal, stop);
    process.on("SIGHUP", () => {}).off("SIGHUP", stop);
    stopped.resolve();
  };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      // The reader, such as `| head -1`, closed the pipe, which is not a failure.
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
      // Closing a terminal sends SIGHUP more than once.
      if (process.stdin.isTTY) process.on("SIGHUP", stop);
      return stopped.promise;
    },
  };
}
