import type { Command } from "commander";
import { WebhookError } from "../../core/errors.ts";
import { refuseHubOptions } from "../input.ts";
import type { Invocation } from "../invocation.ts";
import { examples, helpWithoutHubOptions, usageError } from "../usage.ts";

/** Adds `hub-webhooks job`. */
export function addJob(program: Command, invocation: Invocation): void {
  program
    .command("job")
    .argument("<file>", "file that creates the server")
    .description("run an endpoint once in a webhook's job; reads the payload from WEBHOOK_PAYLOAD")
    .option("--endpoint <name>", "endpoint to run; required if the server has several endpoints")
    .configureHelp(helpWithoutHubOptions())
    .addHelpText(
      "after",
      examples(
        "job server.ts",
        "job server.ts --endpoint retrain    # as the command of a job, see docs/guides/run-as-a-job.md",
      ),
    )
    .action((file: string, options: { endpoint?: string }) => run(invocation, { file, ...options }));
}

async function run(invocation: Invocation, { file, endpoint }: { file: string; endpoint?: string }): Promise<void> {
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
