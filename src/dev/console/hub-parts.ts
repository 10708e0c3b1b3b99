import type { ConsoleFeature } from "../../console/protocol/session.ts";
import type { ConsoleResource } from "../../console/server/console.ts";
import type { ConsoleEvents } from "../../console/server/console-events.ts";
import { hubFeatures, hubResources, reportHubChanges } from "../../local-hub/console/hub-console.ts";
import { contextOf } from "../../local-hub/contexts.ts";
import type { LocalHub } from "../../local-hub/local-hub.ts";
import { createFilter } from "../../payload/filter.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import { formatWatched } from "../../payload/watch.ts";
import type { EndpointDetails } from "../../receiver/lifecycle/server-control.ts";

/** The features and routes that the Hub of a session adds to its console. */
export interface ConsoleHub {
  features: readonly ConsoleFeature[];
  resources: readonly ConsoleResource[];
}

/** The real Hub has its own pages. */
export const noConsoleHub: ConsoleHub = { features: [], resources: [] };

export interface ConsoleHubOptions {
  events: ConsoleEvents;
  /** Returns the endpoints of the server. */
  endpoints: () => readonly EndpointDetails[];
  /** Returns the public URL of an endpoint. */
  urlOf: (endpoint: string) => string;
}

/** Adds the local Hub of a session to its console. */
export function localHubParts(localHub: LocalHub, { events, endpoints, urlOf }: ConsoleHubOptions): ConsoleHub {
  const context = contextOf(localHub);
  reportHubChanges(context, events);
  return {
    features: hubFeatures,
    resources: hubResources(context, {
      repositories: () =>
        endpoints().flatMap(({ watch }) =>
          formatWatched(watch.filter(({ type }) => type !== "user" && type !== "org")),
        ),
      ignoredBy: (name, payload) =>
        reasonToIgnore(
          endpoints().find((endpoint) => endpoint.name === name),
          payload,
        ),
      endpointOf: (webhookUrl) => endpoints().find(({ name }) => urlOf(name) === webhookUrl)?.name,
    }),
  };
}

/** The description of an endpoint contains its scopes and repositories, so other filters are only applied by the server. */
function reasonToIgnore(endpoint: EndpointDetails | undefined, payload: WebhookPayload): string | undefined {
  if (!endpoint) return undefined;
  const { scopes, repos } = endpoint;
  const filter = createFilter({
    ...(scopes.length > 0 && { scope: scopes }),
    ...(repos.length > 0 && { repo: repos.filter(isRepoPattern) }),
  });
  return filter?.(payload);
}

function isRepoPattern(text: string): text is `${string}:${string}` {
  return text.includes(":");
}
