import type { Findings } from "../support/monitored-receiver.ts";
import type { AuditResult } from "./audit.ts";
import { trendsOf } from "./flatness.ts";
import type { Tally } from "./load.ts";
import type { SampledReceiver } from "./sampled-receiver.ts";

/** The outcome of a soak test. */
export interface SoakResult {
  minutes: number;
  seed: number;
  rate: number;
  /** The receiver that runs the whole time. */
  steady: SampledReceiver;
  /** The signals with which the other receiver was stopped. */
  signals: readonly string[];
  tallies: ReadonlyMap<string, Tally>;
  heldBack: number;
  audited: AuditResult;
  findings: Findings["all"];
}

type Row = readonly (string | number)[];

/** Formats the outcome as Markdown. */
export function formatReport(result: SoakResult): string {
  const { minutes, seed, rate, steady, signals, tallies, heldBack, audited, findings } = result;
  const { acknowledged, succeeded, dead, open, lost, interrupted } = audited;
  return `# Soak

Reproduce with \`npm run soak -- --minutes ${minutes} --seed ${seed} --rate ${rate}\`. Node ${process.version} on ${process.platform} ${process.arch}.

- **${acknowledged} deliveries acknowledged: ${succeeded} succeeded, ${dead} dead, ${open} unfinished, ${lost} lost.** ${interrupted} were running when their process exited, and ran again.
- ${heldBack} requests were not sent because too many were in progress.
- The second receiver was stopped ${signals.length} times, ${signals.filter((signal) => signal === "SIGKILL").length} of them by SIGKILL.

## Memory and handles of the first receiver

${table(
  ["", "first quarter", "last quarter", "change per hour", "flat"],
  trendsOf(steady.samples).map(({ name, unit, first, last, slopePerHour, isFlat }) => [
    unit ? `${name}, ${unit}` : name,
    ...[first, last, slopePerHour].map((value) => value.toFixed(1)),
    isFlat === undefined ? "too few samples" : isFlat ? "yes" : "NO",
  ]),
)}

## Requests and responses

${table(
  ["", "sent", "responses", "cut off"],
  [...tallies].map(([name, { sent, statuses, cutOff }]) => [
    name,
    sent,
    [...statuses].map(([status, count]) => `${count} x ${status}`).join(", ") || "not awaited",
    cutOff,
  ]),
)}

## Findings

${findings.length === 0 ? "None." : findings.map(({ what, count, shownBy }) => `- ${count} x ${what} ${shownBy}`).join("\n")}
`;
}

function table(columns: Row, rows: readonly Row[]): string {
  return [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
