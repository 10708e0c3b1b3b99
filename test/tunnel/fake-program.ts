import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { vi } from "vitest";
import { isRunning } from "../support/running-process.ts";

/** A program that stands in for `cloudflared` or `ngrok`, first on PATH until the end of its scope. */
export interface StandInProgram extends AsyncDisposable {
  /** The ids of its processes so far, the newest last. */
  processes(): Promise<number[]>;
  /** What it was started with: its arguments and the names of its environment. */
  starts(): Promise<{ arguments: string[]; environment: string[] }[]>;
  /** Whether one of its processes lives. */
  isAlive(): Promise<boolean>;
  /** Whether a process of it has come to the end of its body, and has printed all that is printed there. */
  hasRun(): boolean;
  /** Whether its body has called `leave()`. */
  hasLeft(): boolean;
  /** Replaces what it does at its next start. */
  become(body: string): Promise<void>;
}

/**
 * Puts an executable Node script of that name first on PATH, or into `folder`. `body` is what it does after it has noted
 * its start; without more it goes on living.
 */
export async function installProgram(name: string, body: string, folder?: string): Promise<StandInProgram> {
  const home = await mkdtemp(join(tmpdir(), "stand-in-program-"));
  const target = folder ?? home;
  const log = join(home, "starts.log");
  const farewell = join(home, "left");
  const end = join(home, "run");
  await mkdir(target, { recursive: true });
  const become = async (next: string) => {
    await writeFile(
      join(target, name),
      `#!${process.execPath}
      require("node:fs").appendFileSync(${JSON.stringify(log)}, JSON.stringify({ pid: process.pid, arguments: process.argv.slice(2), environment: Object.keys(process.env) }) + "\\n");
      const leave = () => require("node:fs").writeFileSync(${JSON.stringify(farewell)}, "");
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
    hasLeft: () => existsSync(farewell),
    isAlive: async () => (await processes()).some(isRunning),
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      for (const pid of (await processes()).filter(isRunning)) process.kill(pid, "SIGKILL");
      await rm(home, { recursive: true, force: true });
    },
  };
}
