import { Option } from "commander";
import { defaultHubPort, defaultPort } from "../../core/urls.ts";
import { providerNames } from "../../tunnel/provider.ts";
import type { Invocation } from "../invocation.ts";
import { type CliCommand, parseDuration, parsePort } from "../usage.ts";
import { watchOption } from "../webhook-options.ts";
import type { DevCommandOptions } from "./dev/run-dev.ts";

export function addDev(program: CliCommand, invocation: Invocation): void {
  program
    .command("dev")
    .argument(
      "[file]",
      "file that creates the server (default: server.ts, app.ts, or index.ts in the current folder or in src)",
    )
    .description("run a server file, reload it on changes, and register its webhooks on a Hub while it runs")
    .addOption(
      new Option(
        "--hub <which>",
        "local: a Hub on this machine, no account required; real: the Hub at --hub-url, through a tunnel",
      )
        .choices(["local", "real"])
        .default("local"),
    )
    .option(
      "--port <port>",
      `port of the server on this machine (default: PORT, else ${defaultPort} or the next free port)`,
      parsePort,
    )
    .option("--hub-port <port>", `port of the local Hub (default: ${defaultHubPort} or the next free port)`, parsePort)
    .addOption(
      new Option(
        "--tunnel <provider>",
        "tunnel provider (default: localtunnel with --hub real, else no tunnel)",
      ).choices(providerNames),
    )
    .option("--tunnel-host <url>", "URL of the tunnel server (default: LOCALTUNNEL_HOST, else https://localtunnel.me)")
    .option("--subdomain <name>", "name to request in the public URL from localtunnel")
    .option(
      "--poll <interval>",
      "poll the Hub for changes, such as every 1m, instead of webhooks and a tunnel",
      parseDuration,
    )
    .option("--public-url <url>", "public URL that forwards to --port; replaces the tunnel")
    .addOption(watchOption("default watch list for endpoints that do not set one"))
    .option("--state <file>", "file that records the webhooks (default: .hub-webhooks/registrations.json)")
    .option(
      "--inbox <url>",
      "URL of this session's inbox (default: sqlite:./.hub-webhooks/dev.db; INBOX_URL is ignored)",
    )
    .option(
      "--forward <url>",
      "pass deliveries on to a program in any language instead of a server file; they wait while it does not run",
    )
    .option("--create", "create a starter server if the file does not exist")
    .examples(
      "dev",
      "dev bot.ts --watch dataset:me/data",
      "dev --forward http://localhost:8000/hook --watch dataset:me/data",
      "dev --hub real    # needs HF_TOKEN; opens a temporary public URL",
      "dev --hub real --poll 1m    # no tunnel and no webhooks, also for repositories of others",
      "dev --format json    # for programs: one line of JSON per event",
    )
    .action(async (file: string | undefined, options: DevCommandOptions) => {
      const { runDev } = await import("./dev/run-dev.ts");
      await runDev({ file, options, invocation });
    });
}
