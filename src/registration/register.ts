import type { ControllableServer } from "../receiver/control.ts";
import type { RegistrationReport } from "./report.ts";
import type { HubConnection, RegisterOptions } from "./webhook.ts";

/**
 * Reconciles the webhooks on the Hub with the endpoints of a server: creates missing webhooks, updates webhooks that
 * differ, and enables webhooks that are disabled or suspended. Does not change webhooks that were created elsewhere.
 * Requires Node, Bun, or Deno, because the state file needs a file system.
 *
 * If a change fails, the failure is reported in `failed`, and the other webhooks are still processed.
 *
 * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` if the webhooks cannot be listed; the signal's abort reason.
 * Steps that were completed before the error are recorded in the state file.
 * @example
 * ```ts
 * const report = await register(server, new HubClient(), { publicUrl: "https://me-bot.hf.space" });
 * for (const { error } of report.failed) console.error(error.message);
 * ```
 */
export async function register(
  server: ControllableServer,
  client: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  // Load the module on first use, because the client must also run in runtimes without Node's modules.
  const { registerServer } = await import("./reconcile.ts");
  return registerServer(server, client, options);
}
