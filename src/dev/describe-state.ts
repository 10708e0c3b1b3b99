import { consolePath, maskUrl, webhooksPath } from "../core/urls.ts";
import { triggerArguments } from "../local-hub/events/trigger.ts";
import { formatWatched } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/control.ts";
import type { DevEndpoint, DevState } from "./dev-event.ts";
import type { DevConfig } from "./dev-options.ts";
import { effectiveWatch } from "./watched-items.ts";

/** The internal state of a session that {@link describeState} converts to a {@link DevState}. */
export interface StateSource {
  config: Pick<DevConfig, "isReal" | "watch">;
  /** The local URL of the server. Empty until the session listens on its port. */
  url: string;
  publicUrl: string;
  hubUrl: string;
  /** The URL of the inbox. */
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
