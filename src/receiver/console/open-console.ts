import { ConsoleAccess } from "../../console/server/access.ts";
import { deliveriesApi, endpointsApi, inboxApi } from "../../console/server/api.ts";
import { Console } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/console-events.ts";
import { readSpace } from "../../core/environment.ts";
import { packageVersion } from "../../core/files.ts";
import { maskSecretsOf } from "../../core/secrets.ts";
import { webhooksPath } from "../../core/urls.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { BackgroundWork } from "../background.ts";
import type { ServerContext } from "../context.ts";
import type { DeliveryPipeline } from "../deliver.ts";
import type { ServerHub } from "../hub.ts";
import { configuredUrl } from "../node/open-configured-inbox.ts";
import { ReceiverDeliveries } from "./deliveries.ts";
import { EarlierActivity, ReceiverEndpoints, Registrations } from "./endpoints.ts";
import { ReceiverInbox } from "./inbox.ts";

/** The parts of a server that its console calls. */
export interface ConsoleParts {
  pipeline: DeliveryPipeline;
  background: BackgroundWork;
  hub: ServerHub;
}

/** What the resources of a console share. */
interface ConsoleSource extends ConsoleParts {
  server: ServerContext;
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  inbox: () => Promise<Inbox> | undefined;
  /** Returns the URL of the inbox or an `Inbox` object, or `undefined` for an inbox in memory. */
  configuredInbox: () => string | Inbox | undefined;
  /** Returns the public URL of the server, without a trailing slash. Empty if it is unknown. */
  publicUrl: () => string;
  /** Replaces the server's secrets, and those in the URL of its inbox, in the message of an error. */
  mask: (message: string) => string;
}

function sourceOf(server: ServerContext, parts: ConsoleParts): ConsoleSource {
  const { background } = parts;
  const configuredInbox = () =>
    typeof background.inbox === "object" ? background.inbox : configuredUrl(background.inbox);
  return {
    ...{ ...parts, server, configuredInbox },
    inbox: () => (server.endpoints.backgroundEndpoints.length > 0 ? background.open() : undefined),
    publicUrl: () => server.launched?.publicUrl ?? readSpace()?.url ?? "",
    mask: (message) => {
      const inbox = configuredInbox();
      return server.redaction.text(typeof inbox === "string" ? maskSecretsOf(inbox, message) : message);
    },
  };
}

/** How often a link is logged at most. Anyone can open the sign-in page. */
const intervalMs = 600_000;

/**
 * Logs a sign-in link when a client opens the sign-in page of a server that has logged none, because it was not launched. The link has
 * no host if the server does not know its own: the client chooses the host of its request, so a link to it could hand the code to
 * another server.
 */
class RequestedLinks {
  readonly #source: ConsoleSource;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(source: ConsoleSource) {
    this.#source = source;
  }

  /** Logs a link to `console`, at most one in ten minutes. */
  request(console: Console): void {
    const { publicUrl, server } = this.#source;
    const { log, now } = server;
    const sinceMs = now() - this.#loggedAt;
    // The time is negative if the clock was set back.
    if (sinceMs >= 0 && sinceMs < intervalMs) return;
    this.#loggedAt = now();
    const baseUrl = publicUrl();
    const open = baseUrl === "" ? "Open this path below the URL of the server" : "Open the console with this link";
    log.info(
      { console: console.createSignInLink(baseUrl) },
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
export function openConsole(
  server: ServerContext,
  { earlier = EarlierActivity.read(undefined), ...parts }: ConsoleParts & { earlier?: EarlierActivity | undefined },
): OpenedConsole {
  const source = sourceOf(server, parts);
  const { history, now, log, refusalLog, ownerCheck, toolToken } = server;
  const urlOf = (endpoint: string) => `${source.publicUrl()}${webhooksPath}${endpoint}`;
  const deliveries = new ReceiverDeliveries({ ...source, urlOf });
  const events = new ConsoleEvents({
    readDelivery: (key) => deliveries.summary(key),
    isClosed: () => server.isClosed,
  });
  history.observe((key) => {
    events.deliveryChanged(key);
    events.changed("endpoints", "inbox");
  });
  const endpoints = new ReceiverEndpoints({
    ...source,
    ...{ urlOf, earlier },
    registrations: new Registrations({ serverHub: source.hub, now }),
    onChange: () => events.changed("endpoints", "inbox"),
  });
  const inbox = new ReceiverInbox({
    ...source,
    onOpened: () => events.changed("inbox"),
  });
  const links = new RequestedLinks(source);
  const console = new Console({
    place: "receiver",
    features: () => ["deliveries", "endpoints", "inbox"],
    version: packageVersion(),
    access: new ConsoleAccess({
      token: toolToken ?? ownerCheck.token,
      // Clients of other pages sign in with the owner's token too.
      guesses: toolToken === undefined ? ownerCheck.guesses : undefined,
      now,
      onRefused: (refusal) => refusalLog.warn(refusal, "request to the console refused"),
    }),
    resources: [deliveriesApi(deliveries), endpointsApi(endpoints), inboxApi(inbox)],
    events,
    onLinkNeeded: () => {
      // A launched server has logged a link, unless its owner wants none.
      if (!server.launched) links.request(console);
    },
    mask: source.mask,
    onError: (error) => log.error({ err: error }, "A request of the console failed."),
  });
  return { console, settle: () => deliveries.settle() };
}
