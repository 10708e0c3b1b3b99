import { optionError } from "../core/options.ts";
import {
  type ControllableServer,
  isControllableServer,
  type ServerDescription,
  serverControl,
} from "../receiver/control.ts";
import type { EndpointRegistration } from "../receiver/counts.ts";
import { reconcileWebhooks } from "./reconcile.ts";
import type { RegistrationReport } from "./report.ts";
import { RegistrationFile } from "./state.ts";
import { type HubConnection, type RegisterOptions, validatePublicUrl, validateSecret } from "./webhook.ts";

/** Implements `register`. */
export async function registerServer(
  server: ControllableServer,
  client: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  if (!isControllableServer(server)) {
    throw optionError(
      "The first argument of register() is not a WebhooksServer, or it was created by an incompatible version of hub-webhooks. Pass a WebhooksServer, and install only one version of the package.",
    );
  }
  const control = server[serverControl];
  const report = await registerDescription(control.describe(), client, options);
  control.setRegistrations(registrationsOf(report));
  return report;
}

/** Returns the endpoints that have a webhook after the registration, and the endpoints whose webhook was not created. */
function registrationsOf({ steps, done, unchanged }: RegistrationReport): Map<string, EndpointRegistration> {
  const registrations = new Map<string, EndpointRegistration>();
  for (const { action, endpoint } of steps) {
    if (action !== "delete") registrations.set(endpoint, action === "create" ? "missing" : "registered");
  }
  for (const { action, endpoint } of done) if (action === "create") registrations.set(endpoint, "registered");
  for (const { endpoint } of unchanged) registrations.set(endpoint, "registered");
  return registrations;
}

/** Implements `hub-webhooks sync`. */
export async function registerDescription(
  server: ServerDescription,
  client: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  const { dryRun = false, prune = false, adopt = false, removeSecret = false, signal } = options;
  const publicUrl = validatePublicUrl(options.publicUrl, { hubUrl: client.hubUrl });
  const secret = validateSecret(options.secret ?? server.secret);
  if (removeSecret && secret !== undefined) {
    throw optionError(
      'Option "removeSecret" cannot be combined with a secret. To remove the secret, unset WEBHOOK_SECRET and omit the "secret" option of the server. To keep the secret, omit "removeSecret".',
    );
  }
  const file = new RegistrationFile({ path: options.state, hubUrl: client.hubUrl });
  const reconciled = { client, file, endpoints: server.endpoints, publicUrl, secret: removeSecret ? null : secret };
  const run = () => reconcileWebhooks({ ...reconciled, dryRun, prune, adopt, signal });
  // Run one registration at a time. Two at the same time would create every missing webhook twice.
  return dryRun ? run() : file.runExclusive(run, { signal });
}
