import { type Command, Option } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { parsePort } from "../port.ts";
import { collectWatched, watchedTypeNames } from "../watched.ts";
import type { DevCommandOptions } from "./dev/run-dev.ts";

const providers = ["localtunnel", "cloudflared", "ngrok"] satisfies readonly DevCommandOptions["tunnel"][];

/** Adds `hub-webhooks dev`. */
export function addDev(program: Command, invocation: Invocation): void {
  program
    .command("dev")
    .argument("[file]", "the file that makes the server (default: server.ts, app.ts or index.ts, here or in src)")
    .description("run a server file, load it anew on every change, and register it on a Hub meanwhile")
    .addOption(
      new Option("--hub <which>", "local: a Hub on this machine, no account; real: the one at --endpoint, by a tunnel")
        .choices(["local", "real"])
        .default("local"),
    )
    .option("--port <port>", "where the server is reached on this machine (default: PORT, else 7860)", parsePort)
    .option("--hub-port <port>", "where the local Hub listens (default: 5050)", parsePort)
    .addOption(new Option("--tunnel <provider>", "who carries the tunnel (default: localtunnel)").choices(providers))
    .option("--tunnel-host <url>", "the server of that tunnel (default: LOCALTUNNEL_HOST)")
    .option("--subdomain <name>", "the name wished for in the tunnel's address")
    .option("--public-url <url>", "an address of your own that leads to --port, in place of a tunnel")
    .addOption(
      new Option(
        "--watch <type:name...>",
        `what to watch for endpoints that do not say; types: ${watchedTypeNames.join(", ")}`,
      ).argParser(collectWatched),
    )
    .option("--state <file>", "where the webhooks are noted (default: .hub-webhooks/registrations.json)")
    .option("--inbox <url>", "inbox of this session; INBOX_URL is not used (default: .hub-webhooks/dev.db)")
    .option("--create", "write a small server to begin with where there is no file yet")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks dev",
        "hub-webhooks dev bot.ts --watch dataset:me/data",
        "hub-webhooks dev --hub real    # HF_TOKEN, and a temporary public address",
        "hub-webhooks dev --format json    # for programs: one line of JSON per event",
      ),
    )
    .action(async (file: string | undefined, options: DevCommandOptions) => {
      const { runDev } = await import("./dev/run-dev.ts");
      await runDev({ file, options, invocation });
    });
}
