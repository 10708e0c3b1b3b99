import type { Command } from "commander";
import { plainText } from "../../core/terminal-text.ts";
import type { RegisterOptions } from "../../registration/register-endpoints.ts";
import { canAsk, confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { wrongUsage } from "../wrong-usage.ts";
import { writeReport } from "./sync/report-text.ts";
import { checkCleanOptions, findBaseUrl, readSyncSecret, type SyncOptions } from "./sync/sync-options.ts";

/** Adds `hub-webhooks sync`. */
export function addSync(program: Command, invocation: Invocation): void {
  program
    .command("sync")
    .argument("[file]", "the file that makes the server (default: server.ts, src/server.ts and the like)")
    .description("bring the webhooks on the Hub in step with the endpoints of a server")
    .option("--base-url <url>", "public address of the server (default: PUBLIC_URL, else that of the Space)")
    .option("--dry-run", "only show what would be done")
    .option("--prune", "delete webhooks whose endpoint is gone; asks before, unless --yes is given")
    .option("--adopt", "take over webhooks that deliver to an endpoint and were not made here")
    .option("--state <file>", "where is noted which webhooks are ours (default: .hub-webhooks/registrations.json)")
    .option("--secret-stdin", "read the secret from standard input: one line (default: that of the server)")
    .option("--remove-secret", "remove the secret from webhooks that have one, where the server has none")
    .option("--clean", "delete the temporary webhooks that dev has left behind, and nothing else")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks sync server.ts --base-url https://me-bot.hf.space --dry-run",
        "hub-webhooks sync server.ts --base-url https://me-bot.hf.space",
        "hub-webhooks sync --clean --yes    # after a crash of hub-webhooks dev",
      ),
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
  const mustAsk = prune && !dryRun && !invocation.isConfirmed;
  if (mustAsk) checkCanAsk(invocation, "sync --prune");
  const baseUrl = findBaseUrl(options, shell);
  const secret = await readSyncSecret(options, shell);
  const hub = await invocation.connect();
  const { findServerFile } = await import("../../server-file/find.ts");
  const { describeServerFile } = await import("../../server-file/server-process.ts");
  const { registerEndpoints } = await import("../../registration/register-endpoints.ts");
  const source = await describeServerFile(findServerFile({ file }), { publicUrl: baseUrl });
  for (const { name, warnings } of source.endpoints) {
    for (const warning of warnings) output.say(`note: Endpoint ${name}: ${warning}`);
  }
  if (source.endpoints.length > 0 && !(secret ?? source.secret)) {
    output.say(
      "note: The server has no secret, so anyone who knows the URL of an endpoint can post to it: set WEBHOOK_SECRET for the server and for sync, or give one with --secret-stdin.",
    );
  }
  const register = (changes: Partial<RegisterOptions> = {}) =>
    registerEndpoints(source, hub, { baseUrl, state, secret, removeSecret, prune, adopt, dryRun, ...changes });

  if (mustAsk) {
    const { steps } = await register({ dryRun: true });
    const doomed = steps.filter(({ action }) => action === "delete").map(({ endpoint, id }) => `${id} of ${endpoint}`);
    if (doomed.length > 0 && !(await isAgreed(invocation, doomed))) return;
  }
  const report = await register();
  if (source.endpoints.length === 0) output.say("note: The server has no endpoints.");
  writeReport(output, report, { dryRun });
  if (report.failed.length > 0) invocation.exitCode = 1;
}

async function clean(invocation: Invocation, { dryRun = false, state }: SyncOptions): Promise<void> {
  const { output } = invocation;
  const mustAsk = !dryRun && !invocation.isConfirmed;
  if (mustAsk) checkCanAsk(invocation, "sync --clean");
  const hub = await invocation.connect();
  const { deleteStaleWebhooks } = await import("../../registration/sessions.ts");
  const cleanUp = (onlyLooks: boolean) =>
    deleteStaleWebhooks({
      ...{ hub, state, dryRun: onlyLooks },
      onFailed: ({ id, error }) => {
        output.say(`error: ${id ?? "the webhooks"} could not be deleted. ${error.message}`);
        invocation.exitCode = 1;
      },
    });
  if (mustAsk) {
    const doomed = await cleanUp(true);
    const named = doomed.map(({ id, endpoint }) => `${id} of ${endpoint}`);
    if (doomed.length > 0 && !(await isAgreed(invocation, named))) return;
  }
  const removed = await cleanUp(dryRun);
  if (removed.length === 0 && invocation.exitCode === 0) {
    output.say("There is nothing to clean up: no session of hub-webhooks dev that is over has left a webhook behind.");
  }
  const outcome = dryRun ? "to be deleted" : "deleted";
  output.result({
    json: removed.map((webhook) => ({ ...webhook, deleted: !dryRun })),
    quiet: removed.map(({ id }) => id),
    columns: [
      { key: "id", title: "Id" },
      { key: "endpoint", title: "Endpoint" },
      { key: "url", title: "Target" },
      { key: "state", title: "State" },
    ],
    rows: removed.map(({ id, endpoint, url }) => [id, endpoint, url, outcome]),
  });
}

function checkCanAsk({ shell }: Invocation, command: string): void {
  if (canAsk(shell)) return;
  throw wrongUsage(`${command} asks before it deletes, and there is no terminal to ask on: add --yes.`);
}

async function isAgreed(invocation: Invocation, webhooks: readonly string[]): Promise<boolean> {
  const { shell, output } = invocation;
  const question = `Delete ${webhooks.length === 1 ? "webhook" : `${webhooks.length} webhooks:`} ${webhooks.join(", ")} for good?`;
  if (await confirm({ shell, question: plainText(question) })) return true;
  output.say("Nothing was done.");
  invocation.exitCode = 1;
  return false;
}
