import { readSpace } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import { withDeadline } from "../../core/time.ts";
import { maskSecretsOf, webhooksPath } from "../../core/urls.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { configuredUrl } from "../../inbox/open-inbox.ts";
import type { ServerContext } from "../context.ts";
import type { DeliveryPipeline } from "../deliver.ts";
import type { ServerHub } from "../hub.ts";
import type { BackgroundWork } from "../inbox.ts";

/** After this time, an inbox counts as down, so that a page shows an error instead of loading forever. */
const defaultTimeoutMs = 5_000;

/**
 * Waits for an answer of the inbox.
 *
 * @throws `INBOX_UNAVAILABLE` (503) after the timeout.
 */
export function withInboxDeadline<Result>(
  pending: Promise<Result>,
  timeoutMs: number = defaultTimeoutMs,
): Promise<Result> {
  const late = () =>
    new WebhookError(`The inbox did not answer within ${timeoutMs / 1000} s. Check whether its server is up.`, {
      code: "INBOX_UNAVAILABLE",
      status: 503,
    });
  return withDeadline(pending, timeoutMs, late);
}

export interface ConsoleParts {
  pipeline: DeliveryPipeline;
  background: BackgroundWork;
  hub: ServerHub;
}

export class ConsoleSource {
  readonly server: ServerContext;
  readonly pipeline: DeliveryPipeline;
  readonly hub: ServerHub;
  readonly #background: BackgroundWork;

  constructor(server: ServerContext, { pipeline, background, hub }: ConsoleParts) {
    this.server = server;
    this.pipeline = pipeline;
    this.hub = hub;
    this.#background = background;
  }

  /** The URL of the inbox or an `Inbox` object, or `undefined` for an inbox in memory. */
  get configuredInbox(): string | Inbox | undefined {
    const { inbox } = this.#background;
    return typeof inbox === "object" ? inbox : configuredUrl(inbox);
  }

  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  openInbox(): Promise<Inbox> | undefined {
    return this.server.endpoints.backgroundEndpoints.length > 0 ? this.#background.open() : undefined;
  }

  /** Opens the inbox like {@link openInbox}. @throws `INBOX_UNAVAILABLE` (503) after a timeout. */
  async inbox(): Promise<Inbox | undefined> {
    const opening = this.openInbox();
    return opening && withInboxDeadline(opening);
  }

  /** The public URL of the server, without a trailing slash. Empty if it is unknown. */
  get publicUrl(): string {
    return publicUrlOf(this.server);
  }

  urlOf(endpoint: string): string {
    return `${this.publicUrl}${webhooksPath}${endpoint}`;
  }

  /** Replaces the server's secrets, and those in the URL of its inbox, in the message of an error. */
  mask(message: string): string {
    const inbox = this.configuredInbox;
    return this.server.redaction.text(typeof inbox === "string" ? maskSecretsOf(inbox, message) : message);
  }
}

/** Returns the public URL of a server, without a trailing slash. Empty if it is unknown. */
export function publicUrlOf({ launched }: Pick<ServerContext, "launched">): string {
  return launched?.publicUrl ?? readSpace()?.url ?? "";
}
