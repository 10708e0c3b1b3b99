import type { Command } from "commander";
import { WebhookError } from "../../../core/errors.ts";
import { plainText } from "../../../core/terminal-text.ts";
import type { DeliveryStatus } from "../../../inbox/stored-delivery.ts";
import type { ServerInbox } from "../../../receiver/server-inbox.ts";
import { canAsk, confirm } from "../../confirm.ts";
import { examples } from "../../examples.ts";
import type { Invocation } from "../../invocation.ts";
import type { Output } from "../../output.ts";
import { wrongUsage } from "../../wrong-usage.ts";
import { type DeliveriesContext, endpointName, endpointOption } from "./delivery-options.ts";
import { describeNothing, statusColor } from "./delivery-result.ts";
import { deliveryUnknown } from "./delivery-unknown.ts";

interface ReplayOptions {
  endpoint?: string;
  dead?: boolean;
}

interface Replayed {
  id: string;
  endpoint: string;
  /** Its status before. */
  was: DeliveryStatus;
}

/** Adds `hub-webhooks deliveries replay`. */
export function addReplayDeliveries(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("replay")
    .argument("[ids...]", "ids of deliveries, as list shows them")
    .description("run deliveries again, whatever became of them: the server that works on the inbox does it")
    .addOption(endpointOption("their endpoint; needed with --dead"))
    .option("--dead", "every dead delivery of the endpoint; asks before, unless --yes is given")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks deliveries replay 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de",
        "hub-webhooks deliveries replay --dead --endpoint retrain",
        "hub-webhooks deliveries replay --dead --endpoint retrain --yes    # in a script",
      ),
    )
    .action(async (ids: readonly string[], { dead, ...options }: ReplayOptions) => {
      const endpoint = endpointName(options, invocation);
      if (!dead) {
        if (ids.length === 0) throw wrongUsage("Nothing to replay. Give ids, or --dead --endpoint ENDPOINT.");
        return access.use((inbox) => replayEach(inbox, { ids, endpoint, invocation }));
      }
      if (ids.length > 0) throw wrongUsage("--dead replays all that are dead: give ids, or --dead, not both.");
      if (endpoint === undefined)
        throw wrongUsage("--dead needs the endpoint whose dead deliveries it replays: add --endpoint.");
      if (!invocation.isConfirmed && !canAsk(invocation.shell)) {
        throw wrongUsage("replay --dead asks before it replays, and there is no terminal to ask on: add --yes.");
      }
      return access.use((inbox) => replayDead(inbox, { endpoint, invocation }));
    });
}

interface EachOptions {
  ids: readonly string[];
  endpoint: string | undefined;
  invocation: Invocation;
}

async function replayEach(inbox: ServerInbox, { ids, endpoint, invocation }: EachOptions): Promise<void> {
  const { output } = invocation;
  const replayed: Replayed[] = [];
  try {
    for (const id of new Set(ids)) {
      try {
        replayed.push(await replayOne(inbox, { id, endpoint }));
      } catch (error) {
        if (!WebhookError.isInstance(error) || error.code !== "DELIVERY_UNKNOWN") throw error;
        output.say(`error: ${error.message}`);
        invocation.exitCode = 1;
      }
    }
  } finally {
    // Also before an error that ends it all: these are replayed.
    writeReplayed(output, replayed);
  }
}

async function replayOne(
  inbox: ServerInbox,
  { id, endpoint }: { id: string; endpoint: string | undefined },
): Promise<Replayed> {
  const found = await inbox.get(id, { ...(endpoint !== undefined && { endpoint }) });
  if (!found) throw deliveryUnknown({ id, endpoint });
  await inbox.replay(id, { endpoint: found.endpoint });
  return { id, endpoint: found.endpoint, was: found.status };
}

function writeReplayed(output: Output, replayed: readonly Replayed[]): void {
  output.result({
    json: replayed,
    quiet: replayed.map(({ id }) => id),
    columns: [
      { key: "id", title: "Id" },
      { key: "endpoint", title: "Endpoint" },
      { key: "was", title: "Was", color: statusColor },
      { key: "replayed", title: "Replayed" },
    ],
    rows: replayed.map(({ id, endpoint, was }) => [
      id,
      endpoint,
      was,
      was === "running" ? "once more after the attempt that runs" : "as soon as a server works on it",
    ]),
  });
}

async function replayDead(
  inbox: ServerInbox,
  { endpoint, invocation }: { endpoint: string; invocation: Invocation },
): Promise<void> {
  const { output, shell, isConfirmed } = invocation;
  const counts = new Map(Object.entries(await inbox.counts())).get(endpoint);
  if (!isConfirmed && counts && counts.dead > 0) {
    const question = `Replay ${counts.dead === 1 ? "the dead delivery" : `all ${counts.dead} dead deliveries`} of "${endpoint}"?`;
    if (!(await confirm({ shell, question: plainText(question) }))) {
      output.say("Nothing was replayed.");
      invocation.exitCode = 1;
      return;
    }
  }
  const replayed = await inbox.replayDead(endpoint);
  output.result({
    json: { endpoint, replayed },
    quiet: [String(replayed)],
    columns: [
      { key: "endpoint", title: "Endpoint" },
      { key: "replayed", title: "Replayed" },
    ],
    rows: [[endpoint, String(replayed)]],
    asBlocks: true,
  });
  if (counts === undefined) output.say(await describeNothing(inbox, { endpoint }));
}
