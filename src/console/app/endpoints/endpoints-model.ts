import type { ActivityBar, ActivityWindow, EndpointInfo, RegistrationInfo } from "../../protocol/deliveries.ts";
import { formatPlural } from "../format.ts";
import type { StateLook } from "../ui.tsx";

export const registrationLooks: Readonly<Record<RegistrationInfo["state"], StateLook>> = {
  enabled: { label: "Registered", color: "good", icon: "succeeded" },
  disabled: { label: "Disabled on the Hub", color: "retry", icon: "pause" },
  suspended: { label: "Suspended by the Hub", color: "bad", icon: "dead" },
  "secret-differs": { label: "Registered with another secret", color: "bad", icon: "failed" },
  "url-differs": { label: "Registered for another URL", color: "bad", icon: "failed" },
  missing: { label: "Not registered", color: "retry", icon: "cancelled" },
  unknown: { label: "Registration unknown", color: "quiet", icon: "help" },
};

/** Returns why the registration of all endpoints is unknown, if it is the same for two or more. The view shows it once. */
export function findSharedMessage(endpoints: readonly Pick<EndpointInfo, "registration">[]): string | undefined {
  const message = endpoints[0]?.registration?.message;
  const isShared = endpoints.every(
    ({ registration }) => registration?.state === "unknown" && registration.message === message,
  );
  return isShared && endpoints.length > 1 ? message : undefined;
}

/** Describes which events an endpoint accepts, one condition per line. */
export function describeFilter({
  scopes,
  actions,
  repos,
  refs,
  paths,
  ignoreSelf,
  watch,
}: Pick<EndpointInfo, "scopes" | "actions" | "repos" | "refs" | "paths" | "ignoreSelf" | "watch">): readonly string[] {
  const fields: readonly (readonly [text: string, values: readonly string[]])[] = [
    ["action", actions],
    ["ref", refs],
    ["a changed file matches", paths],
  ];
  const events = [
    scopes.length > 0 ? scopes.join(", ") : "All events",
    ...(repos.length > 0 ? [`of ${repos.join(", ")}`] : []),
    ...(watch.length > 0 ? [`watching ${watch.join(", ")}`] : []),
  ];
  return [
    events.join(" "),
    ...fields.filter(([, values]) => values.length > 0).map(([text, values]) => `${text} ${values.join(" or ")}`),
    ...(ignoreSelf ? ["not caused by this server"] : []),
  ];
}

/** The windows with the time span of one bar. */
export const windowLooks: Readonly<Record<ActivityWindow, { label: string; bar: string }>> = {
  "15m": { label: "15 min", bar: "1 minute" },
  "1h": { label: "1 h", bar: "5 minutes" },
  "24h": { label: "24 h", bar: "1 hour" },
};

export type ActivityKind = "deliveries" | "attempts";

interface CountedBar {
  total: number;
  failed: number;
}

export function countBars(bars: readonly ActivityBar[], kind: ActivityKind): CountedBar[] {
  return bars.map(({ deliveries, failures, attempts, failedAttempts }) =>
    kind === "deliveries" ? { total: deliveries, failed: failures } : { total: attempts, failed: failedAttempts },
  );
}

export function sumBars(bars: readonly CountedBar[]): CountedBar {
  return bars.reduce((sum, { total, failed }) => ({ total: sum.total + total, failed: sum.failed + failed }), {
    total: 0,
    failed: 0,
  });
}

/** The rectangles of a chart, in parts of its height. A failure may be of an earlier delivery, so it can exceed the total. */
export function toHeights(bars: readonly CountedBar[]): { good: number; bad: number }[] {
  const max = Math.max(1, ...bars.map(({ total, failed }) => Math.max(total, failed)));
  return bars.map(({ total, failed }) => ({ good: Math.max(0, total - failed) / max, bad: failed / max }));
}

export function describeBars({ total, failed }: CountedBar, kind: ActivityKind): string {
  const counted =
    kind === "deliveries" ? formatPlural(total, "delivery", "deliveries") : formatPlural(total, "attempt", "attempts");
  return `${counted}, ${failed} failed`;
}
