import { cpus, totalmem } from "node:os";
import type { Findings } from "../support/findings.ts";
import type { Account } from "./audit.ts";
import { coursesOf, median } from "./flatness.ts";
import type { Life, Sample } from "./life.ts";
import type { Tally } from "./load.ts";

/** A receiver that was ended and started again. */
export interface PastLife {
  seconds: number;
  by: string;
  ended: unknown;
  lastSample: Sample | undefined;
}

/** What a soak came to. */
export interface SoakResult {
  minutes: number;
  seed: number;
  rate: number;
  /** The one that was never ended. */
  steady: Life;
  past: readonly PastLife[];
  tallies: ReadonlyMap<string, Tally>;
  heldBack: number;
  account: Account;
  /** By the time of the sample, in bytes. */
  storeSizes: readonly number[];
  findings: Findings["all"];
}

type Row = readonly (string | number)[];

/** The whole of it as Markdown. */
export function reportOf(result: SoakResult): string {
  const { minutes, seed, rate, steady, past, tallies, heldBack, account, storeSizes, findings } = result;
  const sent = [...tallies.values()].reduce((sum, tally) => sum + tally.sent, 0);
  const { acknowledged, succeeded, dead, open, lost, interrupted } = account;
  const [processor] = cpus();
  return `# Soak

Two receivers of the built package work on one SQLite inbox, for ${minutes} minutes, under a mix of good and bad requests; one of them
is never ended, the other is told to end or killed now and then. Made by \`npm run soak -- --minutes ${minutes} --seed ${seed} --rate ${rate}\`.

- ${cpus().length} cores, ${processor?.model.trim()}, ${(totalmem() / 2 ** 30).toFixed(1)} GiB; Node ${process.version} on ${process.platform} ${process.arch}; the load came from the same machine.
- ${sent} requests, ${rate} a second; ${heldBack} were held back, since too many were under way.
- **${acknowledged} deliveries acknowledged: ${succeeded} succeeded, ${dead} dead, ${open} not done, ${lost} lost.** ${interrupted} of them were in work when their process ended, and were run again.
- ${past.length} ends of the second receiver: ${past.filter(({ by }) => by === "SIGTERM").length} by SIGTERM, ${past.filter(({ by }) => by === "SIGKILL").length} by SIGKILL.
- The inbox grew from ${mebibytes(storeSizes[0])} to ${mebibytes(storeSizes.at(-1))} MiB, ${(((storeSizes.at(-1) ?? 0) - (storeSizes[0] ?? 0)) / Math.max(1, acknowledged) / 1_024).toFixed(1)} KiB a delivery: what is done is kept for 14 days.

## Does it grow?

Of the receiver that was never ended, which lived for ${(steady.age / 60).toFixed(1)} minutes (${steady.samples.length} samples). Its first third is for warming up. Of the rest,
the median of the last quarter must not be above the median of the first quarter by more than a tenth, or by 12 MiB of
RSS, 2 MiB of heap, 8 MiB outside the heap, 12 handles, whichever is more.

${table(
  ["", "first quarter", "last quarter", "slope an hour", "flat"],
  coursesOf(steady.samples).map(({ name, unit, first, last, slopeAnHour, isFlat }) => [
    unit ? `${name}, ${unit}` : name,
    first.toFixed(1),
    last.toFixed(1),
    slopeAnHour.toFixed(1),
    isFlat === undefined ? "too short to tell" : isFlat ? "yes" : "NO",
  ]),
)}

Of the ${past.length} processes that were ended, the last sample of each: ${spread(past, ({ rss }) => rss / 2 ** 20)} MiB of RSS, ${spread(past, ({ heapUsed }) => heapUsed / 2 ** 20)} MiB of heap, ${spread(past, ({ handles }) => handles)} handles.

## The course of the one that was never ended

${table(
  ["minute", "RSS MiB", "heap MiB", "handles", "loop delay p99 ms", "longest ms", "inbox MiB"],
  chosen(steady.samples, 13).map(({ sample, index }) => [
    (sample.at / 60).toFixed(1),
    (sample.rss / 2 ** 20).toFixed(1),
    (sample.heapUsed / 2 ** 20).toFixed(1),
    sample.handles,
    sample.delayP99.toFixed(1),
    sample.delayMax.toFixed(1),
    mebibytes(storeSizes[index]),
  ]),
)}

Median of the event loop's delay at p99 over all samples: ${median(steady.samples.map(({ delayP99 }) => delayP99)).toFixed(1)} ms.

## What was sent, and what was answered

Cut off: the receiver was ended before it had answered. A delivery in the background is then sent again to the other one, as the Hub does it.

${table(
  ["", "sent", "answers", "cut off"],
  [...tallies].map(([name, tally]) => [
    name,
    tally.sent,
    [...tally.statuses]
      .toSorted(([left], [right]) => left - right)
      .map(([status, count]) => `${count} x ${status}`)
      .join(", ") || "nobody waits",
    tally.cutOff,
  ]),
)}

## What was not as it should be

${findings.length === 0 ? "Nothing." : findings.map(({ what, count, shownBy }) => `- ${count} x ${what} ${shownBy}`).join("\n")}
`;
}

function table(columns: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

function chosen(samples: readonly Sample[], most: number): { sample: Sample; index: number }[] {
  const step = Math.max(1, (samples.length - 1) / (most - 1));
  const indexes = new Set(
    samples.map((_, index) => Math.round(index * step)).filter((index) => index < samples.length),
  );
  return [...indexes].flatMap((index) => {
    const sample = samples[index];
    return sample ? [{ sample, index }] : [];
  });
}

function spread(past: readonly PastLife[], read: (sample: Sample) => number): string {
  const values = past.flatMap(({ lastSample }) => (lastSample ? [read(lastSample)] : []));
  return values.length === 0 ? "no" : `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
}

function mebibytes(bytes: number | undefined): string {
  return ((bytes ?? 0) / 2 ** 20).toFixed(1);
}
