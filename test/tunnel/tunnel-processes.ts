import { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

const started: ChildProcess[] = [];

subscribe("child_process", (message) => {
  if (typeof message !== "object" || message === null || !("process" in message)) return;
  if (message.process instanceof ChildProcess) started.push(message.process);
});

/** Returns all processes that `openTunnel` has started in this test file, newest last. */
export function tunnelProcesses(): ChildProcess[] {
  return started.filter((child) => child.spawnargs?.some((argument) => /(localtunnel|program)-process/.test(argument)));
}

/** Returns the newest process that `openTunnel` has started. */
export function newestProcess(): ChildProcess {
  const child = tunnelProcesses().at(-1);
  if (child === undefined) throw new Error("No process was forked.");
  return child;
}

/** Returns the IDs of the running processes. */
export function runningProcesses(): (number | undefined)[] {
  return tunnelProcesses()
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
