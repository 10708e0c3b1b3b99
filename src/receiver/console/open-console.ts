import { serverFeatures } from "../../console/protocol/session.ts";
import { ConsoleAccess } from "../../console/server/access.ts";
import { checksApi, deliveriesApi, endpointsApi, inboxApi } from "../../console/server/api.ts";
import { Console } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/events.ts";
import { packageVersion } from "../../core/files.ts";
import { publicUrlOf, type ServerContext } from "../context.ts";
import { createDeliveries } from "./deliveries.ts";
import { createEndpoints } from "./endpoints.ts";
import { type ConsoleParts, createConsoleSource, createInbox } from "./inbox.ts";
import { runSelfChecks } from "./self-checks.ts";
import { type EarlierActivity, readActivity } from "./snapshot.ts";

/** How often a link is logged at most. Anyone can open the sign-in page. */
const linkIntervalMs = 600_000;

/**
 * Returns a function that logs a sign-in link when a client opens the sign-in page of a server that has logged none, because it was
 * not launched. The link has no host if the server does not know its own: the client chooses the host of its request, so a link to
 * it could hand the code to another server.
 */
function createLinkLogger(server: ServerContext): (console: Console) => void {
  const { log, now } = server;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (console) => {
    // A launched server has logged a link, unless its owner wants none.
    if (server.launched) return;
    const sinceMs = now() - loggedAt;
    // The time is negative if the clock was set back.
    if (sinceMs >= 0 && sinceMs < linkIntervalMs) return;
    loggedAt = now();
    const baseUrl = publicUrlOf(server);
    const open = baseUrl === "" ? "Open this path below the URL of the server" : "Open the console with this link";
    log.info(
      { console: console.createSignInLink(baseUrl) },
      `${open}, which is valid once and for one hour. Set CONSOLE_TOKEN to sign in at any time.`,
    );
  };
}

export interface OpenedConsole {
  console: Console;
  /** Waits until the replays of inline deliveries have ended. */
  settle: () => Promise<void>;
}

/** Creates the console of a receiver. `earlier`: the activity before the last reload of a dev session. */
export function openConsole(
  server: ServerContext,
  parts: ConsoleParts,
  earlier: EarlierActivity = readActivity(),
): OpenedConsole {
  const source = createConsoleSource(server, parts);
  const { history, now, log, refusalLog, ownerCheck, toolToken } = server;
  const deliveries = createDeliveries(source);
  const events = new ConsoleEvents({
    watch: () =>
      history.observe({
        onChange: (key) => {
          events.deliveryChanged(key);
          onChange();
        },
        onRefused: () => events.changed("endpoints"),
      }),
    readDelivery: (key) => deliveries.summary(key),
    isClosed: () => server.isClosed,
  });
  const onChange = () => events.changed("endpoints", "inbox");
  const endpoints = createEndpoints(source, { earlier, onChange });
  const inbox = createInbox(source, { onOpened: () => events.changed("inbox") });
  const logLink = createLinkLogger(server);
  const console = new Console({
    place: "receiver",
    features: () => serverFeatures,
    version: packageVersion(),
    access: new ConsoleAccess({
      token: toolToken ?? ownerCheck.token,
      // Clients of other pages sign in with the owner's token too.
      guesses: toolToken === undefined ? ownerCheck.guesses : undefined,
      now,
      onRefused: (refusal) => refusalLog.warn(refusal, "request to the console refused"),
    }),
    resources: [
      deliveriesApi(deliveries),
      endpointsApi(endpoints),
      inboxApi(inbox),
      checksApi(() => runSelfChecks(source, { inbox, endpoints })),
    ],
    events,
    onLinkNeeded: () => logLink(console),
    mask: source.mask,
    onError: (error) => log.error({ err: error }, "A request of the console failed."),
  });
  return { console, settle: deliveries.settle };
}
