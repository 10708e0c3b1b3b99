import { type Command, Option } from "commander";
import type { WebhookRequest } from "../hub/webhooks/schemas.ts";
import type { Watched, WebhookDomain } from "../payload/watch.ts";
import { readJob, readSecret } from "./read-input.ts";
import type { Shell } from "./shell.ts";
import { collectDomain, collectWatched, watchedTypeNames } from "./watched.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** The options that describe a webhook, as commander reads them. */
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
export function addWebhookOptions(command: Command, { defaultDomains }: { defaultDomains: string }): Command {
  return command
    .option("--url <url>", "post the deliveries to this URL")
    .option("--job-source-id <id>", "run a job like this one for each delivery")
    .option("--job <file>", 'run the job that this JSON file describes ("-": standard input)')
    .addOption(
      new Option(
        "--watch <type:name...>",
        `what to watch, one or more; types: ${watchedTypeNames.join(", ")}`,
      ).argParser(collectWatched),
    )
    .addOption(
      new Option("--domain <domain...>", `what to be told of: repo, discussion (${defaultDomains})`).argParser(
        collectDomain,
      ),
    )
    .option("--secret <secret>", "sent with each delivery; it shows in the shell's history and the process list")
    .option("--secret-stdin", "read the secret from standard input: one line");
}

/**
 * What the options say of a webhook; what was not given is left out.
 *
 * @throws `ARGUMENT_INVALID` when two of them contradict each other, or one of them is empty.
 */
export async function readWebhookOptions(options: WebhookOptions, shell: Shell): Promise<Partial<WebhookRequest>> {
  checkWebhookOptions(options);
  const { url, jobSourceId, watch, domain } = options;
  const job = options.job === undefined ? undefined : await readJob({ file: options.job, shell });
  const secret = options.secretStdin ? await readSecret(shell) : options.secret;
  if (secret === "") {
    throw wrongUsage("The secret is empty: give one of a character or more, or leave the option out.");
  }
  return {
    ...(url !== undefined && { url }),
    ...(jobSourceId !== undefined && { jobSourceId }),
    ...(job !== undefined && { job }),
    ...(watch !== undefined && { watched: [...watch] }),
    ...(domain !== undefined && { domains: [...domain] }),
    ...(secret !== undefined && { secret }),
  };
}

/** The options given that say where deliveries go. */
export function givenTargets({ url, job, jobSourceId }: WebhookOptions): readonly string[] {
  const targets = { "--url": url, "--job-source-id": jobSourceId, "--job": job };
  return Object.entries(targets).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function checkWebhookOptions(options: WebhookOptions): void {
  const targets = givenTargets(options);
  if (targets.length > 1) {
    throw wrongUsage(`${targets.join(" and ")} exclude each other: deliveries go to one place, so give one of them.`);
  }
  if (options.secret !== undefined && options.secretStdin) {
    throw wrongUsage("--secret and --secret-stdin exclude each other: give one of them.");
  }
  if (options.job === "-" && options.secretStdin) {
    throw wrongUsage("--job - and --secret-stdin both read standard input: give the job as a file.");
  }
}
