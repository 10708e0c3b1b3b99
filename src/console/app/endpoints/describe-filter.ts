import type { EndpointInfo } from "../../protocol/endpoints.ts";

/** Describes which events an endpoint accepts. */
export function describeFilter({ scopes, repos, watch }: Pick<EndpointInfo, "scopes" | "repos" | "watch">): string {
  const parts = [
    scopes.length > 0 ? scopes.join(", ") : "All events",
    ...(repos.length > 0 ? [`of ${repos.join(", ")}`] : []),
    ...(watch.length > 0 ? [`watching ${watch.join(", ")}`] : []),
  ];
  return parts.join(" ");
}
