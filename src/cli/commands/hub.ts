import type { Command } from "commander";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { plainJson } from "../../core/terminal-text.ts";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import type { Output } from "../output.ts";
import { parsePort } from "../port.ts";

interface HubOptions {
  port: number;
  state?: string;
  runJobs?: boolean;
  allowRemote?: boolean;
}

/** Adds `hub-webhooks hub`. */
export function addHub(program: Command, invocation: Invocation): void {
  program
    .command("hub")
    .description("run a Hub on this machine that keeps webhooks and delivers, without an account")
    .option("--port <port>", "where it listens; 0 takes any free port", parsePort, 5050)
    .option("--state <file>", "keep everything in this SQLite file (default: in memory, gone at the end)")
    .option("--run-jobs", "run the command of a webhook's job as a process on this machine")
    .option("--allow-remote", "deliver to other machines too, not only to this one")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks hub",
        "hub-webhooks hub --state hub.sqlite --port 5051",
        "hub-webhooks hub --port 0 --format json    # for programs: one line of JSON tells the URL",
      ),
    )
    .action(async ({ port, state, runJobs, allowRemote }: HubOptions) => {
      const { output, shell } = invocation;
      const { LocalHub } = await import("../../local-hub/local-hub.ts");
      const { developmentTokens } = await import("../../local-hub/accounts.ts");
      const logger = output.isText ? await terminalLogger() : undefined;
      const hub = await LocalHub.launch({ port, state, runJobs, allowRemote, logger }).catch((error: unknown) => {
        throw adviseHere(error, port);
      });
      const stopped = shell.untilStopped();
      output.write(readyText(output, { hub, tokens: developmentTokens }));
      await stopped;
      output.say("The local Hub is closing. Once more ends it at once.");
      await hub.close();
    });
}

/** What cannot be had is chosen by an option here. */
function adviseHere(error: unknown, port: number): unknown {
  if (!WebhookError.isInstance(error) || error.code !== "PORT_IN_USE") return error;
  return new WebhookError(
    `Port ${port} is taken, perhaps by another local Hub: end what listens there, or choose another port with --port; 0 takes any free one.`,
    { code: error.code, cause: error },
  );
}

/** Other formats keep standard output for what was asked for. */
async function terminalLogger(): Promise<Logger> {
  const { createNodeLogger } = await import("../../receiver/node/logger.ts");
  return createNodeLogger();
}

interface Ready {
  hub: { url: string; port: number };
  tokens: readonly { token: string; user: string; meaning: string }[];
}

function readyText(output: Output, { hub: { url, port }, tokens }: Ready): string {
  if (output.format === "json") return plainJson({ event: "ready", url, port });
  if (output.format === "quiet") return url;
  const width = Math.max(...tokens.map(({ token }) => token.length));
  return [
    `The local Hub is ready: ${url}`,
    "",
    `Webhooks and deliveries to look at: ${url}/`,
    "Tokens, for this Hub only:",
    ...tokens.map(({ token, user, meaning }) => `  ${token.padEnd(width)}  ${user}, ${meaning}`),
    "",
    "To create a webhook here:",
    `  HF_ENDPOINT=${url} HF_TOKEN=hf_local npx hub-webhooks create --url http://127.0.0.1:7860/webhooks/hello --watch dataset:local-user/data`,
    "",
    "Press Ctrl+C to stop.",
  ].join("\n");
}
