import type { Logger } from "../core/logger.ts";
import { redactingLogger } from "../core/redacting-logger.ts";
import { safeLogger } from "../core/safe-logger.ts";
import { createConsoleLogger } from "./console-logger.ts";
import type { KnownSecrets } from "./known-secrets.ts";

/** The logger of a server until it is launched: the user's own or the console. No secret reaches it, and no call throws. */
export function createServerLogger(given: Logger | undefined, secrets: KnownSecrets): Logger {
  return safeLogger(given ? redactingLogger(given, secrets) : createConsoleLogger((line) => secrets.line(line)));
}

/** The logger of a launched server without one of its own. @throws `OPTION_INVALID` when `LOG_LEVEL` is no level. */
export async function createLaunchLogger(secrets: KnownSecrets): Promise<Logger> {
  const { createNodeLogger } = await import("./node/logger.ts");
  return safeLogger(createNodeLogger((line) => secrets.line(line)));
}
