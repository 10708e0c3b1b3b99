import type { ConsoleFeature } from "../../console/protocol/session.ts";
import { ConsoleAccess } from "../../console/server/access.ts";
import { Console, type ConsoleResource } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/console-events.ts";
import { sendApi } from "../../console/server/send-api.ts";
import { packageVersion } from "../../core/files.ts";
import type { HubContext } from "../hub-context.ts";
import type { WatchedTable } from "../store/watch-tables.ts";
import { eventsApi } from "./events-api.ts";
import { jobsApi } from "./jobs-api.ts";
import { repositoriesApi } from "./repositories-api.ts";
import { HubSendSource, type SessionEndpoints } from "./send-source.ts";
import { webhooksApi } from "./webhooks-api.ts";

/** The features of a local Hub, in the order of the navigation. */
export const hubFeatures = [
  "webhooks",
  "events",
  "send",
  "repositories",
  "jobs",
] as const satisfies readonly ConsoleFeature[];

/** The features whose data each table contains. Send lists webhooks and repositories. */
const featuresOf: Readonly<Record<WatchedTable, readonly ConsoleFeature[]>> = {
  // A webhook that is disabled cancels its deliveries.
  webhooks: ["webhooks", "events", "send"],
  pending: ["webhooks", "events"],
  attempts: ["webhooks", "events"],
  events: ["events"],
  repositories: ["repositories", "send"],
  refs: ["repositories"],
  discussions: ["repositories"],
  discussion_events: ["repositories"],
  jobs: ["jobs"],
  job_logs: ["jobs"],
};

/** The routes of a local Hub, for its own console and for that of a dev session. */
export function hubResources(hub: HubContext, session: SessionEndpoints = {}): readonly ConsoleResource[] {
  const send = sendApi(new HubSendSource(hub, session));
  return [webhooksApi(hub), eventsApi(hub), send, repositoriesApi(hub), jobsApi(hub)];
}

/** Reports the changes of a local Hub to open consoles. */
export function reportHubChanges({ store }: HubContext, events: ConsoleEvents): void {
  store.watch((table) => events.changed(...featuresOf[table]));
}

/** Creates the console of a local Hub. Only one-time links sign in. */
export function createHubConsole(hub: HubContext): Console {
  const { hubUrl, now, log } = hub;
  const events = new ConsoleEvents();
  reportHubChanges(hub, events);
  const console = new Console({
    place: "hub",
    features: () => hubFeatures,
    version: packageVersion(),
    access: new ConsoleAccess({
      token: undefined,
      now,
      onLinkUsed: () =>
        log.info({ url: console.createSignInLink(hubUrl) }, "The console link was used. Sign in again with this link."),
      onRefused: (refusal) => log.warn(refusal, "A sign-in to the console was refused."),
    }),
    resources: hubResources(hub),
    events,
    onError: (error) => log.error({ err: error }, "A request to the console failed with an unexpected error."),
  });
  return console;
}
