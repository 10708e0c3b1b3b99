import { optionError } from "../core/option-error.ts";
import {
  type ControllableServer,
  isControllableServer,
  type ServerDescription,
  serverControl,
} from "../receiver/server-control.ts";
import type { HubConnection } from "./apply.ts";
import { reconcile } from "./reconcile-webhooks.ts";
import type { RegistrationReport } from "./report.ts";
import { StateFile } from "./state-file.ts";
import { validateBaseUrl, validateSecret } from "./validate.ts";

/** The options of `register`. */
export interface RegisterOptions {
  /** The public address of the server, such as `https://me-bot.hf.space`. Its webhooks point to `/webhooks/…` below it. */
  baseUrl: string;
  /**
   * The file that records which webhooks are managed. Keep it, one for each server. Default
   * `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: the secret of the server, or the first of several. Without a secret, new webhooks
   * have none, so anyone who knows the URL of an endpoint can post to it, and existing webhooks keep theirs.
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

/** Implements `register`. */
export async function registerServer(
  server: ControllableServer,
  hub: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  if (!isControllableServer(server)) {
    throw optionError("register() needs a WebhooksServer of a current version as its first argument.");
  }
  return registerEndpoints(server[serverControl].describe(), hub, options);
}

/** Registers the endpoints of a server that runs elsewhere. */
export async function registerEndpoints(
  server: ServerDescription,
  hub: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  const { dryRun = false, prune = false, adopt = false, removeSecret = false, signal } = options;
  const baseUrl = validateBaseUrl(options.baseUrl, { hub: hub.endpoint });
  const secret = validateSecret(options.secret ?? server.secret);
  if (removeSecret && secret !== undefined) {
    throw optionError(
      "removeSecret and a secret cannot be combined. To remove the secret, unset WEBHOOK_SECRET and the option secret of the server. To keep it, leave out removeSecret.",
    );
  }
  const state = new StateFile({ path: options.state, hub: hub.endpoint });
  const { endpoints } = server;
  const run = () => reconcile({ hub, state, endpoints, baseUrl, secret, removeSecret, dryRun, prune, adopt, signal });
  // Concurrent registrations would each create what is missing.
  return dryRun ? run() : state.runExclusive(run, { signal });
}
