import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inboxFolder } from "./inbox-folder.ts";
import { printDoubts, printTrials } from "./receive.ts";
import { median, printHeading } from "./report.ts";
import { type BenchOptions, runRounds, type Subject } from "./trial.ts";

const yardstick = "Hono, nothing stored";

const subjects: readonly Subject[] = [
  { name: "accepted", file: "ours-background.ts", arguments: ["log", "accept"] },
  { name: "accepted and worked", file: "ours-background.ts", arguments: ["log", "work"] },
  { name: yardstick, file: "hono.ts", arguments: ["log"] },
];

/** What it costs to have a delivery on the disk before it is answered. */
export async function measureInbox(options: BenchOptions): Promise<void> {
  const rounds = await runRounds(subjects, options);
  rmSync(inboxFolder, { recursive: true, force: true });
  printHeading(`Answering 202 once it is stored (${options.rounds} x ${options.seconds} s)`);
  printTrials(rounds, subjects, yardstick);
  console.log(`\n${describeDisk()}`);
  printDoubts(rounds);
}

/** The file system, by the number that Linux has for its kind, and what one sync of a page costs. */
function describeDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), "bench-sync-"));
  try {
    const file = openSync(join(folder, "page"), "w");
    const page = Buffer.alloc(4_096, 1);
    const syncs = Array.from({ length: 200 }, () => {
      writeSync(file, page);
      const startedAt = performance.now();
      fdatasyncSync(file);
      return performance.now() - startedAt;
    });
    closeSync(file);
    const kind = statfsSync(folder).type.toString(16);
    return `Disk       file system 0x${kind}; a sync of 4 kB takes ${median(syncs).toFixed(2)} ms (median of 200)`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
