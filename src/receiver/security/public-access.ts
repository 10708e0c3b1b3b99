import { readEnvironment } from "../../core/environment.ts";
import { readSpace } from "../../core/space.ts";
import type { LaunchOptions } from "../lifecycle/launch-options.ts";

/** A registered symbol, like `serverControl`. */
const deliveryOnlyKey = Symbol.for("hub-webhooks.deliveryOnly");

/** Marks a public URL at which only deliveries are accepted, so that the server's pages are not public. */
export function deliveryOnlyUrl(publicUrl: () => string): () => string {
  return Object.assign(publicUrl, { [deliveryOnlyKey]: true });
}

/**
 * Whether the pages of a server have a public URL: in a Space, with `PUBLIC_URL`, with the `publicUrl` launch option
 * (unless it is marked by {@link deliveryOnlyUrl}), and with the user's own tunnel. A tunnel that the server opens only
 * serves webhooks, so it does not make the pages public.
 */
export function isPubliclyReachable({ publicUrl, tunnel }: Pick<LaunchOptions, "publicUrl" | "tunnel"> = {}): boolean {
  if (readSpace() !== undefined || readEnvironment("PUBLIC_URL") !== undefined) return true;
  if (typeof tunnel === "object" && tunnel.existingUrl !== undefined) return true;
  return publicUrl !== undefined && !(typeof publicUrl === "function" && deliveryOnlyKey in publicUrl);
}
