import { optionError } from "../core/option-error.ts";
import {
  type DetailedServer,
  type EndpointDetails,
  isDetailedServer,
  serverDetails,
} from "../receiver/server-details.ts";
import type { HubConnection } from "./hub-connection.ts";
import { bringInStep, type RegistrationReport } from "./reconcile.ts";
import { StateFile } from "./state-file.ts";
import { checkBaseUrl, checkSecret } from "./validate.ts";

/** How to register the endpoints of a server. */
export interface RegisterOptions {
  /** The public address of the server, such as `https://me-bot.hf.space`; its webhooks go to `/webhooks/…` below it. */
  baseUrl: string;
  /**
   * The file that says which webhooks are ours; keep it, one for each server. Default
   * `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: that of the server, of several the first. Without any, new webhooks have none,
   * so that anyone who knows the URL of an endpoint can post to it, and existing ones keep the secret that they have.
   */
  secret?: string | undefined;
  /** Removes the secret from webhooks that have one; only without `secret`. Default `false`: they keep it. */
  removeSecret?: boolean | undefined;
  /** Only tells what would be done. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes webhooks that are ours and whose endpoint is gone. Default `false`: they are told. */
  prune?: boolean | undefined;
  /** Takes over webhooks that are not ours and deliver to one of the endpoints. Default `false`: they are told. */
  adopt?: boolean | undefined;
  /** Stops between two steps, and in the middle of a call of the Hub. */
  signal?: AbortSignal | undefined;
}

/** What is registered: the endpoints of a server, and the secret that it asks for. */
export interface RegistrationSource {
  readonly endpoints: readonly EndpointDetails[];
  readonly secret?: string | undefined;
}

/**
 * Brings the webhooks on the Hub in step with the endpoints of a server: creates what is missing, updates what differs,
 * enables what is disabled or suspended, and leaves alone what is not ours. When all is in step it does nothing.
 *
 * What fails for one webhook is in `failed`, and the others are done all the same.
 *
 * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` when the webhooks cannot even be listed; the reason of the
 * signal. What was done until then is noted.
 * @example
 * ```ts
 * const report = await register(server, new HubClient(), { baseUrl: "https://me-bot.hf.space" });
 * for (const { error } of report.failed) console.error(error.message);
 * ```
 */
export async function register(
  server: DetailedServer,
  hub: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  if (!isDetailedServer(server)) {
    throw optionError("register() needs a WebhooksServer, and a recent one, as its first argument.");
  }
  return registerSource(server[serverDetails](), hub, options);
}

/** The same as {@link register}, for a server that runs elsewhere. */
export async function registerSource(
  source: RegistrationSource,
  hub: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  const { dryRun = false, prune = false, adopt = false, removeSecret = false, signal } = options;
  const baseUrl = checkBaseUrl(options.baseUrl, { hub: hub.endpoint });
  const secret = checkSecret(options.secret ?? source.secret);
  if (removeSecret && secret !== undefined) {
    throw optionError(
      "removeSecret and a secret cannot be combined. Unset WEBHOOK_SECRET and the option secret of the server to remove the secret, or leave out removeSecret.",
    );
  }
  const state = new StateFile({ path: options.state, hub: hub.endpoint });
  const { endpoints } = source;
  const run = () => bringInStep({ hub, state, endpoints, baseUrl, secret, removeSecret, dryRun, prune, adopt, signal });
  // Two at the same time would each make what is missing.
  return dryRun ? run() : state.alone(run, { signal });
}
