import { ConsoleAccess } from "../../console/server/access.ts";
import { Console } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/console-events.ts";
import { deliveriesApi } from "../../console/server/deliveries-api.ts";
import { endpointsApi } from "../../console/server/endpoints-api.ts";
import { inboxApi } from "../../console/server/inbox-api.ts";
import { readSpace } from "../../core/environment.ts";
import { packageVersion } from "../../core/files.ts";
import type { PasswordGuesses } from "../../core/guesses.ts";
import type { Logger } from "../../core/log.ts";
import { maskSecretsOf } from "../../core/secrets.ts";
import { webhooksPath } from "../../core/urls.ts";
import type { HubClient } from "../../hub/client.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { BackgroundWork } from "../background.ts";
import type { Activity } from "../counts.ts";
import type { DeliveryPipeline } from "../deliver.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ServerHub } from "../hub.ts";
import type { ServerRedaction } from "../logs.ts";
import { configuredUrl } from "../node/open-configured-inbox.ts";
import type { LaunchedServer } from "../options.ts";
import type { OwnerCheck } from "../owner.ts";
import type { DeliveryHistory } from "../recent/delivery-history.ts";
import type { SecretCheck } from "../secret.ts";
import type { EndpointRegistry } from "../webhook.ts";
import { ReceiverDeliveries } from "./deliveries.ts";
import { EarlierActivity, ReceiverEndpoints, Registrations } from "./endpoints.ts";
import { ReceiverInbox } from "./inbox.ts";

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
interface ConsoleSource extends Pick<ServerParts, "pipeline" | "history" | "activity" | "log" | "refusalLog" | "now"> {
  endpoints: ReadonlyMap<string, Endpoint>;
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  inbox: () => Promise<Inbox> | undefined;
  /** Returns the URL of the inbox or an `Inbox` object, or `undefined` for an inbox in memory. */
  configuredInbox: () => string | Inbox | undefined;
  hub: () => HubClient;
  /** The console token, or `undefined` if only one-time links sign in. */
  token: () => string | undefined;
  /** The wrong tokens that clients of other pages sent, if they sign in with the same token. */
  guesses: () => PasswordGuesses | undefined;
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
function sourceOf(server: ServerParts): ConsoleSource {
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
    guesses: () => (toolToken() === undefined ? ownerCheck.guesses : undefined),
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

/** How often a link is logged at most. Anyone can open the sign-in page. */
const intervalMs = 600_000;

interface RequestedLinksOptions {
  /** Creates a one-time link. */
  createLink: (baseUrl: string) => string;
  /** Returns the public URL of the server, without a trailing slash. Empty if it is unknown. */
  publicUrl: () => string;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Logs a sign-in link when a client opens the sign-in page of a server that has logged none, because it was not launched. The link has
 * no host if the server does not know its own: the client chooses the host of its request, so a link to it could hand the code to
 * another server.
 */
class RequestedLinks {
  readonly #options: RequestedLinksOptions;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RequestedLinksOptions) {
    this.#options = options;
  }

  /** Logs a link, at most one in ten minutes. */
  request(): void {
    const { createLink, publicUrl, log, now } = this.#options;
    const sinceMs = now() - this.#loggedAt;
    // The time is negative if the clock was set back.
    if (sinceMs >= 0 && sinceMs < intervalMs) return;
    this.#loggedAt = now();
    const baseUrl = publicUrl();
    const open = baseUrl === "" ? "Open this path below the URL of the server" : "Open the console with this link";
    log.info(
      { console: createLink(baseUrl) },
      `${open}, which is valid once and for one hour. Set CONSOLE_TOKEN to sign in at any time.`,
    );
  }
}

/** The console of a receiver, and what it does when the server stops. */
export interface OpenedConsole {
  console: Console;
  /** Waits until the replays of inline deliveries have ended. */
  settle: () => Promise<void>;
}

/** Creates the console of a receiver. `earlier`: the activity before the last reload of a dev session. */
export function openConsole(server: ServerParts, earlier = EarlierActivity.read(undefined)): OpenedConsole {
  const source = sourceOf(server);
  const { history, now, log, refusalLog } = source;
  const urlOf = (endpoint: string) => `${source.publicUrl()}${webhooksPath}${endpoint}`;
  const deliveries = new ReceiverDeliveries({ ...source, urlOf });
  const events = new ConsoleEvents({
    readDelivery: (key) => deliveries.summary(key),
    isClosed: source.isClosed,
  });
  history.observe((key) => {
    events.deliveryChanged(key);
    events.changed("endpoints", "inbox");
  });
  const endpoints = new ReceiverEndpoints({
    ...source,
    ...{ urlOf, earlier },
    registrations: new Registrations({ hub: source.hub, now }),
    onChange: () => events.changed("endpoints", "inbox"),
  });
  const inbox = new ReceiverInbox({
    ...source,
    recordsDetails: history.recordsDetails,
    onOpened: () => events.changed("inbox"),
  });
  const links = new RequestedLinks({ ...source, createLink: (baseUrl) => console.createSignInLink(baseUrl) });
  const console = new Console({
    place: "receiver",
    features: () => ["deliveries", "endpoints", "inbox"],
    version: packageVersion(),
    access: new ConsoleAccess({
      token: source.token(),
      guesses: source.guesses(),
      now,
      onRefused: (refusal) => refusalLog.warn(refusal, "request to the console refused"),
    }),
    resources: [deliveriesApi(deliveries), endpointsApi(endpoints), inboxApi(inbox)],
    events,
    onLinkNeeded: () => {
      if (!source.isLaunched()) links.request();
    },
    mask: source.mask,
    onError: (error) => log.error({ err: error }, "A request of the console failed."),
  });
  return { console, settle: () => deliveries.settle() };
}
