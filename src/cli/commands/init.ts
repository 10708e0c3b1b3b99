import { type Command, Option } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { exampleNames } from "./init/example.ts";
import type { InitCommandOptions } from "./init/run-init.ts";
import { templateNames } from "./init/template.ts";

/** Adds `hub-webhooks init`. */
export function addInit(program: Command, invocation: Invocation): void {
  program
    .command("init")
    .argument("[directory]", "where the project goes: a folder that is new or empty; . is this one")
    .description("make a new project with a server, its tests and all that it takes to run")
    .addOption(
      new Option("--template <name>", "space: a Docker Space; server: a machine of your own").choices(templateNames),
    )
    .option("--example <name>", `begin with an example: ${exampleNames.join(", ")}`)
    .option("--name <name>", "the name in package.json (default: made from that of the folder)")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks init my-bot --template space",
        "hub-webhooks init . --template server --name @me/bot",
        "hub-webhooks init my-bot --template space --example discussion-bot",
      ),
    )
    .action(async (directory: string | undefined, options: InitCommandOptions) => {
      const { runInit } = await import("./init/run-init.ts");
      await runInit({ directory, options, invocation });
    });
}
