/*
 * Replaces `reconcile.ts` in bundles for workers and browsers (see the "browser" field of package.json), because
 * these runtimes have no file system for the state file.
 */
import { WebhookError } from "../core/errors.ts";

/** @throws `STATE_UNUSABLE`, always. */
export function registerServer(): never {
  throw new WebhookError(
    "register() requires a file system for its state file, which this runtime does not have. Call register() on Node, Bun, or Deno, or run hub-webhooks sync.",
    { code: "STATE_UNUSABLE" },
  );
}
