import { shorten } from "../../../console/shorten.ts";
import { plainText } from "../../../core/terminal-text.ts";
import type { Result } from "../../output.ts";
import type { OutputStream } from "../../shell.ts";
import type { TriggeredDelivery } from "./event-sender.ts";

/** The results of many deliveries. */
export interface TriggerSummary {
  deliveries: number;
  succeeded: number;
  failed: number;
  /** Number of deliveries per status; `none` for no answer. */
  byStatus: Readonly<Record<string, number>>;
  /** Duration of the latest attempts in milliseconds; `null` without any. */
  durationMs: { p50: number | null; p95: number | null; max: number | null };
  /** Deliveries per second. */
  perSecond: number;
}

/** How many deliveries are listed; if there are more, only failed ones are listed. */
const maxListed = 10;

/** Whether the answer is 2xx. */
function isSuccessful({ status }: Pick<TriggeredDelivery, "status">): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** Whether the receiver rejected the secret. */
export function isSecretRejected({ status }: Pick<TriggeredDelivery, "status">): boolean {
  return status === 401 || status === 403;
}

/** Counts deliveries, and keeps those to list. */
export class Tally {
  readonly #keepAll: boolean;
  readonly #kept: TriggeredDelivery[] = [];
  readonly #failed: TriggeredDelivery[] = [];
  readonly #durations: number[] = [];
  readonly #byStatus = new Map<string, number>();
  #count = 0;
  #failures = 0;

  /** @param options.keepAll Keeps every delivery, not only the first ones and failed ones. */
  constructor({ keepAll }: { keepAll: boolean }) {
    this.#keepAll = keepAll;
  }

  add(delivery: TriggeredDelivery): void {
    const status = String(delivery.status ?? "none");
    this.#count += 1;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    if (delivery.durationMs !== null) this.#durations.push(delivery.durationMs);
    if (this.#keepAll || this.#kept.length < maxListed) this.#kept.push(delivery);
    if (isSuccessful(delivery)) return;
    this.#failures += 1;
    if (this.#failed.length < maxListed) this.#failed.push(delivery);
  }

  get count(): number {
    return this.#count;
  }

  get failures(): number {
    return this.#failures;
  }

  /** All deliveries if there are few or all are kept; otherwise the first failed ones. */
  get listed(): readonly TriggeredDelivery[] {
    return this.#keepAll || this.#count <= maxListed ? this.#kept : this.#failed;
  }

  /** @param options.elapsedMs Time since the first delivery was sent. */
  summary({ elapsedMs }: { elapsedMs: number }): TriggerSummary {
    const sorted = this.#durations.toSorted((left, right) => left - right);
    return {
      deliveries: this.#count,
      succeeded: this.#count - this.#failures,
      failed: this.#failures,
      byStatus: Object.fromEntries([...this.#byStatus].sort(([left], [right]) => left.localeCompare(right))),
      durationMs: { p50: percentile(sorted, 50), p95: percentile(sorted, 95), max: sorted.at(-1) ?? null },
      perSecond: elapsedMs > 0 ? Math.round((this.#count / elapsedMs) * 10_000) / 10 : 0,
    };
  }
}

/** Nearest-rank percentile. */
function percentile(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? null;
}

/** Characters of an answer in a table. */
const maxAnswerLength = 200;

/** The result for deliveries; `json` is the complete output for programs. */
export function deliveriesResult(deliveries: readonly TriggeredDelivery[], { json }: { json: unknown }): Result {
  return {
    json,
    quiet: deliveries.map(({ deliveryId }) => deliveryId),
    columns: [
      { key: "url", title: "URL" },
      { key: "status", title: "Status", empty: "none", color: (status) => (isSuccessText(status) ? "green" : "red") },
      { key: "durationMs", title: "Duration (ms)" },
      { key: "attempts", title: "Attempts" },
      { key: "deliveryId", title: "Delivery" },
      { key: "answer", title: "Answer" },
    ],
    rows: deliveries.map((delivery) => [
      delivery.url,
      String(delivery.status ?? ""),
      String(delivery.durationMs ?? ""),
      String(delivery.attempts),
      delivery.deliveryId,
      describeAnswer(delivery),
    ]),
  };
}

/** The summary in one line. */
export function describeSummary(summary: TriggerSummary): string {
  const { deliveries, succeeded, failed, byStatus, durationMs, perSecond } = summary;
  const statuses = Object.entries(byStatus).map(
    ([status, count]) => `${status === "none" ? "no answer" : status}: ${count}`,
  );
  const { p50, p95, max } = durationMs;
  return [
    `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"}: ${succeeded} succeeded, ${failed} failed.`,
    ...(statuses.length > 0 ? [`By status: ${statuses.join(", ")}.`] : []),
    ...(max === null ? [] : [`Duration: p50 ${p50} ms, p95 ${p95} ms, max ${max} ms.`]),
    `${perSecond} per second.`,
  ].join(" ");
}

/** The answer, or why there is none. */
function describeAnswer({ status, answer, error }: TriggeredDelivery): string {
  const text = plainText(answer ?? "").trim();
  return shorten(isSuccessful({ status }) ? text : text || (error ?? ""), maxAnswerLength);
}

function isSuccessText(status: string): boolean {
  return status !== "none" && isSuccessful({ status: Number(status) });
}

interface ProgressOptions {
  /** Nothing is drawn unless this is a terminal. */
  stream: OutputStream;
  total: number;
  /** Milliseconds. Default: a monotonic clock. */
  now?: () => number;
}

/** In characters. */
const barWidth = 30;
const redrawIntervalMs = 100;

/** A progress bar on a terminal. */
export class Progress {
  readonly #options: Required<ProgressOptions>;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(options: ProgressOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  show({ done, failed }: { done: number; failed: number }): void {
    const { stream, total, now } = this.#options;
    if (!stream.isTTY || (now() - this.#drawnAt < redrawIntervalMs && done < total)) return;
    this.#drawnAt = now();
    this.#isDrawn = true;
    const filled = Math.round((done / total) * barWidth);
    const bar = `${"=".repeat(filled)}${" ".repeat(barWidth - filled)}`;
    stream.write(`\r[${bar}] ${done} of ${total}${failed > 0 ? `, ${failed} failed` : ""}\u001b[K`);
  }

  /** Removes the progress bar. */
  clear(): void {
    if (this.#isDrawn) this.#options.stream.write("\r\u001b[K");
    this.#isDrawn = false;
  }
}
