import { WebhookError } from "../core/errors.ts";

/**
 * Checks that Node runs this process. A server's file is loaded through hooks of Node's module loader, which Bun and
 * Deno do not have; both set `process.versions.node` as well.
 *
 * @throws `NODE_REQUIRED` with the name of the other runtime.
 */
export function requireNode(versions: Readonly<Record<string, string | undefined>> = process.versions): void {
  const runtime = versions.bun ? `Bun ${versions.bun}` : versions.deno ? `Deno ${versions.deno}` : undefined;
  if (runtime === undefined) return;
  throw new WebhookError(
    `hub-webhooks needs Node 22.18 or newer to load a server file, and this is ${runtime}. Run the command with Node: npx hub-webhooks.`,
    { code: "NODE_REQUIRED" },
  );
}
