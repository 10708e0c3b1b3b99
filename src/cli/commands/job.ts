import type { Command } from "commander";
import { WebhookError } from "../../core/errors.ts";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { wrongUsage } from "../wrong-usage.ts";

/** Adds `hub-webhooks job`. */
export function addJob(program: Command, invocation: Invocation): void {
  program
    .command("job")
    .argument("<file>", "the file that makes the server")
    .description("run an endpoint of a server once, inside a job of a webhook: on WEBHOOK_PAYLOAD, without a request")
    .option("--endpoint <name>", "the endpoint to run (default: the only one)")
    // No Hub is spoken to, and there the option of that name means something else.
    .configureHelp({ showGlobalOptions: false })
    .addHelpText(
      "after",
      examples(
        "hub-webhooks job server.ts",
        "hub-webhooks job server.ts --endpoint retrain    # the command of a job; see docs/jobs.md",
      ),
    )
    .action((file: string, options: { endpoint?: string }) =>
      // The program takes an option of its own wherever it stands.
      run(invocation, { file, endpoint: options.endpoint ?? invocation.hub.endpoint }),
    );
}

async function run(
  { output, shell }: Invocation,
  { file, endpoint }: { file: string; endpoint: string | undefined },
): Promise<void> {
  const stopped = shell.untilStopped();
  const { runJobFile } = await import("../../job/job-file.ts");
  const outcome = await runJobFile({ file, endpoint, environment: shell.env, stopped }).catch(asWrongUsage);
  output.say(
    outcome.status === "ignored"
      ? `The endpoint's filter does not want this delivery, and nothing was run: ${outcome.reason}.`
      : "The job is done.",
  );
}

/** An endpoint that is not there, or that nobody has named, is a matter of the arguments. */
function asWrongUsage(error: unknown): never {
  if (!WebhookError.isInstance(error)) throw error;
  throw error.code === "ENDPOINT_REQUIRED" || error.code === "ENDPOINT_UNKNOWN" ? wrongUsage(error.message) : error;
}
