import { plainText } from "../../../core/terminal.ts";
import { shorten } from "../../../core/text.ts";
import type { HubDelivery } from "../../../local-hub/delivery/hub-delivery.ts";
import type { UnfiredWebhook } from "../../../local-hub/events/publish-change.ts";
import { type ItemColumn, type OutputStream, type Result, tableOf } from "../../invocation.ts";

/** A delivery that was sent. A delivery that was sent without a Hub has no webhook ID and no log ID. */
export type TriggeredDelivery = Omit<HubDelivery, "webhookId" | "logId"> &
  Partial<Pick<HubDelivery, "webhookId" | "logId">>;

/** The effects of a sent event. */
export interface TriggerOutcome {
  deliveries: readonly TriggeredDelivery[];
  /** Webhooks that watch the repository but did not fire. */
  notFired: readonly UnfiredWebhook[];
  /** The names of users who received a notification on the local Hub. */
  notified: readonly string[];
}

/** Whether an event caused no delivery and no notification. */
export function isWithoutEffect({ deliveries, notified }: TriggerOutcome): boolean {
  return deliveries.length === 0 && notified.length === 0;
}

/** The payload that an event would send, and its destinations. */
export interface TriggerPreview {
  payload: unknown;
  receivers: readonly { url: string; webhookId?: string }[];
  notFired: readonly UnfiredWebhook[];
}

/** Sends events to the webhooks of a local Hub, or to a URL. */
export interface EventSender {
  /**
   * Sends the event once, then waits until its deliveries are finished.
   *
   * @throws `HUB_UNREACHABLE`, `HUB_TIMED_OUT`, `HUB_RESPONSE_INVALID`, `ARGUMENT_INVALID`; any error after the signal is aborted.
   */
  trigger(signal: AbortSignal): Promise<TriggerOutcome>;
  /** Returns the payload and its destinations, without sending anything. */
  preview(): Promise<TriggerPreview>;
  /** Returns one-line texts with the reasons why no delivery was sent, and the remedies. */
  explainNothingSent(notFired: readonly UnfiredWebhook[]): readonly string[];
  /** Returns one-line remedies for failed deliveries and for webhooks that did not fire. */
  advise(outcome: TriggerOutcome): readonly string[];
  close?(): void;
}

/** The maximum number of deliveries to list. If there are more, only failed deliveries are listed. */
const maxListed = 10;

/** Whether a response status is 2xx. `null`: there was no response. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** Whether a delivery failed. */
export function isFailed({ status }: Pick<TriggeredDelivery, "status">): boolean {
  return !isSuccess(status);
}

/** Whether the response status means that the server rejected the secret. */
export function isSecretRejected({ status }: Pick<TriggeredDelivery, "status">): boolean {
  return status === 401 || status === 403;
}

/**
 * Adds a delivery to `deliveries`, of which `failures` failed. Unless `all` is set, drops the response of a delivery that
 * {@link toListed} never returns, to limit the memory.
 */
export function addDelivery(
  deliveries: TriggeredDelivery[],
  delivery: TriggeredDelivery,
  { all, failures }: { all: boolean; failures: number },
): void {
  const canBeListed = all || deliveries.length < maxListed || (isFailed(delivery) && failures < maxListed);
  deliveries.push(canBeListed ? delivery : { ...delivery, answer: null });
}

/** Returns all deliveries, or the first failed deliveries if there are too many to list. */
export function toListed(
  deliveries: readonly TriggeredDelivery[],
  { all }: { all: boolean },
): readonly TriggeredDelivery[] {
  if (all || deliveries.length <= maxListed) return deliveries;
  return deliveries.filter(isFailed).slice(0, maxListed);
}

/**
 * Summarizes deliveries. `elapsedMs` is the time since the first event was sent. In `byStatus`, `none` counts deliveries without a
 * response. `durationMs` is of the latest attempt of each delivery.
 */
export function summarize(deliveries: readonly TriggeredDelivery[], { elapsedMs }: { elapsedMs: number }) {
  const count = deliveries.length;
  const failed = deliveries.filter(isFailed).length;
  const groups = Object.groupBy(deliveries, ({ status }) => String(status ?? "none"));
  const sorted = deliveries.flatMap(({ durationMs }) => durationMs ?? []).sort((left, right) => left - right);
  return {
    ...{ deliveries: count, succeeded: count - failed, failed },
    byStatus: Object.fromEntries(Object.entries(groups).map(([status, group = []]) => [status, group.length])),
    durationMs: { p50: percentile(sorted, 50), p95: percentile(sorted, 95), max: sorted.at(-1) ?? null },
    perSecond: elapsedMs > 0 ? Math.round((count / elapsedMs) * 10_000) / 10 : 0,
  };
}

/** Returns a percentile by the nearest-rank method. */
function percentile(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? null;
}

/** The maximum number of characters of a response in a table. */
const maxAnswerLength = 200;

const deliveryColumns: Readonly<Record<string, ItemColumn<TriggeredDelivery>>> = {
  url: { title: "URL", cell: ({ url }) => url },
  status: {
    title: "Status",
    empty: "none",
    // The placeholder is not a number.
    color: (status) => (isSuccess(Number(status)) ? "green" : "red"),
    cell: ({ status }) => String(status ?? ""),
  },
  durationMs: { title: "Duration (ms)", cell: ({ durationMs }) => String(durationMs ?? "") },
  attempts: { title: "Attempts", cell: ({ attempts }) => String(attempts) },
  deliveryId: { title: "Delivery", cell: ({ deliveryId }) => deliveryId },
  answer: { title: "Response", cell: describeAnswer },
};

/** Creates the result for deliveries. `json` is the complete output for programs. */
export function deliveriesResult(deliveries: readonly TriggeredDelivery[], { json }: { json: unknown }): Result {
  return { json, quiet: deliveries.map(({ deliveryId }) => deliveryId), ...tableOf(deliveryColumns, deliveries) };
}

/** Formats the summary on one line. */
export function describeSummary(summary: ReturnType<typeof summarize>): string {
  const { deliveries, succeeded, failed, byStatus, durationMs, perSecond } = summary;
  const statuses = Object.entries(byStatus).map(
    ([status, count]) => `${status === "none" ? "no response" : status}: ${count}`,
  );
  const { p50, p95, max } = durationMs;
  return [
    `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"}: ${succeeded} succeeded, ${failed} failed.`,
    ...(statuses.length > 0 ? [`By status: ${statuses.join(", ")}.`] : []),
    ...(max === null ? [] : [`Duration: p50 ${p50} ms, p95 ${p95} ms, max ${max} ms.`]),
    `${perSecond} per second.`,
  ].join(" ");
}

/** Returns the text of the response, or the reason why the server did not respond. */
function describeAnswer({ status, answer, error }: TriggeredDelivery): string {
  const text = plainText(answer ?? "").trim();
  return shorten(isSuccess(status) ? text : text || (error ?? ""), maxAnswerLength);
}

/** The width of the bar in characters. */
const barWidth = 30;
const redrawIntervalMs = 100;

/** Creates a progress bar, which is only drawn on a terminal. */
export function createProgress({
  stream,
  total,
  now = () => performance.now(),
}: {
  stream: OutputStream;
  total: number;
  now?: () => number;
}) {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  return {
    show({ done, failed }: { done: number; failed: number }): void {
      if (!stream.isTTY || (now() - drawnAt < redrawIntervalMs && done < total)) return;
      drawnAt = now();
      isDrawn = true;
      const filled = Math.round((done / total) * barWidth);
      const bar = `${"=".repeat(filled)}${" ".repeat(barWidth - filled)}`;
      stream.write(`\r[${bar}] ${done} of ${total}${failed > 0 ? `, ${failed} failed` : ""}\u001b[K`);
    },
    /** Removes the progress bar. */
    clear(): void {
      if (isDrawn) stream.write("\r\u001b[K");
      isDrawn = false;
    },
  };
}
