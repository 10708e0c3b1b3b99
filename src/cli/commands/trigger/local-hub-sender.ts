import * as z from "zod";
import { HubError } from "../../../core/errors.ts";
import { directFetch } from "../../../core/fetch.ts";
import { readJson, toShellWord } from "../../../core/text.ts";
import { defaultLocalHubUrl, defaultPort, isLoopbackHost } from "../../../core/urls.ts";
import { developmentTokens } from "../../../local-hub/accounts.ts";
import type { HubDelivery } from "../../../local-hub/delivery/hub-delivery.ts";
import type { ParsedEvent } from "../../../local-hub/events/event-request.ts";
import type { UnfiredWebhook } from "../../../local-hub/events/publish-change.ts";
import { triggerArguments } from "../../../local-hub/events/trigger.ts";
import type { WebhookSummary } from "../../../local-hub/resources/webhooks.ts";
import { formatWatched } from "../../../payload/watch.ts";
import { type EventSender, isSecretRejected, type TriggerOutcome, type TriggerPreview } from "./results.ts";

/** The timeout of requests that do not wait for deliveries. */
const timeoutMs = 10_000;

/** The maximum number of webhooks to list when no webhook fired. */
const maxListed = 5;

/** The last line of each explanation of why no delivery was sent. */
const directHint = `To send the event directly to an endpoint, without a webhook, add --url http://127.0.0.1:${defaultPort}/webhooks/NAME.`;

const reason = z.enum(["domain", "private", "disabled", "suspended", "daily-limit"]);
const notFired = z.array(z.object({ webhookId: z.string(), url: z.string(), reason })) satisfies z.ZodType<
  UnfiredWebhook[]
>;
const delivery = z.object({
  webhookId: z.string(),
  deliveryId: z.string(),
  logId: z.string(),
  url: z.string(),
  attempts: z.number(),
  status: z.number().nullable(),
  durationMs: z.number().nullable(),
  answer: z.string().nullable(),
  error: z.string().nullable(),
}) satisfies z.ZodType<HubDelivery>;
const outcome = z.object({
  deliveries: z.array(delivery),
  notFired,
  notified: z.array(z.string()),
});
const preview = z.object({
  payload: z.unknown(),
  webhooks: z.array(z.object({ webhookId: z.string(), url: z.string() })),
  notFired,
});
const webhookList = z.array(
  z.object({
    id: z.string(),
    owner: z.string(),
    state: z.enum(["enabled", "disabled", "suspended"]),
    watched: z.array(z.object({ type: z.string(), name: z.string() })),
    domains: z.array(z.string()),
  }),
) satisfies z.ZodType<Pick<WebhookSummary, "id" | "owner" | "state" | "watched" | "domains">[]>;

interface LocalHubSenderOptions {
  /** The URL of the local Hub, without a trailing slash. */
  hubUrl: string;
  event: ParsedEvent;
}

/** Sends an event to a local Hub. The local Hub delivers the event to all webhooks that watch the repository. */
export class LocalHubSender implements EventSender {
  readonly #options: LocalHubSenderOptions;
  readonly #webhooks: z.output<typeof webhookList>;

  private constructor(options: LocalHubSenderOptions, webhooks: z.output<typeof webhookList>) {
    this.#options = options;
    this.#webhooks = webhooks;
  }

  /**
   * Connects to the local Hub.
   *
   * @throws `OPTION_INVALID` if the URL is not on this machine, `HUB_UNREACHABLE` if no server listens at the URL,
   * `HUB_TIMED_OUT` if the server does not answer in time, `HUB_RESPONSE_INVALID` if the server is not a local Hub.
   */
  static async connect(options: LocalHubSenderOptions): Promise<LocalHubSender> {
    const { hubUrl } = options;
    if (!isLoopbackHost(new URL(hubUrl).hostname)) throw notLocal(hubUrl);
    const signal = AbortSignal.timeout(timeoutMs);
    const webhooks = await request({ hubUrl, path: "/_local/webhooks", schema: webhookList, signal });
    return new LocalHubSender(options, webhooks);
  }

  trigger(signal: AbortSignal): Promise<TriggerOutcome> {
    return this.#post("wait=true", outcome, signal);
  }

  async preview(): Promise<TriggerPreview> {
    const signal = AbortSignal.timeout(timeoutMs);
    const { payload, webhooks, notFired } = await this.#post("dryRun=true", preview, signal);
    return { payload, receivers: webhooks, notFired };
  }

  explainNothingSent(notFired: readonly UnfiredWebhook[]): readonly string[] {
    const { hubUrl, event } = this.#options;
    const repo = `${event.repo.type}:${event.repo.name}`;
    const what = `${repo}, scope ${event.event.scope}`;
    if (this.#webhooks.length === 0) {
      return [
        `The local Hub at ${hubUrl} has no webhooks yet. To create one, run:`,
        `  ${this.#command("create", ["--url", `http://127.0.0.1:${defaultPort}/webhooks/NAME`, "--watch", repo])}`,
        directHint,
      ];
    }
    const explained = notFired.map((webhook) => this.#explain(webhook));
    if (explained.length > 0) return [`No webhook at ${hubUrl} fired for ${what}.`, ...explained, directHint];
    return [`No enabled webhook at ${hubUrl} watches ${what}.`, ...this.#describeWatched(), directHint];
  }

  advise({ deliveries, notFired }: TriggerOutcome): readonly string[] {
    // If the domain does not match or the user has no access to a private repository, not firing is the configured
    // behavior.
    const stopped = notFired.filter(({ reason }) => reason !== "domain" && reason !== "private");
    const advice = stopped.map((webhook) => this.#explain(webhook));
    const { webhookId, status } = deliveries.find(isSecretRejected) ?? {};
    if (webhookId !== undefined) {
      advice.push(
        `A ${status} usually means that the secrets of the webhook and the server differ. To set the secret of the webhook, run: ${this.#command("update", [webhookId, "--secret-stdin"])}`,
      );
    }
    return advice;
  }

  #post<Schema extends z.ZodType>(query: string, schema: Schema, signal: AbortSignal): Promise<z.output<Schema>> {
    const { hubUrl, event } = this.#options;
    return request({ hubUrl, path: `/_local/events?${query}`, schema, signal, body: JSON.stringify(event) });
  }

  #explain({ webhookId, url, reason }: UnfiredWebhook): string {
    const subject = `Webhook ${webhookId} (${url})`;
    const webhook = this.#webhooks.find(({ id }) => id === webhookId);
    const enable = this.#command("enable", [webhookId], webhook?.owner);
    switch (reason) {
      case "disabled":
        return `${subject} is disabled. To enable it, run: ${enable}`;
      case "suspended":
        return `${subject} is suspended because its deliveries failed. Fix the server that receives the deliveries, then run: ${enable}`;
      case "daily-limit":
        return `${subject} has reached its daily limit of triggers (default 1,000). Create another webhook.`;
      case "private":
        return `${subject} did not fire: ${webhook?.owner ?? "its owner"} has no access to this private repository.`;
      case "domain":
        return `${subject} only receives events of domain ${webhook?.domains.join(" and ") ?? "other"}. Try: ${this.#trigger({ watched: [this.#options.event.repo], domains: webhook?.domains ?? [] })}`;
    }
  }

  #describeWatched(): readonly string[] {
    const enabled = this.#webhooks.filter(({ state }) => state === "enabled");
    if (enabled.length === 0) return ["No webhook is enabled."];
    const listed = enabled.slice(0, maxListed).map((webhook) => {
      const watched = formatWatched(webhook.watched.slice(0, maxListed));
      const more = webhook.watched.length > watched.length ? " and more" : "";
      return `  ${webhook.id} watches ${watched.join(", ")}${more} (${webhook.domains.join(", ")}): ${this.#trigger(webhook)}`;
    });
    const remaining = enabled.length - listed.length;
    return [
      "These webhooks are enabled. To trigger one, run its command:",
      ...listed,
      ...(remaining > 0 ? [`  and ${remaining} more`] : []),
    ];
  }

  /** Returns a command that manages a webhook of this Hub, including the token of the webhook's owner. */
  #command(name: string, args: readonly string[], owner?: string): string {
    const known = developmentTokens.filter(({ tokenRole }) => tokenRole === "write");
    const token = (known.find(({ user }) => user === owner) ?? known[0])?.token ?? "hf_local";
    const globals = ["--hub-url", this.#options.hubUrl, "--token", token];
    return ["npx hub-webhooks", name, ...[...args, ...globals].map(toShellWord)].join(" ");
  }

  /** Returns a command that triggers this webhook. */
  #trigger({ watched, domains }: Pick<WebhookSummary, "watched" | "domains">): string {
    const { hubUrl } = this.#options;
    const words = triggerArguments({ watched, scopes: domains });
    const args = [...words, ...(hubUrl === defaultLocalHubUrl ? [] : ["--hub-url", hubUrl])];
    return `npx hub-webhooks trigger ${args.map(toShellWord).join(" ")}`;
  }
}

interface RequestOptions<Schema> {
  hubUrl: string;
  path: string;
  schema: Schema;
  signal: AbortSignal;
  /** A JSON body. If set, the method is POST, and a local Hub has answered an earlier request. */
  body?: string;
}

const rejection = z.object({ error: z.string() });

/**
 * Sends a request to the API of a local Hub, and parses the response.
 *
 * @throws `HUB_UNREACHABLE` if no server listens, `HUB_TIMED_OUT` if it does not answer in time, `HUB_RESPONSE_INVALID` if the server is not a local Hub,
 * `ARGUMENT_INVALID` if the local Hub rejects the request.
 */
async function request<Schema extends z.ZodType>(options: RequestOptions<Schema>): Promise<z.output<Schema>> {
  const { hubUrl, path, schema, signal, body } = options;
  const post = body !== undefined && { method: "POST", headers: { "content-type": "application/json" }, body };
  let response: Response;
  let text: string;
  try {
    response = await directFetch(`${hubUrl}${path}`, { ...post, redirect: "manual", signal });
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") throw tooSlow(hubUrl);
    if (isConnectionRefused(error)) throw nothingListens(hubUrl);
    throw body === undefined ? notALocalHub(hubUrl) : hubStopped(hubUrl);
  }
  const answer = readJson(text);
  const read = schema.safeParse(answer);
  if (response.ok && read.success) return read.data;
  const rejected = rejection.safeParse(answer);
  if (body !== undefined && rejected.success) {
    const code = response.status < 500 ? "ARGUMENT_INVALID" : "HUB_FAILED";
    throw new HubError(`The local Hub rejected the request: ${rejected.data.error}`, { code });
  }
  throw notALocalHub(hubUrl);
}

/** Whether `fetch` failed because no server listens at the URL. The system error is in the chain of causes. */
function isConnectionRefused(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionRefused);
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isConnectionRefused(error.cause);
}

function nothingListens(hubUrl: string): HubError {
  return new HubError(
    `No local Hub is running at ${hubUrl}. Start a local Hub with "npx hub-webhooks dev server.ts" or "npx hub-webhooks hub", or set the URL of a running local Hub with --hub-url.`,
    { code: "HUB_UNREACHABLE" },
  );
}

/** Creates the error for a server that is slow, or that waits for something else than HTTP. */
function tooSlow(hubUrl: string): HubError {
  return new HubError(
    `The server at ${hubUrl} did not answer within ${timeoutMs / 1_000} s. If it is a local Hub, check its output, and try again.`,
    { code: "HUB_TIMED_OUT" },
  );
}

/** Creates the error for a local Hub that answered earlier requests but has stopped. */
function hubStopped(hubUrl: string): HubError {
  return new HubError(
    `The local Hub at ${hubUrl} stopped before it answered. Check the output of the local Hub, then restart it.`,
    { code: "HUB_UNREACHABLE" },
  );
}

/** Creates the error for a server at the URL that is not a local Hub. */
function notALocalHub(hubUrl: string): HubError {
  return new HubError(
    `The server at ${hubUrl} is not a local Hub. Set the URL of a local Hub with --hub-url or HF_ENDPOINT, or send events to a server directly with --url.`,
    { code: "HUB_RESPONSE_INVALID" },
  );
}

/** Creates the error for a URL that is not on this machine. */
function notLocal(hubUrl: string): HubError {
  return new HubError(
    `Only a local Hub accepts test events, but ${hubUrl} is not on this machine. Start a local Hub with "npx hub-webhooks dev server.ts" and add --hub-url ${defaultLocalHubUrl}, or send events directly to a server with --url. To test with the real Hub, push a commit, or replay a delivery with "npx hub-webhooks replay".`,
    { code: "OPTION_INVALID", fields: ["hubUrl"] },
  );
}
