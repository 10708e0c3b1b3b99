import type { HubWebhooks } from "../hub/webhooks/webhooks.ts";

/** The Hub on which webhooks are registered: a `HubClient`. */
export interface HubConnection {
  /** The address of the Hub, which identifies it in the state file. */
  readonly hubUrl: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}

/** The options of `register`. */
export interface RegisterOptions {
  /** The public address of the server, such as `https://me-bot.hf.space`. Its webhooks point to `/webhooks/…` below it. */
  publicUrl: string;
  /**
   * The file that records which webhooks are managed. Keep it, and use one file per server. Default
   * `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: the secret of the server, or the first of several. Without a secret, new webhooks
   * have none, so anyone who knows the URL of an endpoint can post to it. Existing webhooks keep theirs.
   */
  secret?: string | undefined;
  /** Removes existing secrets. Cannot be combined with `secret`. Default `false`. */
  removeSecret?: boolean | undefined;
  /** Reports the steps without executing them. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes managed webhooks whose endpoint no longer exists. Default `false`: they are reported as skipped. */
  prune?: boolean | undefined;
  /**
   * Adopts webhooks that were created elsewhere and deliver to one of the endpoints. Default `false`: they are reported as
   * skipped.
   */
  adopt?: boolean | undefined;
  /** Cancels between two steps, and during a request to the Hub. */
  signal?: AbortSignal | undefined;
}
