import { InvalidArgumentError, Option } from "commander";
import type { Duration } from "../../../core/duration.ts";
import type { DeliveryStatus } from "../../../inbox/stored-delivery.ts";
import type { Invocation } from "../../invocation.ts";
import { wrongUsage } from "../../wrong-usage.ts";
import type { InboxAccess } from "./inbox-access.ts";

/** What every subcommand of `deliveries` is made with. */
export interface DeliveriesContext {
  invocation: Invocation;
  access: InboxAccess;
}

/**
 * `--endpoint`: the name of an endpoint of the server. Commander reads the option of the same name that every command
 * takes, the address of the Hub, wherever it stands; these commands connect to no Hub, so {@link endpointName} takes it
 * from there.
 */
export function endpointOption(description: string): Option {
  return new Option("--endpoint <name>", description);
}

/** The endpoint that `--endpoint` names. @throws `ARGUMENT_INVALID` for the address of a Hub. */
export function endpointName({ endpoint }: { endpoint?: string }, { hub }: Invocation): string | undefined {
  const name = endpoint ?? hub.endpoint;
  if (name === undefined || !/^https?:/i.test(name)) return name;
  throw wrongUsage(
    "--endpoint takes the name of an endpoint of the server here, since deliveries are read from the inbox and not from a Hub. Choose the inbox with --inbox.",
  );
}

// Only the type is imported, so that a help text need not load the inbox; the compiler keeps the list whole.
const statuses = { queued: true, running: true, succeeded: true, dead: true } satisfies Record<DeliveryStatus, true>;

/** `--status`. */
export function statusOption(description: string): Option {
  return new Option("--status <status>", description).choices(Object.keys(statuses));
}

/** Reads the value of `--inbox`. An empty one is most likely a variable that is not set. */
export function parseInboxUrl(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty: leave the option out, or give the URL of an inbox.");
  return text;
}

/** Makes a reader of whole numbers from `least` to `most`. */
export function numberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`);
  };
}

/** Reads a span of time; a bare number is refused, since it could mean seconds as well as milliseconds. */
export function parseDuration(text: string): Duration {
  if (isDuration(text)) return text;
  throw new InvalidArgumentError("Give a number with its unit, such as 500ms, 1s or 5m.");
}

function isDuration(text: string): text is Exclude<Duration, number> {
  return /^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text);
}
