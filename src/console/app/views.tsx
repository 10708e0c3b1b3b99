import type { ComponentType } from "preact";
import type { ConsoleFeature } from "../protocol/session.ts";
import { DeliveriesView } from "./deliveries/deliveries-view.tsx";
import { EndpointsView } from "./endpoints/endpoints-view.tsx";
import { EventsView } from "./hub/events/events-view.tsx";
import { JobsView } from "./hub/jobs/jobs-view.tsx";
import { RepositoriesView } from "./hub/repositories/repositories-view.tsx";
import { WebhooksView } from "./hub/webhooks/webhooks-view.tsx";
import { InboxView } from "./inbox/inbox-view.tsx";
import { LogsView } from "./logs/logs-view.tsx";
import { SendView } from "./send/send-view.tsx";
import { TunnelView } from "./session/tunnel-view.tsx";

/** A view of the console. */
export interface View {
  /** The view is shown where the server offers this feature. */
  feature: ConsoleFeature;
  /** The name in the navigation and in the document's title. */
  label: string;
  /** The first part of its routes: `deliveries` for `#/deliveries` and `#/deliveries/one`. */
  path: string;
  component: ComponentType;
}

/** The views, in the order of the navigation. To add a view, add an entry. */
export const views: readonly View[] = [
  { feature: "deliveries", label: "Deliveries", path: "deliveries", component: DeliveriesView },
  { feature: "endpoints", label: "Endpoints", path: "endpoints", component: EndpointsView },
  { feature: "inbox", label: "Inbox", path: "inbox", component: InboxView },
  { feature: "webhooks", label: "Webhooks", path: "webhooks", component: WebhooksView },
  { feature: "events", label: "Events", path: "events", component: EventsView },
  { feature: "send", label: "Send", path: "send", component: SendView },
  { feature: "repositories", label: "Repositories", path: "repositories", component: RepositoriesView },
  { feature: "jobs", label: "Jobs", path: "jobs", component: JobsView },
  { feature: "logs", label: "Logs", path: "logs", component: LogsView },
  { feature: "tunnel", label: "Tunnel", path: "tunnel", component: TunnelView },
];
