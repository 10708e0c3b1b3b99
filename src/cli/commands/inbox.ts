import type { BucketReport } from "../../inbox/bucket/bucket-check.ts";
import { type Column, type Invocation, type Output, stopSignal } from "../invocation.ts";
import { type CliCommand, helpHint, usageError } from "../usage.ts";
import { InboxAccess } from "./deliveries/inbox-access.ts";

export function addInbox(program: CliCommand, invocation: Invocation): void {
  const inbox = program.command("inbox").withoutHubOptions().description("check the storage of background deliveries");
  inbox
    .command("check")
    .argument("[url]", "URL of the inbox (default: INBOX_URL)")
    .description(
      "check within a minute whether a bucket can be used for an inbox; removes its objects, and does not affect an inbox at this URL",
    )
    .showHelpAfterError(helpHint("inbox", "check"))
    .examples(
      "inbox check    # the inbox in INBOX_URL, with the access key of the server",
      "inbox check hf://buckets/me/my-inbox",
      "inbox check --format json",
    )
    .action((url: string | undefined) => check(invocation, url));
}

async function check(invocation: Invocation, argument: string | undefined): Promise<void> {
  const { shell, output } = invocation;
  // An empty variable counts as unset.
  const url = argument ?? (shell.env.INBOX_URL || undefined);
  if (!url) throw usageError("There is no URL to check. Pass the URL of the inbox, or set INBOX_URL.");
  const access = new InboxAccess({ shell, urlName: "[url]", readOptions: () => (argument ? { inbox: argument } : {}) });
  await access.useUrl(async () => {
    const { parseInboxUrl } = await import("../../inbox/open-inbox.ts");
    const { engine } = parseInboxUrl(url);
    if (engine !== "bucket") {
      const row = ["bucket", "not needed", "SQLite, Redis, and PostgreSQL themselves decide between concurrent writes"];
      output.printResult({ json: { engine, verdict: "not needed" }, quiet: ["not needed"], columns, rows: [row] });
      output.log("Only an inbox in a bucket (hf:// or s3://) is checked. A server checks every inbox at its start.");
      return;
    }
    const { checkBucket } = await import("../../inbox/bucket/bucket-check.ts");
    const signal = stopSignal(shell);
    output.log("Checking the bucket. This takes up to a minute.");
    const { log, readVariable } = access.settings;
    const report = await checkBucket({ url, log, readVariable, signal });
    print(output, report);
    if (report.verdict === "failed") invocation.exitCode = 1;
  });
}

const colors = new Map<string, "green" | "yellow" | "red">([
  ["passed", "green"],
  ["slow", "yellow"],
  ["skipped", "yellow"],
  ["failed", "red"],
]);

const columns: Readonly<Record<string, string | Column>> = {
  check: "Check",
  result: { title: "Result", color: (outcome) => colors.get(outcome) },
  details: "Details",
};

function print(output: Output, report: BucketReport): void {
  const { parts, verdict, remaining } = report;
  const rows = parts.map(({ name, outcome, details }) => [name, outcome, details]);
  output.printResult({ json: report, quiet: [verdict], columns, rows });
  if (remaining.objects > 0) {
    const { objects, prefix } = remaining;
    output.log(`${objects} objects of the check could not be removed. Delete all objects below "${prefix}".`);
  }
  if (verdict === "passed") output.log("The bucket can be used for an inbox.");
  else
    output.log(
      "The bucket cannot be used for an inbox, or the check is incomplete. Fix the failed checks, and run the command again.",
    );
}
