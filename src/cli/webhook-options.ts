import { InvalidArgumentError, Option } from "commander";
import { suggest } from "../core/options.ts";
import type { WebhookRequest } from "../hub/webhooks/schemas.ts";
import {
  parseDomain,
  parseWatch,
  type Watched,
  type WatchedItem,
  type WebhookDomain,
  watchedTypes,
  webhookDomains,
} from "../payload/watch.ts";
import { checkSecretOptions, readJob, readSecretOption } from "./input.ts";
import type { Shell } from "./invocation.ts";
import { type CliCommand, usageError } from "./usage.ts";

/** The options that describe a webhook, as commander parses them. */
export interface WebhookOptions {
  url?: string;
  job?: string;
  jobSourceId?: string;
  watch?: readonly Watched[];
  domain?: readonly WebhookDomain[];
  secret?: string;
  secretStdin?: boolean;
}

/** Adds the options that `create` and `update` share. */
export function addWebhookOptions(command: CliCommand, { domainNote }: { domainNote: string }): CliCommand {
  return command
    .option("--url <url>", "URL to send deliveries to")
    .option("--job-source-id <id>", "ID of a job to copy and run for each delivery")
    .option("--job <file>", 'run the job in this JSON file for each delivery ("-" for standard input)')
    .addOption(watchOption("repositories, users, or organizations to watch"))
    .addOption(
      new Option("--domain <domain...>", `events to receive: ${webhookDomains.join(", ")} (${domainNote})`).argParser(
        collectDomain,
      ),
    )
    .option("--secret <secret>", "secret to send with deliveries; visible in the shell history and process list")
    .option("--secret-stdin", "read the secret from standard input");
}

/** Creates the `--watch` option. */
export function watchOption(description: string): Option {
  return new Option("--watch <type:name...>", `${description}; types: ${watchedTypes.join(", ")}`).argParser(
    collectWatched,
  );
}

/**
 * Converts the options to a request. Omitted options are absent from the request.
 *
 * @throws `ARGUMENT_INVALID` if two options cannot be combined or an option is empty.
 */
export async function readWebhookOptions(options: WebhookOptions, shell: Shell): Promise<Partial<WebhookRequest>> {
  checkWebhookOptions(options);
  const { url, jobSourceId, watch, domain } = options;
  const job = options.job === undefined ? undefined : await readJob({ file: options.job, shell });
  const secret = await readSecretOption(options, shell);
  return {
    ...(url !== undefined && { url }),
    ...(jobSourceId !== undefined && { jobSourceId }),
    ...(job !== undefined && { job }),
    ...(watch !== undefined && { watched: [...watch] }),
    ...(domain !== undefined && { domains: [...domain] }),
    ...(secret !== undefined && { secret }),
  };
}

/** Returns the names of the given options that set a destination: a URL or a job. */
export function givenDestinations({ url, job, jobSourceId }: WebhookOptions): readonly string[] {
  const destinations = { "--url": url, "--job-source-id": jobSourceId, "--job": job };
  return Object.entries(destinations).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function checkWebhookOptions(options: WebhookOptions): void {
  const destinations = givenDestinations(options);
  if (destinations.length > 1) {
    throw usageError(
      `${destinations.join(" and ")} cannot be combined, because a webhook has one destination. Remove all but one of them.`,
    );
  }
  checkSecretOptions(options);
  if (options.job === "-" && options.secretStdin) {
    throw usageError("--job - and --secret-stdin both read standard input. Pass the job as a file.");
  }
}

/**
 * Parses a value of `--watch` and appends it to the previous values, unless it is one of them.
 *
 * @throws `InvalidArgumentError` if the value is not `type:name` or the type is unknown.
 */
function collectWatched(text: string, previous: readonly WatchedItem[] | undefined): readonly WatchedItem[] {
  const watched = parseWatch(text);
  if ("type" in watched) {
    const before = previous ?? [];
    const isRepeated = before.some(({ type, name }) => type === watched.type && name === watched.name);
    return isRepeated ? before : [...before, watched];
  }
  rejectWebhookId(text, "--watch");
  throw new InvalidArgumentError(watched.problem);
}

/**
 * Parses a value of `--domain` and appends it to the previous values. Accepts `discussions` as an alias of
 * `discussion`.
 *
 * @throws `InvalidArgumentError` for any other value.
 */
function collectDomain(text: string, previous: readonly WebhookDomain[] | undefined): readonly WebhookDomain[] {
  const domain = parseDomain(text);
  if (domain !== undefined) return [...new Set([...(previous ?? []), domain])];
  if (text.includes(",")) throw new InvalidArgumentError("Separate multiple values with spaces, not commas.");
  rejectWebhookId(text, "--domain");
  throw new InvalidArgumentError(
    `Unknown domain.${suggest(text, webhookDomains)} Valid domains: ${webhookDomains.join(", ")}.`,
  );
}

/** Rejects a webhook ID as a value, because an option with multiple values also consumes the arguments that follow the option. */
function rejectWebhookId(text: string, option: string): void {
  if (!/^[0-9a-f]{24}$/.test(text)) return;
  throw new InvalidArgumentError(`This looks like a webhook ID. Put the ID before ${option}.`);
}
