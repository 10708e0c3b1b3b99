import { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";

const started: ChildProcess[] = [];

subscribe("child_process", (message) => {
  if (typeof message !== "object" || message === null || !("process" in message)) return;
  if (message.process instanceof ChildProcess) started.push(message.process);
});

/** Every process that `openTunnel` has forked in this test file, the newest last. */
export function tunnelChildren(): ChildProcess[] {
  return started.filter((child) => child.spawnargs?.some((argument) => /(localtunnel|program)-child/.test(argument)));
}

/** The newest process that `openTunnel` has forked. */
export function newestChild(): ChildProcess {
  const child = tunnelChildren().at(-1);
  if (child === undefined) throw new Error("No process was forked.");
  return child;
}

/** The processes of this test file that live still, by their ids. It asks the system, not Node. */
export function livingChildren(): (number | undefined)[] {
  return tunnelChildren()
    .map(({ pid }) => pid)
    .filter((pid) => pid !== undefined && isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
