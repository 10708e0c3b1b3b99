import { InvalidArgumentError, Option } from "commander";
import type { Duration } from "../../../core/options.ts";
import type { DeliveryStatus } from "../../../inbox/inbox.ts";
import type { Invocation } from "../../invocation.ts";
import type { InboxAccess } from "./inbox-access.ts";

/** Context shared by the `deliveries` subcommands. */
export interface DeliveriesContext {
  invocation: Invocation;
  access: InboxAccess;
}

/** Creates the `--endpoint` option. */
export function endpointOption(description: string): Option {
  return new Option("--endpoint <name>", description);
}

/** Creates the `--take-over` option. */
export function takeOverOption(): Option {
  return new Option(
    "--take-over",
    "change an inbox in a bucket even if another process owns it; that process then rejects deliveries until it restarts",
  );
}

// Only the type is imported, because the help must not load the inbox. The compiler checks that no status is missing.
const statuses = {
  queued: true,
  running: true,
  succeeded: true,
  ignored: true,
  dead: true,
  cancelled: true,
} satisfies Record<DeliveryStatus, true>;

/** Creates the `--status` option. */
export function statusOption(description: string): Option {
  return new Option("--status <status>", description).choices(Object.keys(statuses));
}

/** Parses `--inbox`. Rejects an empty value, which is most likely an unset variable. */
export function parseInboxUrl(text: string): string {
  if (text === "") throw new InvalidArgumentError("The URL is empty. Pass a URL, or omit the option.");
  return text;
}

/** Parses a duration. Rejects a number without a unit, which could mean seconds or milliseconds. */
export function parseDuration(text: string): Duration {
  if (isDuration(text)) return text;
  throw new InvalidArgumentError("Use a number with a unit, such as 500ms, 1s, or 5m.");
}

function isDuration(text: string): text is Exclude<Duration, number> {
  return /^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text);
}
