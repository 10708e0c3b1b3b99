import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { inboxFile } from "../inbox/inbox-file.ts";
import { addressOf, ReceiverProcess } from "../support/receiver-process.ts";
import { Ledger } from "./inbox-ledger.ts";
import { InboxReceiver, inboxEnvironment, inboxScript } from "./inbox-receiver.ts";

/** What a receiver asked the system to do, in that order: `at` is the line of the trace. */
export interface SyncTrace {
  /** Each 202, when it was handed to the socket. */
  answers: readonly { id: string; at: number }[];
  /** What was written to the log of the database (WAL). */
  writes: readonly { text: string; at: number }[];
  /** When a sync of that log had come back. */
  syncs: readonly number[];
  /** When the sync of a folder had come back first. */
  syncedFolders: ReadonlyMap<string, number>;
}

/** Lets a receiver take deliveries under strace. Returns the reason where that cannot be done. */
export async function syncTrace(file: string): Promise<SyncTrace | string> {
  const probe = spawnSync("strace", ["-e", "trace=none", "true"], { encoding: "utf8" });
  if (probe.status !== 0) return `since strace does not work here: ${probe.error?.message ?? probe.stderr}`;
  const output = inboxFile();
  // The receiver is the child, and strace stands beside it (-D), so that a signal reaches whom it is meant for.
  const calls = "trace=write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync";
  const strace = ["-D", "-f", "-y", "-q", "-s", "8192", "-e", calls, "-o", output];
  const environment = { PATH: process.env.PATH, ...inboxEnvironment(`sqlite:${file}`) };
  const child = new ReceiverProcess(
    spawn("strace", [...strace, process.execPath, inboxScript.pathname], { env: environment }),
  );
  onTestFinished(async () => {
    child.signal("SIGKILL");
    await child.exited;
  });
  const url = await addressOf(child);
  const receiver = new InboxReceiver(child, { url, ledger: new Ledger(`sqlite:${file}`) });
  for (let count = 0; count < 5; count += 1) await receiver.deliver();
  await Promise.all(Array.from({ length: 20 }, () => receiver.deliver()));
  child.signal("SIGTERM");
  await child.exited;
  return readTrace(readFileSync(output, "latin1").split("\n"));
}

/** Of a call that another thread interrupts there are two lines: it begins with the first and ends with the second. */
function readTrace(lines: readonly string[]): SyncTrace {
  const answers: { id: string; at: number }[] = [];
  const writes: { text: string; at: number }[] = [];
  const syncs: number[] = [];
  const syncedFolders = new Map<string, number>();
  const unfinished = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    const [, thread = "", call = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (/unfinished \.\.\.>$/.test(call)) unfinished.set(thread, call);
    const begun = /^<\.\.\. \w+ resumed>/.test(call) ? (unfinished.get(thread) ?? "") : call;
    const ofLog = /^(\w+)\(\d+<[^>]*-wal>/.exec(begun)?.[1];
    const folder = /^fsync\(\d+<([^>]*)>\) += 0$/.exec(call)?.[1];
    if (folder !== undefined && !syncedFolders.has(folder)) syncedFolders.set(folder, at);
    if ((ofLog === "fsync" || ofLog === "fdatasync") && /= 0$/.test(call)) syncs.push(at);
    else if (ofLog !== undefined && begun === call) writes.push({ text: call, at });
    if (!/"HTTP\/1\.1 202/.test(call)) continue;
    const id = /deliveryId\\":\\"([\w-]+)/.exec(call)?.[1];
    answers.push({ id: id ?? `none in ${call}`, at });
  }
  return { answers, writes, syncs, syncedFolders };
}
