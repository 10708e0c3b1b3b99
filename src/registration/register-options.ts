/** The options of `register`. */
export interface RegisterOptions {
  /**
   * The public URL of the server, such as `https://me-bot.hf.space`. The webhooks point to `/webhooks/…` below this
   * URL.
   */
  publicUrl: string;
  /**
   * The file that records which webhooks are managed. Keep this file, and use one file per server. Default
   * `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Defaults to the first secret of the server. If there is no secret, new webhooks have
   * none, so anyone who knows the URL of an endpoint can post to the endpoint. Existing webhooks keep their secrets.
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
  /** Cancels the registration between two steps, or during a request to the Hub. */
  signal?: AbortSignal | undefined;
}
