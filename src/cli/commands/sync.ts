import { plainText } from "../../core/terminal.ts";
import type { RegistrationReport, RegistrationStep } from "../../registration/report.ts";
import { readSecretOption, requestConfirmation, requireConfirmable } from "../input.ts";
import type { Invocation, Output, Shell } from "../invocation.ts";
import { type CliCommand, usageError } from "../usage.ts";

interface SyncOptions {
  publicUrl?: string;
  dryRun?: boolean;
  prune?: boolean;
  adopt?: boolean;
  state?: string;
  secretStdin?: boolean;
  removeSecret?: boolean;
  clean?: boolean;
}

export function addSync(program: CliCommand, invocation: Invocation): void {
  program
    .command("sync")
    .argument(
      "[file]",
      "file that creates the server (default: server.ts, app.ts, or index.ts in the current folder or in src)",
    )
    .description("create and update webhooks on the Hub to match the endpoints of a server")
    .option("--public-url <url>", "public URL of the server (default: PUBLIC_URL, else the URL of the Space)")
    .option("--dry-run", "show the changes without making them")
    .option("--prune", "delete webhooks whose endpoint was removed; prompts for confirmation unless --yes is given")
    .option("--adopt", "also manage webhooks that deliver to an endpoint but were not created by sync")
    .option("--state <file>", "file that records the webhooks (default: .hub-webhooks/registrations.json)")
    .option("--secret-stdin", "read the secret from standard input (default: the secret of the server)")
    .option("--remove-secret", "remove the secret from webhooks if the server has none")
    .option("--clean", "only delete temporary webhooks that sessions of dev left behind")
    .examples(
      "sync server.ts --public-url https://me-bot.hf.space --dry-run",
      "sync server.ts --public-url https://me-bot.hf.space",
      "sync --clean --yes    # after a crash of hub-webhooks dev",
    )
    .action(async (file: string | undefined, options: SyncOptions) => {
      if (options.clean) {
        checkCleanOptions(file, options);
        return clean(invocation, options);
      }
      return sync(invocation, { file, options });
    });
}

async function sync(
  invocation: Invocation,
  { file, options }: { file: string | undefined; options: SyncOptions },
): Promise<void> {
  const { output, shell } = invocation;
  const { dryRun = false, prune = false, adopt, state, removeSecret } = options;
  const mustConfirm = prune && !dryRun && !invocation.skipsPrompts;
  if (mustConfirm) requireConfirmable(invocation, "sync --prune");
  const publicUrl = await findPublicUrl(options, shell);
  const secret = await readSecretOption({ secretStdin: options.secretStdin }, shell);
  const client = await invocation.connect();
  const { findServerFile } = await import("../../server-file/find-server-file.ts");
  const { describeServerFile } = await import("../../server-file/server-process.ts");
  const { registerDescription } = await import("../../registration/reconcile.ts");
  const source = await describeServerFile(findServerFile({ file }), { publicUrl });
  for (const { name, warnings } of source.endpoints) {
    for (const warning of warnings) output.log(`warning: Endpoint ${name}: ${warning}`);
  }
  if (source.endpoints.length > 0 && !(secret ?? source.secret)) {
    output.log(
      "warning: The server has no secret, so anyone who knows the URL of an endpoint can send requests to it. Set WEBHOOK_SECRET for the server and for sync, or use --secret-stdin.",
    );
  }
  const registerOptions = { publicUrl, state, secret, removeSecret, prune, adopt };

  if (mustConfirm) {
    const { steps } = await registerDescription(source, client, { ...registerOptions, dryRun: true });
    const deletions = steps.filter(({ action }) => action === "delete");
    if (!(await confirmDeletion(invocation, deletions))) return;
  }
  // The plan is made again, because the Hub may have changed during the prompt.
  const report = await registerDescription(source, client, { ...registerOptions, dryRun });
  if (source.endpoints.length === 0)
    output.log("warning: The server has no endpoints. Register an endpoint with server.webhook(name, handler).");
  await printReport(output, report, { dryRun });
  if (report.failed.length > 0) invocation.exitCode = 1;
}

async function clean(invocation: Invocation, { dryRun = false, state }: SyncOptions): Promise<void> {
  const { output } = invocation;
  const mustConfirm = !dryRun && !invocation.skipsPrompts;
  if (mustConfirm) requireConfirmable(invocation, "sync --clean");
  const client = await invocation.connect();
  const { deleteStaleWebhooks } = await import("../../registration/temporary.ts");
  const deleteStale = ({ dryRun }: { dryRun: boolean }) =>
    deleteStaleWebhooks({
      client,
      state,
      dryRun,
      onFailed: ({ id, error }) => {
        output.log(`error: Could not delete ${id === undefined ? "the webhooks" : `webhook ${id}`}. ${error.message}`);
        invocation.exitCode = 1;
      },
    });
  if (mustConfirm && !(await confirmDeletion(invocation, await deleteStale({ dryRun: true })))) return;
  const deleted = await deleteStale({ dryRun });
  if (deleted.length === 0 && invocation.exitCode === 0) {
    output.log("No webhooks to delete: all sessions of hub-webhooks dev that ended have deleted their webhooks.");
  }
  output.printResult({
    json: deleted.map((webhook) => ({ ...webhook, deleted: !dryRun })),
    quiet: deleted.map(({ id }) => id),
    columns: { id: "ID", endpoint: "Endpoint", url: "Target", state: "State" },
    rows: deleted.map(({ id, endpoint, url }) => [id, endpoint, url, dryRun ? "to be deleted" : "deleted"]),
  });
}

/** Prompts for confirmation if there are webhooks to delete. Resolves with `false` if the user declines. */
async function confirmDeletion(
  invocation: Invocation,
  webhooks: readonly { id?: string; endpoint: string }[],
): Promise<boolean> {
  if (webhooks.length === 0) return true;
  const listed = webhooks.map(({ id, endpoint }) => `${id} of ${endpoint}`).join(", ");
  const subject = webhooks.length === 1 ? `webhook ${listed}` : `${webhooks.length} webhooks: ${listed}`;
  return requestConfirmation(invocation, `Permanently delete ${subject}?`);
}

/**
 * Finds the public URL of the server, with the same precedence as the server's `launch()`.
 *
 * @throws `ARGUMENT_INVALID` if no public URL is configured.
 */
async function findPublicUrl({ publicUrl }: SyncOptions, { env }: Shell): Promise<string> {
  const { readSpace } = await import("../../core/environment.ts");
  const found = publicUrl ?? (env.PUBLIC_URL || readSpace((name) => env[name])?.url);
  if (found) return found;
  throw usageError(
    "The public URL of the server is missing. Add it, such as --public-url https://me-bot.hf.space, or set PUBLIC_URL.",
  );
}

/** @throws `ARGUMENT_INVALID` if `--clean` is combined with a server file or with options that change webhooks. */
function checkCleanOptions(file: string | undefined, options: SyncOptions): void {
  const others = {
    "a server file": file,
    "--public-url": options.publicUrl,
    "--prune": options.prune,
    "--adopt": options.adopt,
    "--secret-stdin": options.secretStdin,
    "--remove-secret": options.removeSecret,
  };
  const given = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return;
  throw usageError(
    `--clean only deletes webhooks that hub-webhooks dev left behind, so it cannot be combined with ${given.join(" and ")}. Run sync separately without --clean.`,
  );
}

/** Prints the changes as a diff, as JSON, or as IDs. */
async function printReport(output: Output, report: RegistrationReport, { dryRun }: { dryRun: boolean }): Promise<void> {
  const steps = dryRun ? report.steps.filter((step) => !isBlocked(step, report)) : report.done;
  if (output.isText) {
    const { formatStepDetails } = await import("../../registration/report.ts");
    const { unchanged } = report;
    const lines = [
      reportHeading(report, { dryRun }),
      ...steps.flatMap((step) => stepLines(output, step, formatStepDetails(step))),
      ...(unchanged.length === 0 ? [] : [`= ${unchanged.length} unchanged`]),
    ];
    output.print(lines.join("\n"));
  } else {
    const failed = report.failed.map(({ step, error: { code, message } }) => ({ step, code, message }));
    const json = { ...report, dryRun, failed };
    output.printResult({ json, quiet: steps.flatMap(({ id }) => id ?? []), columns: {}, rows: [] });
  }
  for (const { message } of report.skipped) output.log(`note: ${message}`);
  for (const { step, error } of report.failed) {
    output.log(
      `error: ${dryRun ? "Cannot" : "Could not"} ${actions[step.action].verb} the webhook of endpoint "${step.endpoint}". ${error.message}`,
    );
  }
  if (report.failed.length > 0 && !dryRun) output.log("To retry the failed changes, run sync again.");
}

/** Whether a step failed, or was skipped because an earlier step for the same webhook failed. */
function isBlocked({ id }: RegistrationStep, { failed }: RegistrationReport): boolean {
  return id !== undefined && failed.some(({ step }) => step.id === id);
}

const actions = {
  create: { verb: "create", mark: "+", color: "green" },
  update: { verb: "update", mark: "~", color: "yellow" },
  enable: { verb: "enable", mark: "!", color: "yellow" },
  "re-enable": { verb: "enable", mark: "!", color: "yellow" },
  delete: { verb: "delete", mark: "-", color: "red" },
} as const;

function reportHeading(
  { hubUrl, publicUrl, steps, failed }: RegistrationReport,
  { dryRun }: { dryRun: boolean },
): string {
  const where = plainText(`${hubUrl}, server ${publicUrl}`);
  if (steps.length === 0) return `No changes needed on ${where}.`;
  if (dryRun) return `To be changed on ${where}:`;
  return failed.length > 0 ? `Partly changed on ${where}:` : `Changed on ${where}:`;
}

function stepLines(output: Output, step: RegistrationStep, details: readonly string[]): readonly string[] {
  const { mark, color } = actions[step.action];
  const heading = `${mark} ${[step.endpoint, step.id].filter(Boolean).join("  ")}`;
  return [output.colorize(plainText(heading), color), ...details.map((detail) => `    ${plainText(detail)}`)];
}
