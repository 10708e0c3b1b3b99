import { cpus, totalmem } from "node:os";
import type { Findings } from "../support/monitored-receiver.ts";
import type { AuditResult } from "./audit.ts";
import { median, trendsOf } from "./flatness.ts";
import type { Tally } from "./load.ts";
import type { Sample, SampledReceiver } from "./sampled-receiver.ts";

/** A process that was stopped or killed. */
export interface StoppedProcess {
  signal: string;
  lastSample: Sample | undefined;
}

/** The outcome of a soak test. */
export interface SoakResult {
  minutes: number;
  seed: number;
  rate: number;
  /** The receiver that runs the whole time. */
  steady: SampledReceiver;
  stopped: readonly StoppedProcess[];
  tallies: ReadonlyMap<string, Tally>;
  heldBack: number;
  audited: AuditResult;
  /** In bytes, one per sample. */
  inboxSizes: readonly number[];
  findings: Findings["all"];
}

type Row = readonly (string | number)[];

/** Formats the outcome as Markdown. */
export function formatReport(result: SoakResult): string {
  const { minutes, seed, rate, steady, stopped, tallies, heldBack, audited, inboxSizes, findings } = result;
  const sent = [...tallies.values()].reduce((sum, tally) => sum + tally.sent, 0);
  const { acknowledged, succeeded, dead, open, lost, interrupted } = audited;
  const [processor] = cpus();
  return `# Soak

Two receivers of the built package share one SQLite inbox for ${minutes} minutes under a mix of valid and invalid requests. One receiver
runs the whole time. The other is stopped or killed from time to time. Reproduce with \`npm run soak -- --minutes ${minutes} --seed ${seed} --rate ${rate}\`.

- ${cpus().length} cores, ${processor?.model.trim()}, ${(totalmem() / 2 ** 30).toFixed(1)} GiB; Node ${process.version} on ${process.platform} ${process.arch}. The load generator ran on the same machine.
- ${sent} requests at ${rate} per second. ${heldBack} more were not sent because too many were in progress.
- **${acknowledged} deliveries acknowledged: ${succeeded} succeeded, ${dead} dead, ${open} unfinished, ${lost} lost.** ${interrupted} were running when their process exited, and ran again.
- The second receiver was stopped ${stopped.length} times: ${stopped.filter(({ signal }) => signal === "SIGTERM").length} by SIGTERM, ${stopped.filter(({ signal }) => signal === "SIGKILL").length} by SIGKILL.
- The inbox grew from ${mebibytes(inboxSizes[0])} to ${mebibytes(inboxSizes.at(-1))} MiB, ${(((inboxSizes.at(-1) ?? 0) - (inboxSizes[0] ?? 0)) / Math.max(1, acknowledged) / 1_024).toFixed(1)} KiB per delivery. Finished deliveries are kept for 14 days.

## Memory and handles

The first receiver ran for ${(steady.age / 60).toFixed(1)} minutes (${steady.samples.length} samples). The first third is warm-up and not counted. After it, the median of
the last quarter must not exceed the median of the first quarter by more than 10%, or by 12 MiB of RSS, 2 MiB of heap,
8 MiB outside the heap, or 12 handles, whichever is more. RSS needs a minute after the warm-up.

${table(
  ["", "first quarter", "last quarter", "change per hour", "flat"],
  trendsOf(steady.samples).map(({ name, unit, first, last, slopePerHour, isFlat }) => [
    unit ? `${name}, ${unit}` : name,
    first.toFixed(1),
    last.toFixed(1),
    slopePerHour.toFixed(1),
    isFlat === undefined ? "too few samples" : isFlat ? "yes" : "NO",
  ]),
)}

Last samples of the ${stopped.length} stopped processes: ${range(stopped, ({ rss }) => rss / 2 ** 20)} MiB of RSS, ${range(stopped, ({ heapUsed }) => heapUsed / 2 ** 20)} MiB of heap, ${range(stopped, ({ handles }) => handles)} handles.

## The first receiver over time

${table(
  ["minute", "RSS MiB", "heap MiB", "handles", "loop delay p99 ms", "max ms", "inbox MiB"],
  pickEvenly(steady.samples, 13).map(({ sample, index }) => [
    (sample.at / 60).toFixed(1),
    (sample.rss / 2 ** 20).toFixed(1),
    (sample.heapUsed / 2 ** 20).toFixed(1),
    sample.handles,
    sample.delayP99.toFixed(1),
    sample.delayMax.toFixed(1),
    mebibytes(inboxSizes[index]),
  ]),
)}

Median over all samples of the event loop delay at p99: ${median(steady.samples.map(({ delayP99 }) => delayP99)).toFixed(1)} ms.

## Requests and responses

Cut off: the receiver stopped before it responded. The load generator then sends a background delivery to the other receiver, because the Hub would retry it.

${table(
  ["", "sent", "responses", "cut off"],
  [...tallies].map(([name, tally]) => [
    name,
    tally.sent,
    [...tally.statuses]
      .toSorted(([left], [right]) => left - right)
      .map(([status, count]) => `${count} x ${status}`)
      .join(", ") || "not awaited",
    tally.cutOff,
  ]),
)}

## Findings

${findings.length === 0 ? "None." : findings.map(({ what, count, shownBy }) => `- ${count} x ${what} ${shownBy}`).join("\n")}
`;
}

function table(columns: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

function pickEvenly(samples: readonly Sample[], max: number): { sample: Sample; index: number }[] {
  const step = Math.max(1, (samples.length - 1) / (max - 1));
  const indexes = new Set(
    samples.map((_, index) => Math.round(index * step)).filter((index) => index < samples.length),
  );
  return [...indexes].flatMap((index) => {
    const sample = samples[index];
    return sample ? [{ sample, index }] : [];
  });
}

function range(stopped: readonly StoppedProcess[], read: (sample: Sample) => number): string {
  const values = stopped.flatMap(({ lastSample }) => (lastSample ? [read(lastSample)] : []));
  return values.length === 0 ? "no" : `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
}

function mebibytes(bytes: number | undefined): string {
  return ((bytes ?? 0) / 2 ** 20).toFixed(1);
}
