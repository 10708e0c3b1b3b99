import { relative } from "node:path";
import type { ConsoleFeature, DevInfo, ReloadProblem } from "../../console/protocol/session.ts";
import type { ConsoleResource } from "../../console/server/api.ts";
import { sendApi } from "../../console/server/api.ts";
import type { ConsoleEvents } from "../../console/server/events.ts";
import type { WebhookError } from "../../core/errors.ts";
import { hubFeatures, hubResources, reportHubChanges } from "../../local-hub/console/hub-console.ts";
import { contextOf } from "../../local-hub/hub-context.ts";
import type { LocalHub } from "../../local-hub/local-hub.ts";
import { predictFilter } from "../../payload/filter.ts";
import type { EndpointDetails } from "../../receiver/control.ts";
import type { LoadFailure } from "../../server-file/load-failure.ts";
import type { DevState } from "../dev-event.ts";
import { type DirectSendOptions, DirectSendSource } from "./direct-send-source.ts";
import { repositoriesOf } from "./endpoint-filter.ts";

export interface ConsoleStateOptions {
  /** The absolute path of the server file. */
  path: string;
  hasTunnel: boolean;
  /** Returns the current URLs and endpoints. */
  session: () => DevState;
  /** Called after each change. */
  onChange: () => void;
}

/** The state of a session as its console shows it: whether the server runs, and whether the tunnel is up. */
export class ConsoleState {
  readonly #options: ConsoleStateOptions;
  #server: DevInfo["state"] = "loading";
  #problem: ReloadProblem | undefined;
  #tunnelProblem: string | undefined;

  constructor(options: ConsoleStateOptions) {
    this.#options = options;
  }

  /** Sets whether the server runs. `failure`: why it does not. */
  setServer(state: DevInfo["state"], failure?: { error: WebhookError; isRestarted: boolean }): void {
    this.#server = state;
    this.#problem = failure && describeProblem(failure);
    this.#options.onChange();
  }

  /** Sets why the tunnel is down. `undefined`: it is up. */
  setTunnelProblem(reason: string | undefined): void {
    this.#tunnelProblem = reason;
    this.#options.onChange();
  }

  describe(): DevInfo {
    const { path, hasTunnel, session } = this.#options;
    const { url, publicUrl, hub, endpoints, inbox } = session();
    return {
      file: relative(process.cwd(), path),
      state: this.#server,
      ...(this.#problem && { problem: this.#problem }),
      ...{ url, publicUrl, hub, endpoints },
      ...(inbox !== undefined && { inbox }),
      ...(hasTunnel && {
        tunnel: this.#tunnelProblem === undefined ? { status: "up" } : { status: "down", reason: this.#tunnelProblem },
      }),
    };
  }
}

/** Describes why the server file does not run, with the source around the error. */
function describeProblem({ error, isRestarted }: { error: WebhookError; isRestarted: boolean }): ReloadProblem {
  const { message, cause } = error;
  const { stack, frame }: Partial<LoadFailure> = cause instanceof Error ? cause : {};
  return { message, isRestarted, ...(stack !== undefined && { stack }), ...(frame && { frame }) };
}

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
      predict: (name, payload) => {
        const endpoint = endpoints().find((one) => one.name === name);
        return endpoint ? predictFilter(endpoint, payload) : {};
      },
      endpointOf: (webhookUrl) => endpoints().find(({ name }) => urlOf(name) === webhookUrl)?.name,
    }),
  };
}
