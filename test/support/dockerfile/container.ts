import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram, startProgram } from "../program.ts";
import { homeOf, type Image } from "./build.ts";

/** A process that runs an image's `CMD` as its user. */
export interface Container {
  pid: number | undefined;
  /** The output so far. */
  output(): string;
  /** Waits until the image's `HEALTHCHECK` succeeds. */
  healthy(): Promise<void>;
  /** Sends a signal, like `docker stop`, and returns the exit code. Kills the process after ten seconds. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves to the exit code, or `null` if the process was killed. */
  ended: Promise<number | null>;
}

/** Options of {@link startContainer}. */
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
    // A separate process group receives no Ctrl+C from the terminal and can be killed as a whole.
    detached: true,
  };
  const server = startProgram(image.command, options, onOutput);
  const { pid } = server.child;
  // A container stops all its processes when the first one exits.
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
      throw new Error(`The HEALTHCHECK did not succeed. Output of the server:\n${server.output()}`);
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
    // All processes have already exited.
  }
}
