import { ConsoleAccess } from "../../console/server/access.ts";
import { Console } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/console-events.ts";
import { deliveriesApi } from "../../console/server/deliveries-api.ts";
import { endpointsApi } from "../../console/server/endpoints-api.ts";
import { inboxApi } from "../../console/server/inbox-api.ts";
import { packageVersion } from "../../core/package-version.ts";
import { webhooksPath } from "../../core/paths.ts";
import { ReceiverDeliveries } from "./deliveries.ts";
import { EarlierActivity } from "./earlier-activity.ts";
import { ReceiverEndpoints } from "./endpoints.ts";
import { ReceiverInbox } from "./inbox.ts";
import { Registrations } from "./registrations.ts";
import { RequestedLinks } from "./requested-links.ts";
import { type ServerParts, sourceOf } from "./source.ts";

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
