import type { AttemptSummary } from "../../../protocol/hub.ts";
import { Icon } from "../../components/icon.tsx";

/** The status of a response, or a note that there was no response. */
export function AttemptOutcome({ attempt: { status, error } }: { attempt: Pick<AttemptSummary, "status" | "error"> }) {
  const isFailed = error !== undefined;
  return (
    <span class="status" data-color={isFailed ? "bad" : "good"}>
      <Icon name={isFailed ? "failed" : "succeeded"} />
      <span class="visually-hidden">{isFailed ? "Failed:" : "Succeeded:"}</span>
      {status ?? "no response"}
    </span>
  );
}
