import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { vi } from "vitest";
import { isRunning } from "../support/program.ts";

/** A fake `cloudflared` or `ngrok`. It is first on PATH until the end of its scope. */
export interface FakeProgram extends AsyncDisposable {
  /** The process IDs of all starts, newest last. */
  processes(): Promise<number[]>;
  /** The arguments and the names of the environment variables of each start. */
  starts(): Promise<{ arguments: string[]; environment: string[] }[]>;
  /** Whether one of its processes is running. */
  isAlive(): Promise<boolean>;
  /** Whether a process has run its whole body, including its output. */
  hasRun(): boolean;
  /** Whether its body has called `markStopped()`. */
  hasStopped(): boolean;
  /** Sets the body of later starts. */
  become(body: string): Promise<void>;
}

/**
 * Creates an executable Node script of this name in a folder that is first on PATH, or in `folder`. It records its
 * start, runs `body`, and then stays alive.
 */
export async function installProgram(name: string, body: string, folder?: string): Promise<FakeProgram> {
  const home = await mkdtemp(join(tmpdir(), "stand-in-program-"));
  const target = folder ?? home;
  const log = join(home, "starts.log");
  const stopped = join(home, "left");
  const end = join(home, "run");
  await mkdir(target, { recursive: true });
  const become = async (next: string) => {
    await writeFile(
      join(target, name),
      `#!${process.execPath}
      require("node:fs").appendFileSync(${JSON.stringify(log)}, JSON.stringify({ pid: process.pid, arguments: process.argv.slice(2), environment: Object.keys(process.env) }) + "\\n");
      const markStopped = () => require("node:fs").writeFileSync(${JSON.stringify(stopped)}, "");
      setInterval(() => {}, 1000);
      ${next}
      require("node:fs").writeFileSync(${JSON.stringify(end)}, "");`,
    );
    await chmod(join(target, name), 0o755);
  };
  await become(body);
  if (folder === undefined) vi.stubEnv("PATH", `${home}${delimiter}${process.env.PATH}`);
  const starts = async () => {
    const text = await readFile(log, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  };
  const processes = async () => (await starts()).map(({ pid }) => Number(pid));
  return {
    starts,
    processes,
    become,
    hasRun: () => existsSync(end),
    hasStopped: () => existsSync(stopped),
    isAlive: async () => (await processes()).some(isRunning),
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      for (const pid of (await processes()).filter(isRunning)) process.kill(pid, "SIGKILL");
      await rm(home, { recursive: true, force: true });
    },
  };
}
