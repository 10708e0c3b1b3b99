import {
  type EventDelivery,
  type EventInfo,
  type EventList,
  eventKey,
  eventQuery,
  type JobDetails,
  type JobInfo,
  type JobList,
  jobQuery,
} from "../../console/protocol/hub.ts";
import type { ConsoleFeature } from "../../console/protocol/session.ts";
import { ConsoleAccess } from "../../console/server/access.ts";
import type { ConsoleResource } from "../../console/server/api.ts";
import { readQuery, sendApi } from "../../console/server/api.ts";
import { Console } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/events.ts";
import { packageVersion } from "../../core/files.ts";
import { cutAt } from "../../core/text.ts";
import type { HubContext } from "../hub-context.ts";
import { maxKeptAttempts } from "../store/delivery-store.ts";
import type { ListedEvent, StoredEvent } from "../store/event-store.ts";
import type { StoredJob } from "../store/job-store.ts";
import type { WatchedTable } from "../store/store.ts";
import { repositoriesApi } from "./repositories-api.ts";
import { recordingApi, scenariosApi } from "./scenario-files.ts";
import { HubSendSource, type SessionEndpoints } from "./send-source.ts";
import {
  nameOfWebhook,
  notFound,
  runJobsCommand,
  skipReasonText,
  triggerCommand,
  webhooksApi,
} from "./webhooks-api.ts";

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

export function hubResources(hub: HubContext, session: SessionEndpoints = {}): readonly ConsoleResource[] {
  const send = sendApi(new HubSendSource(hub, session));
  const scenarios = scenariosApi(hub, session.folder ?? process.cwd());
  return [webhooksApi(hub), eventsApi(hub), send, scenarios, recordingApi(hub), repositoriesApi(hub), jobsApi(hub)];
}

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

const maxListedJobs = 200;
const maxLines = 1_000;
/** The maximum length of a variable, such as the payload. */
const maxVariableCharacters = 2_000;

function jobsApi(hub: HubContext): ConsoleResource {
  const { store, jobs, runJobs } = hub;
  return (app) => {
    app.get("/jobs", (context) => {
      const all = store.jobs.all();
      return context.json<JobList>({
        jobs: all.slice(0, maxListedJobs).map((job) => toJobInfo(jobs, job)),
        unlisted: Math.max(0, all.length - maxListedJobs),
        runsJobs: runJobs,
        runCommand: runJobsCommand,
      });
    });

    app.get("/jobs/one", (context) => {
      const { id, after } = readQuery(context, jobQuery);
      const job = store.jobs.get(id);
      if (!job) throw notFound("This job does not exist. The local Hub keeps the latest 1,000 jobs. Reload the list.");
      return context.json(toJobDetails(hub, job, after));
    });
  };
}

function toJobInfo(runner: HubContext["jobs"], job: StoredJob): JobInfo {
  const { id, owner, stage, message, createdAt, startedAt, finishedAt, definition, webhookId } = job;
  const { command = [], arguments: args = [], dockerImage, spaceId } = definition;
  const words = [...command, ...args].join(" ");
  return {
    ...{ id, owner, stage, createdAt, isActive: runner.isActive(job) },
    command: cutAt(words === "" ? (dockerImage ?? spaceId ?? "") : words, maxVariableCharacters),
    ...{ message: message ?? undefined, startedAt, finishedAt, webhookId },
  };
}

function toJobDetails({ store, jobs }: HubContext, job: StoredJob, after: number | undefined): JobDetails {
  const { id, createdBy, definition, secretNames, failureCount = 0 } = job;
  const { flavor, dockerImage, spaceId, attempts, timeoutSeconds, environment } = definition;
  const first = after ?? Math.max(0, store.jobs.lineCount(id) - maxLines);
  return {
    ...toJobInfo(jobs, job),
    ...{ createdBy, flavor, attempts, failures: failureCount, secretNames, image: dockerImage ?? spaceId },
    timeoutSeconds: timeoutSeconds ?? undefined,
    environment: Object.entries(environment).map(([name, value]) => [name, cutAt(value, maxVariableCharacters)]),
    logs: store.jobs
      .lines(id, { after: first, limit: maxLines })
      .map(({ number, timestamp, data }) => ({ number, at: timestamp, text: data })),
  };
}

const defaultLimit = 50;

function eventsApi(hub: HubContext): ConsoleResource {
  const { events } = hub.store;
  return (app) => {
    app.get("/events", (context) => {
      const { cursor, limit = defaultLimit } = readQuery(context, eventQuery);
      const listed = events.list({ before: cursor, limit });
      const last = listed.length < limit ? undefined : listed.at(-1);
      return context.json<EventList>({
        events: listed.map((event) => toEventInfo(hub, event)),
        ...(last && { next: last.sequence }),
        triggerCommand: triggerCommand(hub),
      });
    });

    app.get("/events/one", (context) => {
      const event = events.get(readQuery(context, eventKey).id);
      if (!event) throw notFound("This event is no longer stored. The local Hub keeps the latest 500 events.");
      return context.json(toEventInfo(hub, event));
    });
  };
}

function toEventInfo(hub: HubContext, event: ListedEvent): EventInfo {
  const { id, at, scope, action, repo, user, isPayloadOnly, deliveries, skipped, unlisted } = event;
  return {
    ...{ id, at, scope, action, repository: repo, user, isPayloadOnly, unlisted },
    deliveries: deliveries.map((delivery) => toEventDelivery(hub, delivery)),
    skipped: skipped.map(({ webhookId, url, reason }) => ({
      ...{ webhookId, name: nameOf(hub, webhookId, url), reason: skipReasonText(reason) },
    })),
  };
}

/** Names a webhook by its current target, or a deleted webhook by the URL at the time of the event. */
function nameOf({ store }: HubContext, webhookId: string, url: string): string {
  const webhook = store.webhooks.get(webhookId);
  return webhook ? nameOfWebhook(webhook) : url;
}

/** Describes a delivery by its attempts. Nothing else is stored about deliveries that are not pending. */
function toEventDelivery(hub: HubContext, fired: StoredEvent["deliveries"][number]): EventDelivery {
  const { webhookId, deliveryId, url } = fired;
  const { store } = hub;
  const latest = store.deliveries.latestAttempt(deliveryId);
  const isPending = store.deliveries.getPending(deliveryId) !== undefined;
  const delivery = { webhookId, deliveryId, name: nameOf(hub, webhookId, url), attempts: latest?.attempt ?? 0 };
  if (!latest) {
    if (isPending) return { ...delivery, status: "queued" };
    // The attempts of a deleted webhook are deleted, and old attempts of a busy webhook.
    const isUnknown = !store.webhooks.get(webhookId) || store.deliveries.countAttempts(webhookId) >= maxKeptAttempts;
    return isUnknown ? delivery : { ...delivery, status: "cancelled" };
  }
  const { status, error, logId } = latest;
  return {
    ...{ ...delivery, logId, responseStatus: status ?? undefined, error: error ?? undefined },
    status: error === null ? "succeeded" : isPending ? "retrying" : "dead",
  };
}
