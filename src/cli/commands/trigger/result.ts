import { shorten } from "../../../console/shorten.ts";
import { plainText } from "../../../core/terminal-text.ts";
import type { Result } from "../../output.ts";
import { isTaken, type TriggerSummary } from "./tally.ts";
import type { TriggeredDelivery } from "./target.ts";

/** Characters of an answer that a table shows. */
const longestAnswer = 200;

/** The result that shows deliveries; `json` is what programs get of the whole. */
export function deliveriesResult(deliveries: readonly TriggeredDelivery[], { json }: { json: unknown }): Result {
  return {
    json,
    quiet: deliveries.map(({ deliveryId }) => deliveryId),
    columns: [
      { key: "url", title: "To" },
      { key: "status", title: "Status", empty: "none", color: (status) => (isSuccess(status) ? "green" : "red") },
      { key: "durationMs", title: "Took ms" },
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

/** The summary in a line. */
export function describeSummary(summary: TriggerSummary): string {
  const { deliveries, succeeded, failed, byStatus, durationMs, perSecond } = summary;
  const statuses = Object.entries(byStatus).map(
    ([status, count]) => `${status === "none" ? "no answer" : status}: ${count}`,
  );
  const { p50, p95, max } = durationMs;
  return [
    `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"}: ${succeeded} succeeded, ${failed} failed.`,
    ...(statuses.length > 0 ? [`By status: ${statuses.join(", ")}.`] : []),
    ...(max === null ? [] : [`Time: p50 ${p50} ms, p95 ${p95} ms, at most ${max} ms.`]),
    `${perSecond} a second.`,
  ].join(" ");
}

/** What was answered, or why nothing was. */
function describeAnswer({ status, answer, error }: TriggeredDelivery): string {
  const text = plainText(answer ?? "").trim();
  return shorten(isTaken({ status }) ? text : text || (error ?? ""), longestAnswer);
}

function isSuccess(status: string): boolean {
  return status !== "none" && isTaken({ status: Number(status) });
}
