import { isNearDailyLimit } from "./counts.ts";
import type { LandingEndpoint, LandingInfo } from "./info.ts";

/** A step that the server's state requires. The contents are in `step-contents.ts`. */
export type NextStep =
  | { id: "secret" }
  | { id: "endpoint" }
  /** The Hub cannot connect to a URL on this machine. */
  | { id: "public-url" }
  /** `missing` contains the endpoints without a webhook, and is empty if it is unknown whether webhooks exist. */
  | { id: "register"; missing: readonly LandingEndpoint[] }
  | { id: "first-delivery" }
  | { id: "inbox" }
  | { id: "dead"; count: number }
  /** The latest delivery of each of these inline endpoints failed. */
  | { id: "failed"; endpoints: readonly LandingEndpoint[] }
  | { id: "daily-limit"; endpoints: readonly LandingEndpoint[] };

/** Derives the next steps from the state of the server, in the order in which to take them. */
export function nextSteps(info: LandingInfo): readonly NextStep[] {
  const { endpoints, secretIsSet, activity } = info;
  const steps: NextStep[] = [];
  if (!secretIsSet) steps.push({ id: "secret" });
  if (endpoints.length === 0) return [...steps, { id: "endpoint" }];
  const missing = endpoints.filter(({ registration }) => registration === "missing");
  if (missing.length > 0 || !isRegistered(info)) {
    steps.push(isLocal(info) ? { id: "public-url" } : { id: "register", missing });
  }
  if (!hasDeliveries(info)) steps.push({ id: "first-delivery" });
  const { queue } = activity;
  if (queue === "unknown") steps.push({ id: "inbox" });
  else if (queue && queue.dead > 0) steps.push({ id: "dead", count: queue.dead });
  const failed = endpoints.filter(({ background, last }) => !background && last?.outcome === "failed");
  if (failed.length > 0) steps.push({ id: "failed", endpoints: failed });
  const near = endpoints.filter(({ lastDay }) => isNearDailyLimit(lastDay));
  if (near.length > 0) {
    steps.push({ id: "daily-limit", endpoints: near.toSorted((one, other) => other.lastDay - one.lastDay) });
  }
  return steps;
}

/** Returns the steps of the setup that are done, as short texts. */
export function doneSteps(info: LandingInfo): readonly string[] {
  return [
    ...(info.secretIsSet ? ["secret set"] : []),
    ...(info.endpoints.length > 0 ? ["endpoint added"] : []),
    ...(isRegistered(info) ? ["webhook registered"] : []),
    ...(hasDeliveries(info) ? ["first delivery received"] : []),
  ];
}

function isRegistered({ endpoints }: LandingInfo): boolean {
  return endpoints.some(({ registration }) => registration === "registered");
}

/** Whether deliveries have arrived. The inbox can contain deliveries from before the process started. */
function hasDeliveries({ endpoints, activity: { queue } }: LandingInfo): boolean {
  if (endpoints.some(({ deliveries }) => deliveries > 0)) return true;
  return queue !== undefined && queue !== "unknown" && queue.queued + queue.running + queue.dead > 0;
}

/** Does not use `isLoopbackHost`, because it needs `node:net`. */
function isLocal({ baseUrl }: LandingInfo): boolean {
  return URL.canParse(baseUrl) && /^(localhost|.+\.localhost|127\..+|\[::1\])$/.test(new URL(baseUrl).hostname);
}
