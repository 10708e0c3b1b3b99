import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { addCompact } from "./deliveries/compact.ts";
import { addCounts } from "./deliveries/counts.ts";
import { parseInboxUrl } from "./deliveries/delivery-options.ts";
import { InboxAccess } from "./deliveries/inbox-access.ts";
import { addListDeliveries } from "./deliveries/list.ts";
import { addReplayDeliveries } from "./deliveries/replay.ts";
import { addShow } from "./deliveries/show.ts";
import { addTail } from "./deliveries/tail.ts";

const subcommands = [addListDeliveries, addShow, addReplayDeliveries, addCounts, addTail, addCompact];

/** Adds `hub-webhooks deliveries` and its subcommands. */
export function addDeliveries(program: Command, invocation: Invocation): void {
  const deliveries = program
    .command("deliveries")
    .description("look into the inbox of a server's background endpoints, and replay what it holds")
    .option(
      "--inbox <url>",
      "the inbox (default: INBOX_URL, else sqlite:./.hub-webhooks/inbox.db); INBOX_URL keeps a password out of the process list",
      parseInboxUrl,
    )
    .addHelpText(
      "after",
      examples(
        "hub-webhooks deliveries list --status dead",
        "hub-webhooks deliveries replay --dead --endpoint retrain",
        "hub-webhooks deliveries counts --inbox sqlite:./data/inbox.db",
      ),
    );
  const access = new InboxAccess({ shell: invocation.shell, readOptions: () => deliveries.opts<{ inbox?: string }>() });
  for (const addSubcommand of subcommands) addSubcommand(deliveries, { invocation, access });
  for (const command of deliveries.commands) {
    command.showHelpAfterError(`See: ${program.name()} ${deliveries.name()} ${command.name()} --help`);
  }
}
