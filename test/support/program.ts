import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

/** The variables of every process: where programs are, and the sources that other processes have compiled. */
const { PATH, NODE_COMPILE_CACHE } = process.env;
export const processEnvironment = { PATH, NODE_COMPILE_CACHE };

/** The exit code and the complete output of a program. */
export interface ProgramResult {
  code: number | null;
  output: string;
}

/** Starts a program without input. Collects its output. */
export function startProgram(command: readonly string[], options: SpawnOptions) {
  const [program, ...parameters] = command;
  if (program === undefined) throw new Error("The command is empty.");
  const child = spawn(program, parameters, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const result: ProgramResult = { code: null, output: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      result.output += text;
    });
  }
  const ended = once(child, "close").then(([code]: (number | null)[]): ProgramResult => {
    result.code = code ?? null;
    return result;
  });
  return { child, ended, output: () => result.output };
}

/** Runs a program until it exits. */
export function runProgram(command: readonly string[], options: SpawnOptions): Promise<ProgramResult> {
  return startProgram(command, options).ended;
}

/** Whether a process is running. A zombie process is not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
