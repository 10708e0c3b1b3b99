import * as z from "zod/mini";
import type { ConsoleFeature } from "../../console/protocol/session.ts";
import { type ConsoleResource, type SendSource, sendApi } from "../../console/server/api.ts";
import type { ConsoleEvents } from "../../console/server/events.ts";
import { WebhookError } from "../../core/errors.ts";
import { readJson } from "../../core/text.ts";
import { webhooksPath } from "../../core/urls.ts";
import { createId, createSha } from "../../local-hub/accounts.ts";
import { hubFeatures, hubResources, reportHubChanges } from "../../local-hub/console/hub-console.ts";
import { parseDraft } from "../../local-hub/console/send-source.ts";
import { postDelivery } from "../../local-hub/delivery/attempt.ts";
import { HttpSender } from "../../local-hub/delivery/http-sender.ts";
import type { HubDeliveryAttempt } from "../../local-hub/delivery/hub-delivery.ts";
import { serializeEvent } from "../../local-hub/events/event-request.ts";
import { payloadSerializer } from "../../local-hub/events/repository-change.ts";
import { contextOf } from "../../local-hub/hub-context.ts";
import type { LocalHub } from "../../local-hub/local-hub.ts";
import { predictFilter } from "../../payload/filter.ts";
import { formatWatched, parseWatch, type WatchedItem } from "../../payload/watch.ts";
import { endpointUnknown } from "../../receiver/context.ts";
import type { EndpointDetails, ServerDescription } from "../../receiver/control.ts";
import { isRefusal, type ProxyOptions, waitForServer } from "../proxy-request.ts";

/** The features and routes that the Hub of a session adds to its console. */
export interface ConsoleHub {
  features: readonly ConsoleFeature[];
  resources: readonly ConsoleResource[];
}

/** Adds the page that sends events directly to the server. The real Hub has its own pages for everything else. */
export function realHubParts(options: DirectSendOptions): ConsoleHub {
  return { features: ["send"], resources: [sendApi(directSendSource(options))] };
}

export interface ConsoleHubOptions {
  events: ConsoleEvents;
  endpoints: () => readonly EndpointDetails[];
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
      predict: (name, payload, changedPaths) => {
        const endpoint = endpoints().find((one) => one.name === name);
        return endpoint ? predictFilter(endpoint, payload, changedPaths) : {};
      },
      endpointOf: (webhookUrl) => endpoints().find(({ name }) => urlOf(name) === webhookUrl)?.name,
    }),
  };
}

export interface DirectSendOptions extends Pick<ProxyOptions, "serverPort" | "serverTimeoutMs"> {
  /** Returns the endpoints of the server, with the items that their webhooks watch, and its secret. */
  server: () => ServerDescription;
  /** The name of the server file, for messages. */
  file: string;
  /** Returns the local URL of the session. */
  url: () => string;
  /** The URL of the Hub in payloads, without a trailing slash. */
  hubUrl: string;
  signal: AbortSignal;
}

/** The Hub's timeout for a complete response. */
const timeoutMs = 30_000;

/** The JSON of a response that the server created. */
const serverAnswer = z.object({
  error: z.optional(z.string()),
  code: z.optional(z.string()),
  ignored: z.optional(z.string()),
});
type ServerAnswer = z.infer<typeof serverAnswer>;

/** Sends events directly to the endpoints of the server, with its secret and new IDs. No Hub takes part. */
export function directSendSource(options: DirectSendOptions): SendSource {
  const { server, hubUrl, signal } = options;
  const urlOf = (endpoint: string) => `${options.url()}${webhooksPath}${endpoint}`;
  return {
    isDirect: true,

    repositories() {
      const { endpoints } = server();
      return { watched: endpoints.flatMap(repositoriesOf), others: endpoints.flatMap(examplesOf) };
    },

    draftPayload: (draft) => serializeEvent(parseDraft(draft), { hubUrl, createId, createSha })(createId()),

    preview({ payload }) {
      const recipients = server().endpoints.map((endpoint) => ({
        ...{ kind: "endpoint" as const, name: endpoint.name, url: urlOf(endpoint.name) },
        ...predictFilter(endpoint, payload),
      }));
      return { recipients };
    },

    /**
     * Sends an event to all chosen endpoints at the same time, and waits for the responses.
     *
     * @throws `SERVER_FILE_INVALID`, `NOT_READY` (503) if the server is not running; `ENDPOINT_UNKNOWN` (404).
     */
    async send({ payload, endpoints: chosen }) {
      await requireServer(options);
      const { endpoints, secret } = server();
      const names = chosen ? [...new Set(chosen)] : endpoints.map(({ name }) => name);
      requireEndpoints(names, endpoints);
      const { webhook: _edited, ...fields } = payload;
      const bodyFor = payloadSerializer(fields, { edits: [], createId });
      const sender = new HttpSender({ allowRemote: false });
      const post = async (name: string) => {
        const id = crypto.randomUUID();
        const delivery = { deliveryId: id, logId: createId(), attempt: 1, body: bodyFor(createId()) };
        const { attempt } = await postDelivery(
          { sender, timeoutMs, signal, now: () => performance.timeOrigin + performance.now() },
          { url: urlOf(name), secret, delivery },
        );
        return { id, recipient: name, ...describeAttempt(name, attempt) };
      };
      try {
        return { deliveries: await Promise.all(names.map(post)) };
      } finally {
        sender.close();
      }
    },
  };
}

function describeAttempt(name: string, { status, durationMs, response, error }: HubDeliveryAttempt) {
  // A handler can also answer with text or with other JSON.
  const answer = serverAnswer.safeParse(readJson(response?.body ?? "")).data ?? {};
  return {
    durationMs: Math.round(durationMs * 10) / 10,
    status: status ?? undefined,
    endpoint: status !== null && isRecorded(status, answer) ? name : undefined,
    problem: error === null ? undefined : (answer.error ?? error),
    ignored: error === null ? answer.ignored : undefined,
  };
}

async function requireServer(options: DirectSendOptions): Promise<void> {
  const { file } = options;
  try {
    await waitForServer(options);
  } catch (cause) {
    const isBroken = WebhookError.isInstance(cause);
    const message = isBroken
      ? `The server is not running, so nothing was sent. Fix ${file}, save it, and send the event again.`
      : `The server is still loading, so nothing was sent. Wait until ${file} is loaded, and send the event again.`;
    throw new WebhookError(message, { code: isBroken ? cause.code : "NOT_READY", status: 503, cause });
  }
}

/** @throws `ENDPOINT_UNKNOWN` (404), for example if a reload has removed the endpoint. */
function requireEndpoints(names: readonly string[], endpoints: readonly EndpointDetails[]): void {
  const known = endpoints.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw endpointUnknown(unknown, known);
}

/** The codes of failed runs. A delivery that the server refused before a run has another code. */
const failureCodes: readonly string[] = ["HANDLER_FAILED", "HANDLER_TIMED_OUT", "RESULT_NOT_JSON", "CLOSING"];

/** Whether the server has recorded the delivery. A refused one, for example because of the endpoint's schema, is not recorded. */
function isRecorded(status: number, { code }: ServerAnswer): boolean {
  if (status < 400) return true;
  // A response without a code is that of the handler or of middleware.
  return code === undefined ? !isRefusal(status) : failureCodes.includes(code);
}

/** Returns the repositories that an endpoint watches or that its filter names, as `type:name`, without owners and patterns. */
export function repositoriesOf({ watch, repos }: Pick<EndpointDetails, "watch" | "repos">): readonly string[] {
  const named = repos.flatMap((repo) => {
    const parsed = parseWatch(repo);
    return "problem" in parsed ? [] : [parsed];
  });
  return formatWatched([...watch, ...named].filter((item) => !isOwner(item) && item.name.includes("/")));
}

/** Returns an example of a repository for each owner that an endpoint watches, as `type:name`. */
export function examplesOf({ watch }: Pick<EndpointDetails, "watch">): readonly string[] {
  return watch.filter(isOwner).map(({ name }) => `dataset:${name}/data`);
}

function isOwner({ type }: WatchedItem): boolean {
  return type === "user" || type === "org";
}
