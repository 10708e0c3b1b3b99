import type { EndpointInfo, RegistrationInfo } from "../../protocol/endpoints.ts";
import type { IconName } from "../ui.tsx";

/** The label, color, and icon of a registration's state. */
export interface RegistrationLook {
  label: string;
  color: "good" | "bad" | "retry" | "quiet";
  icon: IconName;
}

/** The looks of all states. */
export const registrationLooks: Readonly<Record<RegistrationInfo["state"], RegistrationLook>> = {
  enabled: { label: "Registered", color: "good", icon: "succeeded" },
  disabled: {
    label: "Disabled on the Hub",
    color: "retry",
    icon: "pause",
  },
  suspended: {
    label: "Suspended by the Hub",
    color: "bad",
    icon: "dead",
  },
  "url-differs": {
    label: "Registered for another URL",
    color: "bad",
    icon: "failed",
  },
  missing: {
    label: "Not registered",
    color: "retry",
    icon: "cancelled",
  },
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

/** Describes which events an endpoint accepts. */
export function describeFilter({ scopes, repos, watch }: Pick<EndpointInfo, "scopes" | "repos" | "watch">): string {
  const parts = [
    scopes.length > 0 ? scopes.join(", ") : "All events",
    ...(repos.length > 0 ? [`of ${repos.join(", ")}`] : []),
    ...(watch.length > 0 ? [`watching ${watch.join(", ")}`] : []),
  ];
  return parts.join(" ");
}
