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

export type ConsoleSource = ReturnType<typeof createConsoleSource>;

/** What the parts of the console read from a server. */
export function createConsoleSource(server: ServerContext, { pipeline, background, hub }: ConsoleParts) {
  /** Returns the URL of the inbox or an `Inbox` object, or `undefined` for an inbox in memory. */
  const configuredInbox = (): string | Inbox | undefined => {
    const { inbox } = background;
    return typeof inbox === "object" ? inbox : configuredUrl(inbox);
  };
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  const openInbox = (): Promise<Inbox> | undefined =>
    server.endpoints.backgroundEndpoints.length > 0 ? background.open() : undefined;
  return {
    ...{ server, pipeline, hub, configuredInbox, openInbox },
    /** Opens the inbox like `openInbox`. @throws `INBOX_UNAVAILABLE` (503) after a timeout. */
    async inbox(): Promise<Inbox | undefined> {
      const opening = openInbox();
      return opening && withInboxDeadline(opening);
    },
    urlOf: (endpoint: string) => `${publicUrlOf(server)}${webhooksPath}${endpoint}`,
    /** Replaces the server's secrets, and those in the URL of its inbox, in the message of an error. */
    mask(message: string): string {
      const inbox = configuredInbox();
      return server.redaction.text(typeof inbox === "string" ? maskSecretsOf(inbox, message) : message);
    },
  };
}

/** Returns the public URL of a server, without a trailing slash. Empty if it is unknown. */
export function publicUrlOf({ launched }: Pick<ServerContext, "launched">): string {
  return launched?.publicUrl ?? readSpace()?.url ?? "";
}
