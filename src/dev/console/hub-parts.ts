import type { ConsoleFeature } from "../../console/protocol/session.ts";
import type { ConsoleResource } from "../../console/server/console.ts";
import type { ConsoleEvents } from "../../console/server/console-events.ts";
import { sendApi } from "../../console/server/send-api.ts";
import { hubFeatures, hubResources, reportHubChanges } from "../../local-hub/console/hub-console.ts";
import { contextOf } from "../../local-hub/contexts.ts";
import type { LocalHub } from "../../local-hub/local-hub.ts";
import type { EndpointDetails } from "../../receiver/control.ts";
import { type DirectSendOptions, DirectSendSource } from "./direct-send-source.ts";
import { reasonToIgnore, repositoriesOf } from "./endpoint-filter.ts";

/** The features and routes that the Hub of a session adds to its console. */
export interface ConsoleHub {
  features: readonly ConsoleFeature[];
  resources: readonly ConsoleResource[];
}

/** Adds the page that sends events directly to the server. The real Hub has its own pages for everything else. */
export function realHubParts(options: DirectSendOptions): ConsoleHub {
  return { features: ["send"], resources: [sendApi(new DirectSendSource(options))] };
}

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
      repositories: () => endpoints().flatMap(repositoriesOf),
      ignoredBy: (name, payload) => {
        const endpoint = endpoints().find((one) => one.name === name);
        return endpoint && reasonToIgnore(endpoint, payload);
      },
      endpointOf: (webhookUrl) => endpoints().find(({ name }) => urlOf(name) === webhookUrl)?.name,
    }),
  };
}
