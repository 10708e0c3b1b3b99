import { InvalidArgumentError } from "commander";
import type { CatchUpReport, DerivedDelivery } from "../../catch-up/endpoint-run.ts";
import { WebhookError } from "../../core/errors.ts";
import { isDuration, toMilliseconds } from "../../core/options.ts";
import { refuseHubOptions } from "../input.ts";
import { type Invocation, stopSignal } from "../invocation.ts";
import { type CliCommand, usageError } from "../usage.ts";
import { createProgress } from "./trigger/results.ts";

export function addJob(program: CliCommand, invocation: Invocation): void {
  program
    .command("job")
    .argument("<file>", "file that creates the server")
    .description("run an endpoint once in a webhook's job; reads the payload from WEBHOOK_PAYLOAD")
    .option("--endpoint <name>", "endpoint to run; required if the server has several endpoints")
    .withoutHubOptions()
    .examples(
      "job server.ts",
      "job server.ts --endpoint retrain    # as the command of a job, see docs/guides/run-as-a-job.md",
    )
    .action((file: string, options: { endpoint?: string }) => runJob(invocation, { file, ...options }));
}

async function runJob(invocation: Invocation, { file, endpoint }: { file: string; endpoint?: string }): Promise<void> {
  const { output, shell } = invocation;
  refuseHubOptions(invocation);
  const stopped = shell.untilStopped();
  const { runJobFile } = await import("../../job/run-job.ts");
  const outcome = await runJobFile({ file, endpoint, environment: shell.env, stopped }).catch(asUsageError);
  output.log(
    outcome.status === "ignored"
      ? `The handler did not run: the delivery does not match the endpoint's filter (${outcome.reason}).`
      : "The job is done.",
  );
}

/** Rethrows a missing or unknown endpoint as a usage error, and other errors unchanged. */
function asUsageError(error: unknown): never {
  if (!WebhookError.isInstance(error)) throw error;
  throw error.code === "ENDPOINT_REQUIRED" || error.code === "ENDPOINT_UNKNOWN" ? usageError(error.message) : error;
}

export function addCatchUp(program: CliCommand, invocation: Invocation): void {
  program
    .command("catch-up")
    .argument("[file]", "file that creates the server (default: as for dev)")
    .description("compare the Hub once with what was delivered, run the handlers for what is missing, and exit")
    .option("--dry-run", "only show what is missing and how many calls it takes; nothing is stored and no handler runs")
    .option(
      "--since <time>",
      "start here instead of where the last run ended: a duration such as 2d, a date, or all; what the inbox still contains does not run again",
      parseSince,
    )
    .withoutHubOptions()
    .examples(
      "catch-up server.ts --dry-run",
      "catch-up server.ts --since 2d --dry-run",
      "catch-up server.ts    # in a cron job, instead of a webhook",
    )
    .action((file: string | undefined, { dryRun = false, since }: { dryRun?: boolean; since?: Date | "all" }) =>
      catchUp(invocation, { file, dryRun, since }),
    );
}

/** Reads `--since`. @throws `InvalidArgumentError` */
function parseSince(text: string): Date | "all" {
  if (text === "all") return text;
  // Date.parse reads a mere number as a year or a month.
  const date = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  const time = isDuration(text) ? Date.now() - toMilliseconds(text, "--since") : date;
  if (Number.isNaN(time) || time > Date.now()) {
    throw new InvalidArgumentError(
      "Expected a duration such as 2d (up to 24 days), a past date such as 2026-01-31, or all.",
    );
  }
  return new Date(time);
}

async function catchUp(
  invocation: Invocation,
  { file, dryRun, since }: { file: string | undefined; dryRun: boolean; since: Date | "all" | undefined },
): Promise<void> {
  const { output, shell } = invocation;
  refuseHubOptions(invocation);
  // The log of the server would be mixed with the result for a program.
  if (!output.isText) process.env.LOG_LEVEL ??= "silent";
  const signal = stopSignal(shell);
  const [{ catchUpFile }, { findServerFile }] = await Promise.all([
    import("../../job/run-job.ts"),
    import("../../server-file/find-server-file.ts"),
  ]);
  let progress: ReturnType<typeof createProgress> | undefined;
  const onProgress = ({ repositories, total }: CatchUpReport) => {
    if (repositories === 0) progress = createProgress({ stream: shell.stderr, total });
    progress?.show({ done: repositories, failed: 0 });
    if (repositories === total) progress?.clear();
  };
  const path = findServerFile({ file });
  const done = await catchUpFile({ path, dryRun, since, signal, onProgress })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    })
    .finally(() => progress?.clear());
  if (!done) {
    output.log("Stopped. The next run continues.");
    invocation.exitCode = 1;
    return;
  }
  const { reports, statuses } = done;
  const all = [...reports].flatMap(([endpoint, { derived }]) => derived.map((delivery) => ({ endpoint, ...delivery })));
  output.printResult({
    json: {
      endpoints: Object.fromEntries([...reports].map(([endpoint, { failure: _, ...report }]) => [endpoint, report])),
      statuses,
    },
    quiet: all.map(({ id }) => id),
    columns: { endpoint: "Endpoint", repository: "Repository", event: "Event", change: "Change" },
    rows: all.map((delivery) => [
      delivery.endpoint,
      delivery.repository,
      `${delivery.scope} ${delivery.action}`,
      formatChange(delivery),
    ]),
  });
  for (const [endpoint, { isElsewhere, repositories, failed, calls, derived }] of reports) {
    output.log(
      isElsewhere
        ? `${endpoint}: another process is comparing now, so this one did nothing. If that process has crashed, run the command again in 2 minutes.`
        : `${endpoint}: compared ${repositories} repositories with ${calls} calls, ${dryRun ? "would deliver" : "delivered"} ${derived.length}.${failed > 0 ? ` ${failed} could not be read.` : ""}`,
    );
    if (failed > 0) invocation.exitCode = 1;
  }
  const { dead = 0, queued = 0 } = statuses;
  if (dead + queued === 0) return;
  output.log(
    `${dead + queued} failed. ${queued} of them are retried by the next run or server that uses the inbox after their next attempt is due.`,
  );
  invocation.exitCode = 1;
}

/** The number of files that are listed in a line. */
const maxShownFiles = 3;

/** Formats the refs of a change as `refs/heads/main 575db8b..ce9a467`, and files as `add data/a.csv, delete b.csv, and 8 more`. */
function formatChange({ updatedRefs = [], updatedFiles = [] }: DerivedDelivery): string {
  const files = updatedFiles.slice(0, maxShownFiles).map(({ path, action }) => `${action} ${path}`);
  if (updatedFiles.length > maxShownFiles) files.push(`and ${updatedFiles.length - maxShownFiles} more`);
  if (files.length > 0) return files.join(", ");
  const short = (sha: string | null) => sha?.slice(0, 7) ?? "none";
  return updatedRefs.map(({ ref, oldSha, newSha }) => `${ref} ${short(oldSha)}..${short(newSha)}`).join(", ");
}
