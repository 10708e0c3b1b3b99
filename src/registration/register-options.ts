/** The options of `register`. */
export interface RegisterOptions {
  /**
   * The public URL of the server, such as `https://me-bot.hf.space`. The webhooks point to `/webhooks/…` below this
   * URL.
   */
  publicUrl: string;
  /**
   * The path of the file that records the managed webhooks. Keep this file between runs, and use a separate file for
   * each server. Default `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: the first secret of the server. Without a secret, new webhooks have no secret,
   * so anyone who knows the URL of an endpoint can send requests to the endpoint. Existing webhooks keep their secrets.
   */
  secret?: string | undefined;
  /** Removes existing secrets. Cannot be combined with `secret`. Default `false`. */
  removeSecret?: boolean | undefined;
  /** Reports the steps without executing them, including the steps that are known to fail. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes managed webhooks whose endpoint no longer exists. By default, these webhooks are reported as skipped. */
  prune?: boolean | undefined;
  /**
   * Adopts webhooks that deliver to one of the endpoints but were created elsewhere. By default, these webhooks are
   * reported as skipped.
   */
  adopt?: boolean | undefined;
  /** Cancels the registration between two steps or during a request to the Hub. */
  signal?: AbortSignal | undefined;
}
