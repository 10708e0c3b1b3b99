import { InvalidArgumentError, Option } from "commander";
import type { Duration } from "../../../core/duration.ts";
import type { DeliveryStatus } from "../../../inbox/inbox.ts";
import type { Invocation } from "../../invocation.ts";
import type { InboxAccess } from "./inbox-access.ts";

/** Context shared by the `deliveries` subcommands. */
export interface DeliveriesContext {
  invocation: Invocation;
  access: InboxAccess;
}

/** `--endpoint`: the name of an endpoint of the server. */
export function endpointOption(description: string): Option {
  return new Option("--endpoint <name>", description);
}

// Only the type is imported, so that the help does not load the inbox. The compiler checks that the list is complete.
const statuses = { queued: true, running: true, succeeded: true, dead: true } satisfies Record<DeliveryStatus, true>;

/** Creates the option `--status`. */
export function statusOption(description: string): Option {
  return new Option("--status <status>", description).choices(Object.keys(statuses));
}

/** Parses `--inbox`. An empty value is most likely an unset variable. */
export function parseInboxUrl(text: string): string {
  if (text === "") throw new InvalidArgumentError("The URL is empty. Set it, or omit the option.");
  return text;
}

/** Parses a duration; rejects a bare number, which could be seconds or milliseconds. */
export function parseDuration(text: string): Duration {
  if (isDuration(text)) return text;
  throw new InvalidArgumentError("Use a number with a unit, such as 500ms, 1s or 5m.");
}

function isDuration(text: string): text is Exclude<Duration, number> {
  return /^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text);
}
