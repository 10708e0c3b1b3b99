import { WebhookError } from "../../../core/errors.ts";
import { type Duration, toMilliseconds } from "../../../core/options.ts";
import { defaultInboxUrl, defaultPort } from "../../../core/urls.ts";
import type { DeliveryStatus } from "../../../inbox/inbox.ts";
import type { ServerInbox } from "../../../receiver/inbox.ts";
import { requestConfirmation, requireConfirmable } from "../../input.ts";
import type { Invocation, Output } from "../../invocation.ts";
import { type CliCommand, parseDuration, usageError } from "../../usage.ts";
import { describeEmptyList, findDelivery, listDeliveries, statusColor } from "./delivery-list.ts";
import { type DeliveriesContext, endpointOption, type TakeOverOptions, takeOverOption } from "./inbox-access.ts";

interface ReplayOptions extends TakeOverOptions {
  endpoint?: string;
  dead?: boolean;
  failedSince?: Duration;
  from?: string;
  to?: string;
}

interface Replayed {
  id: string;
  endpoint: string;
  /** The status before the replay. */
  was: DeliveryStatus;
}

export function addReplayDeliveries(deliveries: CliCommand, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("replay")
    .argument("[ids...]", "delivery IDs, as shown by list")
    .description("queue deliveries again, whatever their status; the server that uses the inbox runs them")
    .addOption(endpointOption("only replay deliveries of this endpoint; required with --dead"))
    .option("--dead", "replay all dead deliveries of the endpoint; prompts for confirmation unless --yes is given")
    .option(
      "--failed-since <duration>",
      "replay what has died within this time and is still dead, of all endpoints or of --endpoint; prompts as --dead",
      parseDuration,
    )
    .option(
      "--from <url>",
      "read the delivery from the receiver at this URL, with CONSOLE_TOKEN, and deliver it to a server on this machine",
    )
    .option("--to <url>", `server on this machine for --from (default: local, http://127.0.0.1:${defaultPort})`)
    .addOption(takeOverOption())
    .examples(
      "deliveries replay 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de",
      "deliveries replay --dead --endpoint retrain",
      "deliveries replay --dead --endpoint retrain --yes    # in a script",
      "deliveries replay --failed-since 2h",
      "deliveries replay 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de --from https://me-bot.hf.space",
    )
    .action((ids: readonly string[], options: ReplayOptions) => replay(ids, options, { invocation, access }));
}

async function replay(
  ids: readonly string[],
  { endpoint, dead, failedSince, from, to = "local", takeOver }: ReplayOptions,
  { invocation, access }: DeliveriesContext,
): Promise<void> {
  if (from !== undefined) {
    const [id, ...others] = ids;
    if (id === undefined || others.length > 0 || dead || failedSince !== undefined) {
      throw usageError("--from replays one delivery. Add one delivery ID, and remove --dead and --failed-since.");
    }
    const { copyDelivery } = await import("./copy.ts");
    return copyDelivery(invocation, { id, from, to, endpoint });
  }
  const write = { access: "write" as const, ...(takeOver !== undefined && { takeOver }) };
  if (failedSince !== undefined) {
    if (dead || ids.length > 0)
      throw usageError("--failed-since chooses the deliveries. Remove --dead and the delivery IDs.");
    requireConfirmable(invocation, "deliveries replay --failed-since");
    const since = Date.now() - toMilliseconds(failedSince, "--failed-since");
    return access.use((inbox) => replayFailed(inbox, { endpoint, since, invocation }), write);
  }
  if (!dead) {
    if (ids.length === 0) throw usageError("No deliveries to replay. Add delivery IDs, or --dead --endpoint NAME.");
    return access.use((inbox) => replayEach(inbox, { ids, endpoint, invocation }), write);
  }
  if (ids.length > 0) {
    throw usageError(
      "--dead replays all dead deliveries, so it cannot be combined with delivery IDs. Remove --dead or the IDs.",
    );
  }
  if (endpoint === undefined) throw usageError("--dead requires an endpoint. Add --endpoint NAME.");
  requireConfirmable(invocation, "deliveries replay --dead");
  return access.use((inbox) => replayDead(inbox, { endpoint, invocation }), write);
}

async function replayEach(
  inbox: ServerInbox,
  { ids, endpoint, invocation }: { ids: readonly string[]; endpoint: string | undefined; invocation: Invocation },
): Promise<void> {
  const { output } = invocation;
  const replayed: Replayed[] = [];
  try {
    for (const id of new Set(ids)) {
      try {
        replayed.push(await replayOne(inbox, { id, endpoint }));
      } catch (error) {
        if (!WebhookError.isInstance(error) || error.code !== "DELIVERY_UNKNOWN") throw error;
        output.log(`error: ${error.message}`);
        invocation.exitCode = 1;
      }
    }
  } finally {
    // Print the replayed deliveries even if an error stops the command.
    printReplayed(output, replayed);
  }
}

async function replayOne(
  inbox: ServerInbox,
  { id, endpoint }: { id: string; endpoint: string | undefined },
): Promise<Replayed> {
  const found = await findDelivery(inbox, { id, endpoint });
  await inbox.replay(id, { endpoint: found.endpoint });
  return { id, endpoint: found.endpoint, was: found.status };
}

function printReplayed(output: Output, replayed: readonly Replayed[]): void {
  output.printResult({
    json: replayed,
    quiet: replayed.map(({ id }) => id),
    columns: { id: "ID", endpoint: "Endpoint", was: { title: "Was", color: statusColor }, replayed: "Replayed" },
    rows: replayed.map(({ id, endpoint, was }) => [
      id,
      endpoint,
      was,
      was === "running" ? "after the running attempt" : "by the running server, or at its next start",
    ]),
  });
}

async function replayDead(
  inbox: ServerInbox,
  { endpoint, invocation }: { endpoint: string; invocation: Invocation },
): Promise<void> {
  const { output } = invocation;
  const counts = new Map(Object.entries(await inbox.counts())).get(endpoint);
  if (counts && counts.dead > 0) {
    const subject = counts.dead === 1 ? "the dead delivery" : `all ${counts.dead} dead deliveries`;
    if (!(await requestConfirmation(invocation, `Replay ${subject} of endpoint "${endpoint}"?`))) return;
  }
  const replayed = await inbox.replayDead(endpoint);
  output.printResult({
    json: { endpoint, replayed },
    quiet: [String(replayed)],
    columns: { endpoint: "Endpoint", replayed: "Replayed" },
    rows: [[endpoint, String(replayed)]],
    asBlocks: true,
  });
  if (counts === undefined) output.log(await describeEmptyList(inbox, { endpoint }));
}

/** Replays the deliveries that have died since a time. Those that have succeeded meanwhile are no longer dead. */
async function replayFailed(
  inbox: ServerInbox,
  { endpoint, since, invocation }: { endpoint: string | undefined; since: number; invocation: Invocation },
): Promise<void> {
  const { output } = invocation;
  const filter = { status: "dead" as const, ...(endpoint !== undefined && { endpoint }) };
  const { deliveries } = await listDeliveries(inbox, { ...filter, limit: Number.POSITIVE_INFINITY });
  const failed = deliveries.filter(({ finishedAt }) => finishedAt !== undefined && finishedAt.getTime() >= since);
  if (failed.length > 0) {
    const subject = failed.length === 1 ? "1 dead delivery" : `${failed.length} dead deliveries`;
    if (!(await requestConfirmation(invocation, `Replay ${subject}?`))) return;
  }
  const replayed: Replayed[] = [];
  try {
    for (const { id, endpoint: name } of failed) {
      // It can have been replayed since it was listed.
      if ((await inbox.get(id, { endpoint: name }))?.status !== "dead") continue;
      replayed.push(await replayOne(inbox, { id, endpoint: name }));
    }
  } finally {
    printReplayed(output, replayed);
  }
  if (failed.length === 0) output.log("No delivery that is still dead has died within this time.");
}

export function addCompact(deliveries: CliCommand, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("compact")
    .description("shrink the file of a SQLite inbox; stop the server first")
    .examples("deliveries compact", "deliveries compact --inbox sqlite:./data/inbox.db")
    .action(() =>
      access.useUrl(async (url) => {
        const { compactInbox } = await import("../../../inbox/open-inbox.ts");
        const { bytesBefore, bytesAfter } = await compactInbox(url);
        invocation.output.printResult({
          json: { bytesBefore, bytesAfter },
          quiet: [String(bytesAfter)],
          columns: { before: "Before", after: "After" },
          rows: [[megabytes(bytesBefore), megabytes(bytesAfter)]],
          asBlocks: true,
        });
      }),
    );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export function addRepair(deliveries: CliCommand, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("repair")
    .description("repair an inbox in a bucket whose records are missing or unreadable; stop the server first")
    .addOption(takeOverOption())
    .examples("deliveries repair", "deliveries repair --inbox hf://buckets/me/inbox", "deliveries repair --take-over")
    .action(({ takeOver }: TakeOverOptions) =>
      access.useUrl(async (url = defaultInboxUrl) => {
        const { repairInbox } = await import("../../../inbox/open-inbox.ts");
        const { output } = invocation;
        const repaired = await repairInbox(url, {
          ...access.settings,
          ...(takeOver !== undefined && { takeOver }),
        });
        output.printResult({
          json: repaired,
          quiet: repaired.map(({ record }) => String(record)),
          columns: { record: "Record", isReadable: "Changes", recovered: "Recovered deliveries" },
          rows: repaired.map(({ record, isReadable, recovered }) => [
            String(record),
            isReadable ? "readable" : "lost",
            String(recovered),
          ]),
        });
        if (repaired.length === 0) output.log("The inbox has no damaged records.");
        else if (repaired.some(({ isReadable }) => !isReadable)) {
          output.log(
            "Deliveries of lost records are missing. To send them again, replay the deliveries of the webhook on the Hub: https://huggingface.co/settings/webhooks",
          );
        }
      }),
    );
}
