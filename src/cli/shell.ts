import type { Readable, Writable } from "node:stream";

/** A stream that a run reads from; `isTTY` where a person types into it, and there keys can come one by one. */
export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** A stream that a run writes to; on a terminal it says so, and how wide that is. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

/** All that a run of the command line has around it, so that a test can put something else there. */
export interface Shell {
  stdin: InputStream;
  stdout: OutputStream;
  stderr: OutputStream;
  /** The environment, as far as the command line itself reads it: `NO_COLOR`, `INBOX_URL`, and for `trigger` and `sync` more. */
  env: Readonly<Record<string, string | undefined>>;
  /** Resolves when the run is asked to end, for commands that run until then: by a signal, or by {@link Shell.stop}. */
  untilStopped(): Promise<void>;
  /** Asks the run to end, as the first SIGINT does: the next one ends it at once. */
  stop(): void;
}

/** The shell of this process. */
export function processShell(): Shell {
  const stopped = Promise.withResolvers<void>();
  // From then on a signal ends the process at once, and with it what it has started.
  const stop = () => {
    // Added first: Node drops a signal that arrives together with this one where a moment passes without a listener.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1)).off(signal, stop);
    process.on("SIGHUP", () => {}).off("SIGHUP", stop);
    stopped.resolve();
  };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      // Whoever read it has had enough, as with `| head -1`: that is no failure.
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
      // A terminal that is closed says so, and more than once.
      if (process.stdin.isTTY) process.on("SIGHUP", stop);
      return stopped.promise;
    },
  };
}
