import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram, startProgram } from "../program.ts";
import { homeOf, type Image } from "./build.ts";

/** A running image: its `CMD`, as its user. */
export interface Container {
  pid: number | undefined;
  /** All that it wrote so far. */
  output(): string;
  /** Waits until its `HEALTHCHECK` succeeds. */
  healthy(): Promise<void>;
  /** Sends a signal, as `docker stop` does, and returns the exit code; after ten seconds it is killed. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Its exit code, once it has ended; `null` if it was killed. */
  ended: Promise<number | null>;
}

/** What {@link startContainer} may be told. */
export interface ContainerOptions {
  environment?: Record<string, string>;
  onOutput?: (text: string) => void;
}

const healthDeadlineMs = 20_000;
const healthIntervalMs = 200;
const stopGraceMs = 10_000;

/** Starts the `CMD` of an image. */
export function startContainer(image: Image, { environment, onOutput }: ContainerOptions = {}): Container {
  const options = {
    cwd: join(image.root, image.workdir),
    env: { HOME: join(image.root, homeOf(image.user)), ...image.environment, ...environment },
    uid: image.user,
    gid: image.user,
    // A group of its own: Ctrl+C in a terminal does not reach it twice, and it can be ended as a whole.
    detached: true,
  };
  const server = startProgram(image.command, options, onOutput);
  const { pid } = server.child;
  // A container ends with its first process, and all others with it.
  server.child.once("exit", () => killGroup(pid));
  const ended = server.ended.then(({ code }) => code);
  return {
    pid,
    output: server.output,
    ended,
    async healthy() {
      const deadline = Date.now() + healthDeadlineMs;
      while (server.child.exitCode === null && Date.now() < deadline) {
        const { code } = await runProgram(image.healthcheck, options);
        if (code === 0) return;
        await sleep(healthIntervalMs);
      }
      throw new Error(`The HEALTHCHECK did not succeed. The server wrote:\n${server.output()}`);
    },
    async stop(signal = "SIGTERM") {
      server.child.kill(signal);
      const killer = setTimeout(() => server.child.kill("SIGKILL"), stopGraceMs);
      const code = await ended;
      clearTimeout(killer);
      return code;
    },
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody was left.
  }
}
