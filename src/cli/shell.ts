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
  /** Resolves when the run is asked to end, for commands that run until then. */
  untilStopped(): Promise<void>;
}

/** The shell of this process. */
export function processShell(): Shell {
  // Whoever read it has had enough, as with `| head -1`: that is no failure.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreBrokenPipe);
  return { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env, untilStopped };
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/**
 * The first SIGINT or SIGTERM resolves it; a second one ends the process at once, and with it what it has started. So
 * does SIGHUP where there is a terminal to be closed, which says so more than once and must not cut anything off.
 */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop).on(signal, () => process.exit(1));
      resolve();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
    if (process.stdin.isTTY) process.on("SIGHUP", stop);
  });
}
