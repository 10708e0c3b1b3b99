import { InvalidArgumentError } from "commander";
import { messageOf } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import type { Duration } from "../../core/options.ts";
import { plainJson } from "../../core/terminal.ts";
import { defaultHubPort, defaultPort } from "../../core/urls.ts";
import type { developmentTokens } from "../../local-hub/accounts.ts";
import type { BucketVariables, LocalHub } from "../../local-hub/local-hub.ts";
import type { Invocation, Output } from "../invocation.ts";
import { type CliCommand, parseDuration, parsePort } from "../usage.ts";

interface HubOptions {
  port: number;
  state?: string;
  runJobs?: boolean;
  runSpaces?: boolean;
  allowRemote?: boolean;
  bucket?: string;
  drop?: number;
  duplicate?: number;
  delay?: Duration;
  reorder?: boolean;
}

export function addHub(program: CliCommand, invocation: Invocation): void {
  program
    .command("hub")
    .description("run a local Hub that stores webhooks and sends deliveries; no account required")
    .option("--port <port>", "port to listen on; 0 for any free port", parsePort, defaultHubPort)
    .option("--state <file>", "store all data in this SQLite file (default: in memory)")
    .option("--bucket <name>", "create a bucket, and print the environment variables for an inbox in it")
    .option("--run-jobs", "run webhook jobs as processes on this machine")
    .option("--run-spaces", "run Docker Spaces as processes on this machine, with the packages of this folder")
    .option("--allow-remote", "allow deliveries to URLs on other machines")
    .option("--drop <share>", "lose a share of the deliveries, from 0 to 1", parseShare)
    .option("--duplicate <share>", "send a share of the deliveries twice, from 0 to 1", parseShare)
    .option("--delay <duration>", "wait before each delivery, such as 5s", parseDuration)
    .option("--reorder", "wait for a random part of --delay (default: 1s), so that deliveries overtake each other")
    .withoutHubOptions()
    .examples(
      "hub",
      "hub --state hub.sqlite --port 5051",
      "hub --bucket me/inbox",
      "hub --drop 0.1 --duplicate 0.1 --delay 5s --reorder    # a bad day",
      "hub --port 0 --format json    # for programs: prints the URL as a line of JSON",
    )
    .action(async ({ port, state, runJobs, runSpaces, allowRemote, bucket, ...deliveryFaults }: HubOptions) => {
      const { output, shell } = invocation;
      const { LocalHub } = await import("../../local-hub/local-hub.ts");
      const { developmentTokens: tokens } = await import("../../local-hub/accounts.ts");
      const logger = output.isText ? await terminalLogger() : undefined;
      const hub = await LocalHub.launch({ port, state, runJobs, runSpaces, allowRemote, logger, deliveryFaults }).catch(
        (error: unknown) => {
          throw withPortAdvice(error, port);
        },
      );
      const variables = bucket === undefined ? undefined : await createBucket(hub, bucket);
      const removeSession = await storeSession(output, hub);
      const stopped = shell.untilStopped();
      output.print(readyText(output, hub, { tokens, variables }));
      await stopped;
      output.log("Stopping the local Hub. Press Ctrl+C again to exit immediately.");
      removeSession();
      await hub.close();
    });
}

function parseShare(text: string): number {
  const share = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError("Use a number from 0 to 1, such as 0.1.");
}

/** Creates a bucket. If the name is invalid, closes the local Hub and rethrows the error. */
async function createBucket(hub: LocalHub, name: string): Promise<BucketVariables> {
  try {
    return hub.createBucket(name);
  } catch (error) {
    await hub.close();
    throw error;
  }
}

/** Stores the URL for `trigger` in the same folder. Returns a function that deletes the stored URL. */
async function storeSession(output: Output, { url, port }: { url: string; port: number }): Promise<() => void> {
  const { writeSessionFile } = await import("../../dev/session-file.ts");
  try {
    return writeSessionFile({ port, folder: process.cwd(), localHubUrl: url });
  } catch (error) {
    output.log(
      `warning: The URL of the local Hub could not be stored for hub-webhooks trigger. ${messageOf(error)}. Pass it with --hub-url ${url}`,
    );
    return () => {};
  }
}

/** Replaces a `PORT_IN_USE` error with an error whose message mentions `--port`. Returns other errors unchanged. */
function withPortAdvice(error: unknown, port: number): unknown {
  if (!WebhookError.isInstance(error) || error.code !== "PORT_IN_USE") return error;
  return new WebhookError(
    `Port ${port} is in use, perhaps by another local Hub. Stop that process, or choose another port with --port (0 for any free port).`,
    { code: error.code, cause: error },
  );
}

/** Creates the logger for text output. In other formats, standard output must contain only the result. */
async function terminalLogger(): Promise<Logger> {
  const { createNodeLogger } = await import("../../receiver/node/node-logger.ts");
  return createNodeLogger();
}

function readyText(
  output: Output,
  hub: LocalHub,
  { tokens, variables }: { tokens: typeof developmentTokens; variables: BucketVariables | undefined },
): string {
  const { url, port } = hub;
  const consoleUrl = hub.createConsoleLink();
  if (output.format === "json")
    return plainJson({ event: "ready", url, port, consoleUrl, ...(variables && { env: variables }) });
  if (output.format === "quiet") return url;
  const width = Math.max(...tokens.map(({ token }) => token.length));
  return [
    `Console: ${consoleUrl}`,
    `Local Hub: ${url}`,
    "",
    "The console link signs in once and is valid for an hour. After you use it, the next link is printed here.",
    "",
    "Tokens for this Hub only:",
    ...tokens.map(({ token, user, meaning }) => `  ${token.padEnd(width)}  ${user}, ${meaning}`),
    "",
    "To create a webhook:",
    `  HF_ENDPOINT=${url} HF_TOKEN=hf_local npx hub-webhooks create --url http://127.0.0.1:${defaultPort}/webhooks/hello --watch dataset:local-user/data`,
    ...bucketLines(variables),
    "",
    "Press Ctrl+C to stop.",
  ].join("\n");
}

function bucketLines(variables: BucketVariables | undefined): string[] {
  if (variables === undefined) return [];
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return ["", "To store the inbox of a receiver in the bucket, set:", ...assignments.map((line) => `  ${line}`)];
}
