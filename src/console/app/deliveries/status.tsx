import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import { StateLabel, type StateLook } from "../ui.tsx";

/** The icon and the word of a status, in its color. `text` replaces the word. */
export function StatusLabel({ status, text }: { status: ConsoleStatus; text?: string | undefined }) {
  const { label, color, icon } = statusLooks[status];
  return <StateLabel label={text ?? label} color={color} icon={icon} />;
}

/** The looks of all statuses, in the order of the filter: problems first. To add a status, add an entry. */
export const statusLooks: Readonly<Record<ConsoleStatus, StateLook & { description: string }>> = {
  failed: { label: "Failed", color: "bad", icon: "failed", description: "The handler failed. The Hub may retry." },
  dead: { label: "Dead", color: "bad", icon: "dead", description: "All attempts failed. Replay it to run it again." },
  retrying: {
    label: "Retrying",
    color: "retry",
    icon: "retrying",
    description: "An attempt failed, and the next one is scheduled.",
  },
  running: { label: "Running", color: "running", icon: "running", description: "The handler runs." },
  queued: { label: "Queued", color: "quiet", icon: "queued", description: "Waits for an attempt." },
  succeeded: { label: "Succeeded", color: "good", icon: "succeeded", description: "The handler succeeded." },
  ignored: {
    label: "Ignored",
    color: "ignored",
    icon: "ignored",
    description: "A filter or a condition did not match.",
  },
  cancelled: {
    label: "Cancelled",
    color: "ignored",
    icon: "cancelled",
    description: "Discarded. Replay it to run it.",
  },
};

export const statuses = Object.keys(statusLooks).filter(isStatus);

export function isStatus(text: string): text is ConsoleStatus {
  return Object.hasOwn(statusLooks, text);
}
