import { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

const started: ChildProcess[] = [];

subscribe("child_process", (message) => {
  if (typeof message !== "object" || message === null || !("process" in message)) return;
  if (message.process instanceof ChildProcess) started.push(message.process);
});

/** Every worker that `openTunnel` has forked in this test file, the newest last. */
export function tunnelWorkers(): ChildProcess[] {
  return started.filter((child) => child.spawnargs?.some((argument) => /(localtunnel|program)-worker/.test(argument)));
}

/** The newest worker that `openTunnel` has forked. */
export function newestWorker(): ChildProcess {
  const child = tunnelWorkers().at(-1);
  if (child === undefined) throw new Error("No process was forked.");
  return child;
}

/** The process ids of the workers that are still running, according to the system. */
export function runningWorkers(): (number | undefined)[] {
  return tunnelWorkers()
    .map(({ pid }) => pid)
    .filter((pid) => pid !== undefined && isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
