import type { Logger } from "../../core/logger.ts";
import { maskSecretsOf } from "../../core/mask-secrets.ts";
import { readSpace } from "../../core/space.ts";
import type { HubClient } from "../../hub/client.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { BackgroundWork } from "../background/background-work.ts";
import type { Activity } from "../endpoint/activity.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { EndpointRegistry } from "../endpoint/endpoint-registry.ts";
import type { ServerHub } from "../hub/server-hub.ts";
import type { LaunchedServer } from "../lifecycle/launch-options.ts";
import { configuredUrl } from "../node/open-configured-inbox.ts";
import type { DeliveryPipeline } from "../pipeline/pipeline.ts";
import type { DeliveryHistory } from "../recent/delivery-history.ts";
import type { OwnerCheck } from "../security/owner-check.ts";
import type { SecretCheck } from "../security/secret-check.ts";
import type { ServerRedaction } from "../security/server-redaction.ts";

/** The parts of a server that its console uses. */
export interface ServerParts {
  endpoints: EndpointRegistry;
  pipeline: DeliveryPipeline;
  history: DeliveryHistory;
  activity: Activity;
  background: BackgroundWork;
  hub: ServerHub;
  secretCheck: SecretCheck;
  ownerCheck: OwnerCheck;
  redaction: ServerRedaction;
  /** Logs refused requests. */
  refusalLog: Logger;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  lifecycle: () => { readonly launchedServer: LaunchedServer | undefined; readonly isClosed: boolean };
  /** Returns the token of a tool that shows the server in its own console. Overrides the owner's token. */
  toolToken: () => string | undefined;
}

/** The data that the console reads from a server. */
export interface ConsoleSource
  extends Pick<ServerParts, "pipeline" | "history" | "activity" | "log" | "refusalLog" | "now"> {
  endpoints: ReadonlyMap<string, Endpoint>;
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  inbox: () => Promise<Inbox> | undefined;
  /** Returns the URL of the inbox or an `Inbox` object, or `undefined` for an inbox in memory. */
  configuredInbox: () => string | Inbox | undefined;
  hub: () => HubClient;
  /** The console token, or `undefined` if only one-time links sign in. */
  token: () => string | undefined;
  isSecretSet: () => boolean;
  /** Returns the public URL of the server, without a trailing slash. Empty if it is unknown. */
  publicUrl: () => string;
  /** Whether the server is closed or closing. It can start again. */
  isClosed: () => boolean;
  redact: (text: string) => string;
  /** Replaces the server's secrets, and those in the URL of its inbox, in the message of an error. */
  mask: (message: string) => string;
  /** Whether the server was launched, and has logged a sign-in link unless its owner wants none. */
  isLaunched: () => boolean;
}

/** Returns the data that the console reads from the parts of a server. */
export function sourceOf(server: ServerParts): ConsoleSource {
  const { endpoints, background, hub, secretCheck, ownerCheck, redaction, lifecycle, toolToken, ...shared } = server;
  const configuredInbox = () =>
    typeof background.inbox === "object" ? background.inbox : configuredUrl(background.inbox);
  return {
    ...shared,
    endpoints: endpoints.byName,
    inbox: () => (endpoints.backgroundEndpoints.length > 0 ? background.open() : undefined),
    configuredInbox,
    hub: () => hub.client,
    token: () => toolToken() ?? ownerCheck.token,
    isSecretSet: () => secretCheck.isSet(undefined),
    publicUrl: () => lifecycle().launchedServer?.publicUrl ?? readSpace()?.url ?? "",
    isClosed: () => lifecycle().isClosed,
    redact: (text) => redaction.text(text),
    mask: (message) => {
      const inbox = configuredInbox();
      return redaction.text(typeof inbox === "string" ? maskSecretsOf(inbox, message) : message);
    },
    isLaunched: () => lifecycle().launchedServer !== undefined,
  };
}
