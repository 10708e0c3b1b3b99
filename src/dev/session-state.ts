import { relative } from "node:path";
import type { DevInfo, ReloadProblem } from "../console/protocol/session.ts";
import type { WebhookError } from "../core/errors.ts";
import { consolePath, maskUrl, webhooksPath } from "../core/urls.ts";
import { getAccountKind, localUser } from "../local-hub/accounts.ts";
import { triggerArguments } from "../local-hub/events/trigger.ts";
import { formatWatched, parseWatch, type WatchedItem } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/control.ts";
import type { LoadFailure } from "../server-file/load-failure.ts";
import type { DevEndpoint, DevState } from "./dev-event.ts";
import type { DevConfig } from "./dev-options.ts";

/** What {@link describeState} converts to a {@link DevState}. `url`: empty until the session listens on its port. */
export interface StateSource {
  config: Pick<DevConfig, "isReal" | "watch">;
  url: string;
  publicUrl: string;
  hubUrl: string;
  inbox: string;
  endpoints: readonly EndpointDetails[];
}

/** Describes a session for its events and for `DevSession.state`. */
export function describeState({ config, url, publicUrl, hubUrl, inbox, endpoints }: StateSource): DevState {
  const hasBackground = endpoints.some(({ background }) => background);
  return {
    url,
    publicUrl,
    hub: { kind: config.isReal ? "real" : "local", url: hubUrl },
    consoleUrl: `${url}${consolePath}/`,
    ...(hasBackground && { inbox: maskUrl(inbox) }),
    endpoints: endpoints.map((endpoint) => describeEndpoint(endpoint, { config, publicUrl })),
  };
}

function describeEndpoint(
  endpoint: EndpointDetails,
  { config, publicUrl }: Pick<StateSource, "config" | "publicUrl">,
): DevEndpoint {
  const { name, scopes, repos } = endpoint;
  const watch = effectiveWatch(endpoint, config);
  return {
    name,
    url: `${publicUrl}${webhooksPath}${name}`,
    watch: formatWatched(watch),
    ...(!config.isReal && watch.length > 0 && { trigger: triggerArguments({ watched: watch, scopes, repos }) }),
  };
}

/** Returns the watch list of an endpoint, which is empty if the endpoint has no webhook. */
export function effectiveWatch(
  endpoint: Pick<EndpointDetails, "watch" | "repos">,
  { isReal, watch }: Pick<DevConfig, "isReal" | "watch">,
): readonly WatchedItem[] {
  if (endpoint.watch.length > 0) return endpoint.watch;
  if (watch) return watch;
  return isReal ? [] : defaultWatch(endpoint);
}

/**
 * Derives the default watch list of an endpoint for a local Hub: the repositories and owners in the endpoint's filter, or
 * all repositories of `local-user` if the filter has none. There is no such default on the real Hub.
 */
export function defaultWatch({ repos }: Pick<EndpointDetails, "repos">): readonly WatchedItem[] {
  const watch = repos.flatMap((repo): readonly WatchedItem[] => {
    const [, type = "", owner = "", name = ""] = /^([^:]+):([^/]+)\/(.+)$/.exec(repo) ?? [];
    if (owner === "" || owner.includes("*")) return [];
    if (`${type}${name}`.includes("*")) return [{ type: getAccountKind(owner) ?? "user", name: owner }];
    const parsed = parseWatch(repo);
    return "problem" in parsed ? [] : [parsed];
  });
  return watch.length > 0 ? watch : [{ type: "user", name: localUser }];
}

/** Whether the server of a session runs, and why its tunnel is down, which the console shows. */
export type ConsoleState = Pick<DevInfo, "state" | "problem"> & { tunnelProblem?: string | undefined };

/** Describes a session for its console. */
export function describeForConsole(
  { path, tunnel }: Pick<DevConfig, "path" | "tunnel">,
  { consoleUrl: _, ...session }: DevState,
  { tunnelProblem, ...server }: ConsoleState,
): DevInfo {
  return {
    file: relative(process.cwd(), path),
    ...server,
    ...session,
    ...(tunnel !== false && {
      tunnel: tunnelProblem === undefined ? { status: "up" } : { status: "down", reason: tunnelProblem },
    }),
  };
}

/** Describes why the server file does not run, with the source around the error. */
export function describeProblem({ error, isRestarted }: { error: WebhookError; isRestarted: boolean }): ReloadProblem {
  const { message, cause } = error;
  const { stack, frame }: Partial<LoadFailure> = cause instanceof Error ? cause : {};
  return { message, isRestarted, stack, frame };
}
