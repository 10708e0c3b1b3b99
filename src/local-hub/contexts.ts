import { WebhookError } from "../core/errors.ts";
import type { HubContext } from "./hub-context.ts";

/**
 * The parts of each local Hub, for the console of a dev session. In a file of its own, because the types of the parts must not become
 * part of the published declarations.
 */
const readers = new WeakMap<object, () => HubContext>();

/** Makes the parts of a local Hub available to {@link contextOf}. */
export function registerContext(hub: object, read: () => HubContext): void {
  readers.set(hub, read);
}

/** Returns the parts of a local Hub. @throws `CLOSING` if the local Hub is closed. */
export function contextOf(hub: object): HubContext {
  const read = readers.get(hub);
  if (read) return read();
  throw new WebhookError("The local Hub belongs to another copy of this package.", { code: "OPTION_INVALID" });
}
