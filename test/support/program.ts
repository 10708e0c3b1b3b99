import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

/** How a program ended, and all that it wrote. */
export interface ProgramResult {
  code: number | null;
  output: string;
}

/** Starts a program without input. Its output is collected, and handed on where somebody listens. */
export function startProgram(command: readonly string[], options: SpawnOptions, onOutput?: (text: string) => void) {
  const [program, ...parameters] = command;
  if (program === undefined) throw new Error("There is no program to start.");
  const child = spawn(program, parameters, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const result: ProgramResult = { code: null, output: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      result.output += text;
      onOutput?.(text);
    });
  }
  const ended = once(child, "close").then(([code]: (number | null)[]): ProgramResult => {
    result.code = code ?? null;
    return result;
  });
  return { child, ended, output: () => result.output };
}

/** Runs a program to its end. */
export function runProgram(command: readonly string[], options: SpawnOptions): Promise<ProgramResult> {
  return startProgram(command, options).ended;
}

/** Whether a process runs. One that has ended, and that nobody has waited for yet, does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
