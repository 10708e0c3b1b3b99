import type { DeadReplayed } from "../../protocol/deliveries.ts";
import { formatPlural } from "../format.ts";
import type { Toast } from "../state/toasts.ts";
import type { ListFilter } from "./filter.ts";
import { listHash } from "./links.ts";

/** Describes the result of replaying the dead deliveries of a filter, with a link to those that run again. */
export function describeReplay(
  { replayed, failed, failures, isMore }: DeadReplayed,
  filter: ListFilter,
): Omit<Toast, "id"> {
  const sentences: string[] = [];
  if (replayed > 0 || failed === 0) {
    sentences.push(`${formatPlural(replayed, "delivery is", "deliveries are")} queued again.`);
  }
  if (failed > 0) sentences.push(`${formatPlural(failed, "delivery", "deliveries")} could not be replayed.`);
  for (const { error, count } of failures) {
    sentences.push(failures.length === 1 ? error : `${formatPlural(count, "delivery", "deliveries")}: ${error}`);
  }
  if (isMore) sentences.push("More are dead: replay again.");
  return {
    kind: failed > 0 ? "failed" : "done",
    text: sentences.join(" "),
    ...(replayed > 0 && { link: { hash: listHash({ ...filter, status: "queued,running" }), label: "Show queued" } }),
  };
}
