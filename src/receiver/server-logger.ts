import type { Logger } from "../core/logger.ts";
import { createRedactingLogger, createSafeLogger } from "../core/logger.ts";
import { createConsoleLogger } from "./console-logger.ts";
import type { KnownSecrets } from "./known-secrets.ts";

/** The logger of a server until it is launched: the user's own or the console. No secret reaches it, and no call throws. */
export function createServerLogger(given: Logger | undefined, secrets: KnownSecrets): Logger {
  return createSafeLogger(
    given ? createRedactingLogger(given, secrets) : createConsoleLogger((line) => secrets.line(line)),
  );
}

/** The logger of a launched server without one of its own. @throws `OPTION_INVALID` when `LOG_LEVEL` is no level. */
export async function createLaunchLogger(secrets: KnownSecrets): Promise<Logger> {
  const { createNodeLogger } = await import("./node/logger.ts");
  return createSafeLogger(createNodeLogger((line) => secrets.line(line)));
}
