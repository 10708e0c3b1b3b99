import * as z from "zod";
import { toShellWord } from "../../../core/escape.ts";
import { isLoopbackHost } from "../../../core/loopback.ts";
import { developmentTokens } from "../../../local-hub/accounts.ts";
import type { ParsedEvent } from "../../../local-hub/events/event-request.ts";
import type { SkippedWebhook } from "../../../local-hub/events/trigger.ts";
import { triggerArguments } from "../../../local-hub/resources/webhooks.ts";
import { ask, defaultEndpoint, gone, notALocalHub, notLocal } from "./local-hub-request.ts";
import { isRefusal } from "./tally.ts";
import type { TriggerOutcome, TriggerPreview, TriggerTarget } from "./target.ts";

/** How long a program that listens there may take to show that it is a local Hub, in milliseconds. */
const greetingMs = 10_000;

/** How many of the Hub's webhooks are named where none has fired. */
const webhooksNamed = 5;

const reason = z.enum(["domain", "private", "disabled", "suspended", "used-up"]);
const notFired = z.array(z.object({ webhookId: z.string(), url: z.string(), reason }));
const outcome = z.object({
  deliveries: z.array(
    z.object({
      webhookId: z.string(),
      deliveryId: z.string(),
      logId: z.string(),
      url: z.string(),
      attempts: z.number(),
      status: z.number().nullable(),
      durationMs: z.number().nullable(),
      answer: z.string().nullable(),
      error: z.string().nullable(),
    }),
  ),
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
);

/** What {@link LocalHubTarget.connect} needs. */
export interface LocalHubTargetOptions {
  /** The address of the local Hub, without a trailing slash. */
  endpoint: string;
  event: ParsedEvent;
}

/** A local Hub, all of whose webhooks fire that watch what happens. */
export class LocalHubTarget implements TriggerTarget {
  readonly #options: LocalHubTargetOptions;
  readonly #webhooks: z.output<typeof webhookList>;

  private constructor(options: LocalHubTargetOptions, webhooks: z.output<typeof webhookList>) {
    this.#options = options;
    this.#webhooks = webhooks;
  }

  /**
   * Finds the local Hub.
   *
   * @throws `OPTION_INVALID` when the address is not of this machine; `HUB_UNREACHABLE` when nobody listens there,
   * `HUB_RESPONSE_INVALID` when it is not a local Hub.
   */
  static async connect(options: LocalHubTargetOptions): Promise<LocalHubTarget> {
    const { endpoint } = options;
    if (!isLoopbackHost(new URL(endpoint).hostname)) throw notLocal(endpoint);
    const signal = AbortSignal.timeout(greetingMs);
    const unanswered = () => notALocalHub(endpoint);
    const webhooks = await ask({ endpoint, path: "/_local/webhooks", schema: webhookList, signal, unanswered });
    return new LocalHubTarget(options, webhooks);
  }

  trigger(signal: AbortSignal): Promise<TriggerOutcome> {
    return this.#post({ query: "wait=true", schema: outcome, signal });
  }

  async preview(): Promise<TriggerPreview> {
    const signal = AbortSignal.timeout(greetingMs);
    const { payload, webhooks, notFired } = await this.#post({ query: "dryRun=true", schema: preview, signal });
    return { payload, receivers: webhooks, notFired };
  }

  explainSilence(notFired: readonly SkippedWebhook[]): readonly string[] {
    const { endpoint, event } = this.#options;
    const what = `${event.repo.type}:${event.repo.name}, scope ${event.event.scope}`;
    if (this.#webhooks.length === 0) {
      return [
        `The local Hub at ${endpoint} has no webhooks yet. To create one:`,
        `  ${this.#command("create", ["--url", "http://127.0.0.1:7860/webhooks/NAME", "--watch", this.#repo])}`,
      ];
    }
    const silent = notFired.map((webhook) => this.#explain(webhook));
    if (silent.length > 0) return [`No webhook at ${endpoint} has fired on ${what}.`, ...silent];
    return [`No enabled webhook at ${endpoint} watches ${what}.`, ...this.#listWatched()];
  }

  advise({ deliveries, notFired }: TriggerOutcome): readonly string[] {
    // That others care for another domain, or may not read a private repository, is nothing to wonder about.
    const stopped = notFired.filter(({ reason }) => reason !== "domain" && reason !== "private");
    const refused = deliveries.find(isRefusal)?.webhookId;
    return [
      ...stopped.map((webhook) => this.#explain(webhook)),
      ...(refused === undefined
        ? []
        : [
            `A ${deliveries.find(isRefusal)?.status} mostly says that the webhook's secret is not the receiver's: ${this.#command("update", [refused, "--secret-stdin"])}`,
          ]),
    ];
  }

  close(): void {
    // Its connections are those of fetch, which end by themselves.
  }

  get #repo(): string {
    const { repo } = this.#options.event;
    return `${repo.type}:${repo.name}`;
  }

  #post<Schema extends z.ZodType>(wanted: {
    query: string;
    schema: Schema;
    signal: AbortSignal;
  }): Promise<z.output<Schema>> {
    const { endpoint, event } = this.#options;
    const { query, schema, signal } = wanted;
    const unanswered = () => gone(endpoint);
    return ask({ endpoint, path: `/_local/events?${query}`, schema, signal, unanswered, body: JSON.stringify(event) });
  }

  #explain({ webhookId, url, reason }: SkippedWebhook): string {
    const which = `Webhook ${webhookId} (${url})`;
    const webhook = this.#webhooks.find(({ id }) => id === webhookId);
    const enable = this.#command("enable", [webhookId], webhook?.owner);
    switch (reason) {
      case "disabled":
        return `${which} watches it and is disabled. To enable it: ${enable}`;
      case "suspended":
        return `${which} watches it and is suspended, since its deliveries failed. Mend its receiver, then: ${enable}`;
      case "used-up":
        return `${which} watches it and has used up its triggers of the day, 1,000 unless the local Hub was told otherwise: create another one.`;
      case "private":
        return `${which} watches it and does not hear of it: ${webhook?.owner ?? "its owner"} cannot read this private repository.`;
      case "domain":
        return `${which} watches it and hears only of ${webhook?.domains.join(" and ") ?? "something else"}: try ${this.#trigger({ watched: [this.#options.event.repo], domains: webhook?.domains ?? [] })}`;
    }
  }

  #listWatched(): readonly string[] {
    const enabled = this.#webhooks.filter(({ state }) => state === "enabled");
    if (enabled.length === 0) return ["None of its webhooks is enabled."];
    const named = enabled.slice(0, webhooksNamed).map((webhook) => {
      const watched = webhook.watched.slice(0, webhooksNamed).map(({ type, name }) => `${type}:${name}`);
      const more = webhook.watched.length > watched.length ? " and more" : "";
      return `  ${webhook.id} watches ${watched.join(", ")}${more} (${webhook.domains.join(", ")}): ${this.#trigger(webhook)}`;
    });
    const left = enabled.length - named.length;
    return ["What is watched, and what would fire:", ...named, ...(left > 0 ? [`  and ${left} more`] : [])];
  }

  /** A command that manages webhooks of this Hub, with a token of their owner. */
  #command(name: string, words: readonly string[], owner?: string): string {
    const known = developmentTokens.filter(({ tokenRole }) => tokenRole === "write");
    const token = (known.find(({ user }) => user === owner) ?? known[0])?.token ?? "hf_local";
    const globals = ["--endpoint", this.#options.endpoint, "--token", token];
    return ["npx hub-webhooks", name, ...[...words, ...globals].map(toShellWord)].join(" ");
  }

  /** A command that fires a webhook. */
  #trigger(webhook: Parameters<typeof triggerArguments>[0]): string {
    const { endpoint } = this.#options;
    const words = [...triggerArguments(webhook), ...(endpoint === defaultEndpoint ? [] : ["--endpoint", endpoint])];
    return `npx hub-webhooks trigger ${words.map(toShellWord).join(" ")}`;
  }
}
