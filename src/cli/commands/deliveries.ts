import { type Command, Option } from "commander";
import { toShellWord } from "../../core/text.ts";
import { defaultInboxUrl } from "../../core/urls.ts";
import type { DeliveryCounts, DeliveryStatus } from "../../inbox/inbox.ts";
import type { Invocation } from "../invocation.ts";
import { examples, helpHint, helpWithoutHubOptions, numberBetween } from "../usage.ts";
import { deliveriesResult, describeEmptyList, listDeliveries, statusColor } from "./deliveries/delivery-list.ts";
import {
  type DeliveriesContext,
  endpointOption,
  InboxAccess,
  parseInboxUrl,
  statusOption,
  type TakeOverOptions,
  takeOverOption,
} from "./deliveries/inbox-access.ts";
import { addReplayDeliveries } from "./deliveries/replay.ts";
import { addShowDelivery } from "./deliveries/show.ts";
import { addTailDeliveries } from "./deliveries/tail.ts";

const subcommands = [
  addListDeliveries,
  addShowDelivery,
  addReplayDeliveries,
  addCounts,
  addTailDeliveries,
  addCompact,
  addRepair,
];

/** Adds `hub-webhooks deliveries` and its subcommands. */
export function addDeliveries(program: Command, invocation: Invocation): void {
  const deliveries = program
    .command("deliveries")
    // Configure the help before the subcommands are added, because they inherit the configuration.
    .configureHelp(helpWithoutHubOptions())
    .description("inspect and replay the stored deliveries of background endpoints")
    .option(
      "--inbox <url>",
      `URL of the inbox (default: INBOX_URL, else ${defaultInboxUrl}); put a URL with a password in INBOX_URL, since options are visible in the process list`,
      parseInboxUrl,
    )
    .addHelpText(
      "after",
      examples(
        "deliveries list --status dead",
        "deliveries replay --dead --endpoint retrain",
        "deliveries counts --inbox sqlite:./data/inbox.db",
      ),
    );
  const access = new InboxAccess({ shell: invocation.shell, readOptions: () => deliveries.opts<{ inbox?: string }>() });
  for (const addSubcommand of subcommands) addSubcommand(deliveries, { invocation, access });
  for (const command of deliveries.commands) {
    command.showHelpAfterError(helpHint(deliveries.name(), command.name()));
  }
}

type Counts = DeliveryCounts & { total: number };

const zeroCounts: Counts = { queued: 0, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 0, total: 0 };

/** Adds `hub-webhooks deliveries counts`. */
function addCounts(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("counts")
    .description("count deliveries by endpoint and status")
    .addOption(endpointOption("only count deliveries of this endpoint"))
    .addHelpText(
      "after",
      examples(
        "deliveries counts",
        "deliveries counts --endpoint retrain --format json",
        "deliveries counts --format quiet    # only the total",
      ),
    )
    .action((options: { endpoint?: string }) => {
      const { output } = invocation;
      const { endpoint } = options;
      return access.use(async (inbox) => {
        const counted = Object.entries(await inbox.counts())
          .filter(([name]) => endpoint === undefined || name === endpoint)
          .sort(([left], [right]) => (left < right ? -1 : 1))
          .map(([name, counts]): [string, Counts] => [name, add(zeroCounts, counts)]);
        const total = counted.reduce((sum, [, counts]) => add(sum, counts), zeroCounts);
        output.printResult({
          json: { endpoints: Object.fromEntries(counted), total },
          quiet: [String(total.total)],
          columns: [
            { key: "endpoint", title: "Endpoint" },
            { key: "queued", title: "Queued" },
            { key: "running", title: "Running" },
            { key: "succeeded", title: "Succeeded" },
            { key: "ignored", title: "Ignored" },
            { key: "dead", title: "Dead", color: (count) => (count === "0" ? undefined : statusColor("dead")) },
            { key: "cancelled", title: "Cancelled" },
            { key: "total", title: "Total" },
          ],
          rows: counted.length === 0 ? [] : [...counted, ["total", total] as const].map(([name, c]) => row(name, c)),
        });
        if (counted.length === 0) output.log(await describeEmptyList(inbox, { endpoint }));
      });
    });
}

function add(left: Counts, { queued, running, succeeded, ignored, dead, cancelled }: DeliveryCounts): Counts {
  return {
    queued: left.queued + queued,
    running: left.running + running,
    succeeded: left.succeeded + succeeded,
    ignored: left.ignored + ignored,
    dead: left.dead + dead,
    cancelled: left.cancelled + cancelled,
    total: left.total + queued + running + succeeded + ignored + dead + cancelled,
  };
}

function row(name: string, { queued, running, succeeded, ignored, dead, cancelled, total }: Counts): readonly string[] {
  return [name, ...[queued, running, succeeded, ignored, dead, cancelled, total].map(String)];
}

/** Adds `hub-webhooks deliveries compact`. */
function addCompact(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("compact")
    .description("shrink the file of a SQLite inbox; stop the server first")
    .addHelpText("after", examples("deliveries compact", "deliveries compact --inbox sqlite:./data/inbox.db"))
    .action(() =>
      access.useUrl(async (url) => {
        const { compactInbox } = await import("../../inbox/open-inbox.ts");
        const { bytesBefore, bytesAfter } = await compactInbox(url);
        invocation.output.printResult({
          json: { bytesBefore, bytesAfter },
          quiet: [String(bytesAfter)],
          columns: [
            { key: "before", title: "Before" },
            { key: "after", title: "After" },
          ],
          rows: [[megabytes(bytesBefore), megabytes(bytesAfter)]],
          asBlocks: true,
        });
      }),
    );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  limit: number;
  cursor?: string;
  all?: boolean;
}

/** Adds `hub-webhooks deliveries list`. */
function addListDeliveries(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("list")
    .alias("ls")
    .description("list deliveries, newest first")
    .addOption(endpointOption("only list deliveries of this endpoint"))
    .addOption(statusOption("only list deliveries with this status"))
    .option("--limit <number>", "maximum number of deliveries, 1 to 1000", numberBetween(1, 1_000), 50)
    .option("--cursor <cursor>", "list the next page; use the cursor that the previous page printed")
    .addOption(new Option("--all", "list all deliveries").conflicts("limit"))
    .addHelpText(
      "after",
      examples(
        "deliveries list",
        "deliveries list --endpoint retrain --status dead",
        "deliveries list --all --format json    # for programs; use show for the body",
      ),
    )
    .action(({ status, limit, cursor, all, ...options }: ListOptions) => {
      const { output } = invocation;
      const { endpoint } = options;
      return access.use(async (inbox) => {
        const filter = { ...(endpoint !== undefined && { endpoint }), ...(status !== undefined && { status }) };
        const found = await listDeliveries(inbox, {
          ...filter,
          ...(cursor !== undefined && { cursor }),
          limit: all ? Number.POSITIVE_INFINITY : limit,
        });
        output.printResult(deliveriesResult(found.deliveries));
        if (found.deliveries.length === 0) output.log(await describeEmptyList(inbox, { endpoint }));
        if (found.next === undefined) return;
        // `next` is also set after the last page if that page is full.
        const { deliveries: more } = await inbox.list({ ...filter, cursor: found.next, limit: 1 });
        if (more.length > 0)
          output.log(
            `There are more deliveries. Add --cursor ${toShellWord(found.next)} to list the next page, or --all to list all deliveries.`,
          );
      });
    });
}

/** Adds `hub-webhooks deliveries repair`. */
function addRepair(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("repair")
    .description("repair an inbox in a bucket whose records are missing or unreadable; stop the server first")
    .addOption(takeOverOption())
    .addHelpText(
      "after",
      examples("deliveries repair", "deliveries repair --inbox hf://buckets/me/inbox", "deliveries repair --take-over"),
    )
    .action(({ takeOver }: TakeOverOptions) =>
      access.useUrl(async (url = defaultInboxUrl) => {
        const { repairInbox } = await import("../../inbox/open-inbox.ts");
        const { output } = invocation;
        const repaired = await repairInbox(url, {
          ...access.settings,
          ...(takeOver !== undefined && { takeOver }),
        });
        output.printResult({
          json: repaired,
          quiet: repaired.map(({ record }) => String(record)),
          columns: [
            { key: "record", title: "Record" },
            { key: "isReadable", title: "Changes" },
            { key: "recovered", title: "Recovered deliveries" },
          ],
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
