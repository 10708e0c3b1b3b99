import type { InboxEndpoint, InboxInfo, InboxLocation } from "../../protocol/inbox.ts";
import { formatDuration } from "../format.ts";
import type { IconName } from "../ui.tsx";

/** The label, color, and icon of a state. */
export interface StateLook {
  label: string;
  color: "good" | "bad" | "retry" | "quiet";
  icon: IconName;
}

/** The label, color, and icon of each state of an inbox. */
export const stateLooks: Readonly<Record<InboxInfo["state"], StateLook>> = {
  open: { label: "Open", color: "good", icon: "succeeded" },
  degraded: { label: "Degraded", color: "retry", icon: "dead" },
  unavailable: { label: "Unavailable", color: "bad", icon: "failed" },
  opening: { label: "Opening", color: "quiet", icon: "queued" },
  closed: { label: "Closed", color: "quiet", icon: "cancelled" },
  unused: { label: "Not used", color: "quiet", icon: "ignored" },
};

/** The label, color, and icon of each time for which a storage keeps deliveries. */
export const keptLooks: Readonly<Record<NonNullable<InboxLocation["keptUntil"]>, StateLook>> = {
  retention: { label: "Survives process restarts", color: "good", icon: "succeeded" },
  "space-restart": { label: "Erased when the Space restarts", color: "bad", icon: "dead" },
  "process-exit": { label: "Lost when the process exits", color: "retry", icon: "dead" },
};

/** The names of the engines. */
export const engineNames: Readonly<Record<InboxLocation["engine"], string>> = {
  sqlite: "SQLite file",
  bucket: "SQLite in a bucket",
  redis: "Redis",
  postgres: "PostgreSQL",
  memory: "Memory",
  custom: "The program's own inbox",
  unknown: "Unknown inbox",
};

/** Describes which details of each delivery are recorded. */
export function describeDetails(recordsDetails: boolean): string {
  return recordsDetails
    ? "Headers, log lines, results, and stacks"
    : "No headers, log lines, results, or stacks, because recordDetails is false";
}

/** Describes how long a finished delivery of an endpoint is kept, or returns `undefined` if another server decides it. */
export function describeRetention({
  retentionMs,
  idRetentionMs,
}: InboxEndpoint): { text: string; title: string } | undefined {
  if (retentionMs === undefined || idRetentionMs === undefined) return undefined;
  const text = formatDuration(retentionMs, { unit: "s" });
  const ids = formatDuration(idRetentionMs, { unit: "s" });
  return { text, title: `Kept ${text} after it finishes. Its ID is kept ${ids}, to detect duplicates.` };
}
