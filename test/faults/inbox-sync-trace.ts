import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { inboxFile } from "../inbox/inbox-file.ts";
import { addressOf, ReceiverProcess } from "../support/receiver-process.ts";
import { Ledger } from "./inbox-ledger.ts";
import { InboxReceiver, inboxEnvironment, inboxScript } from "./inbox-receiver.ts";

/** The system calls of a receiver in order. `at` is a line number of the trace. */
export interface SyncTrace {
  /** Responses with status 202, at the time they were written to the socket. */
  answers: readonly { id: string; at: number }[];
  /** Writes to the database's WAL. */
  writes: readonly { text: string; at: number }[];
  /** Times at which a sync of the WAL returned. */
  syncs: readonly number[];
  /** The time at which the first sync of each file or folder returned. */
  syncedPaths: ReadonlyMap<string, number>;
}

/** Runs a receiver under strace. Returns the reason if strace is unavailable. */
export async function syncTrace(file: string): Promise<SyncTrace | string> {
  const probe = spawnSync("strace", ["-e", "trace=none", "true"], { encoding: "utf8" });
  if (probe.status !== 0) return `strace does not work here: ${probe.error?.message ?? probe.stderr}`;
  const output = inboxFile();
  // With `-D`, strace runs as a grandchild, so that signals go to the receiver.
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

/** Parses a trace. An interrupted call has two lines: its start and its end. */
function readTrace(lines: readonly string[]): SyncTrace {
  const answers: { id: string; at: number }[] = [];
  const writes: { text: string; at: number }[] = [];
  const syncs: number[] = [];
  const syncedPaths = new Map<string, number>();
  const unfinished = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    const [, thread = "", call = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (/unfinished \.\.\.>$/.test(call)) unfinished.set(thread, call);
    const begun = /^<\.\.\. \w+ resumed>/.test(call) ? (unfinished.get(thread) ?? "") : call;
    const ofLog = /^(\w+)\(\d+<[^>]*-wal>/.exec(begun)?.[1];
    const synced = /^fsync\(\d+<([^>]*)>/.exec(begun)?.[1];
    if (synced !== undefined && /= 0$/.test(call) && !syncedPaths.has(synced)) syncedPaths.set(synced, at);
    if ((ofLog === "fsync" || ofLog === "fdatasync") && /= 0$/.test(call)) syncs.push(at);
    else if (ofLog !== undefined && begun === call) writes.push({ text: call, at });
    if (!/"HTTP\/1\.1 202/.test(call)) continue;
    const id = /deliveryId\\":\\"([\w-]+)/.exec(call)?.[1];
    answers.push({ id: id ?? `none in ${call}`, at });
  }
  return { answers, writes, syncs, syncedPaths };
}
