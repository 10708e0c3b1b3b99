import type { DeliverySummary } from "../../console/protocol/deliveries.ts";
import { summarizeEvent } from "../../payload/event-summary.ts";

/** Reads the event and the repository of a delivery for the list. The body can be anything, JSON or not. */
export function readEvent(body: string | undefined): Pick<DeliverySummary, "event" | "repository"> {
  const { scope, action = "", repoType = "", repoName, repoUrl } = summarizeEvent(body);
  return {
    ...(scope !== undefined && { event: { scope, action } }),
    ...(repoName !== undefined && {
      repository: { type: repoType, name: repoName, ...(isWebUrl(repoUrl) && { url: repoUrl }) },
    }),
  };
}

/** Whether a link to this URL is safe: a `javascript:` URL would run in the console. */
function isWebUrl(url: string | undefined): url is string {
  return url !== undefined && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}
