import { Option } from "commander";
import { plainJson, plainText } from "../../core/terminal.ts";
import { indentJson, readJson, toShellWord } from "../../core/text.ts";
import { defaultInboxUrl } from "../../core/urls.ts";
import type { DeliveryCounts, DeliveryStatus, StoredDelivery } from "../../inbox/inbox.ts";
import type { Invocation, Output } from "../invocation.ts";
import { type CliCommand, helpHint, notEmpty, numberBetween } from "../usage.ts";
import { addCompact, addRepair, addReplayDeliveries } from "./deliveries/change.ts";
import {
  deliveriesResult,
  describeEmptyList,
  findDelivery,
  listDeliveries,
  statusColor,
} from "./deliveries/delivery-list.ts";
import {
  type DeliveriesContext,
  endpointOption,
  InboxAccess,
  statusOption,
  statusTitles,
} from "./deliveries/inbox-access.ts";
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

export function addDeliveries(program: CliCommand, invocation: Invocation): void {
  const deliveries = program
    .command("deliveries")
    // Configure the help before the subcommands are added, because they inherit the configuration.
    .withoutHubOptions()
    .description("inspect and replay the stored deliveries of background endpoints")
    .option(
      "--inbox <url>",
      `URL of the inbox (default: INBOX_URL, else ${defaultInboxUrl}); put a URL with a password in INBOX_URL, since options are visible in the process list`,
      notEmpty("URL"),
    )
    .examples(
      "deliveries list --status dead",
      "deliveries replay --dead --endpoint retrain",
      "deliveries counts --inbox sqlite:./data/inbox.db",
    );
  const access = new InboxAccess({ shell: invocation.shell, readOptions: () => deliveries.opts<{ inbox?: string }>() });
  for (const addSubcommand of subcommands) addSubcommand(deliveries, { invocation, access });
  for (const command of deliveries.commands) {
    command.showHelpAfterError(helpHint(deliveries.name(), command.name()));
  }
}

type Counts = DeliveryCounts & { total: number };

const countedStatuses = ["queued", "running", "succeeded", "ignored", "dead", "cancelled"] as const;

const zeroCounts: Counts = { queued: 0, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 0, total: 0 };

function addCounts(deliveries: CliCommand, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("counts")
    .description("count deliveries by endpoint and status")
    .addOption(endpointOption("only count deliveries of this endpoint"))
    .examples(
      "deliveries counts",
      "deliveries counts --endpoint retrain --format json",
      "deliveries counts --format quiet    # only the total",
    )
    .action(({ endpoint }: { endpoint?: string }) =>
      access.use(async (inbox) => {
        const { output } = invocation;
        const counted = Object.entries(await inbox.counts())
          .filter(([name]) => endpoint === undefined || name === endpoint)
          .sort(([left], [right]) => (left < right ? -1 : 1))
          .map(([name, counts]): [string, Counts] => [name, add(zeroCounts, counts)]);
        const total = counted.reduce((sum, [, counts]) => add(sum, counts), zeroCounts);
        const lines: typeof counted = counted.length === 0 ? [] : [...counted, ["total", total]];
        output.printResult({
          json: { endpoints: Object.fromEntries(counted), total },
          quiet: [String(total.total)],
          columns: {
            endpoint: "Endpoint",
            ...statusTitles,
            dead: { title: statusTitles.dead, color: (count) => (count === "0" ? undefined : statusColor("dead")) },
            total: "Total",
          },
          rows: lines.map(([name, counts]) => [name, ...Object.values(counts).map(String)]),
        });
        if (counted.length === 0) output.log(await describeEmptyList(inbox, { endpoint }));
      }),
    );
}

function add(sum: Counts, counts: DeliveryCounts): Counts {
  const added = { ...sum };
  for (const status of countedStatuses) {
    added[status] += counts[status];
    added.total += counts[status];
  }
  return added;
}

interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  limit: number;
  cursor?: string;
  all?: boolean;
}

function addListDeliveries(deliveries: CliCommand, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("list")
    .alias("ls")
    .description("list deliveries, newest first")
    .addOption(endpointOption("only list deliveries of this endpoint"))
    .addOption(statusOption("only list deliveries with this status"))
    .option("--limit <number>", "maximum number of deliveries, 1 to 1000", numberBetween(1, 1_000), 50)
    .option(
      "--cursor <cursor>",
      "list the next page; use the cursor that the previous page printed",
      notEmpty("cursor"),
    )
    .addOption(new Option("--all", "list all deliveries").conflicts("limit"))
    .examples(
      "deliveries list",
      "deliveries list --endpoint retrain --status dead",
      "deliveries list --all --format json    # for programs; use show for the body",
    )
    .action(({ limit, cursor, all, ...filter }: ListOptions) =>
      access.use(async (inbox) => {
        const { output } = invocation;
        const found = await listDeliveries(inbox, {
          ...filter,
          ...(cursor !== undefined && { cursor }),
          limit: all ? Number.POSITIVE_INFINITY : limit,
        });
        output.printResult(deliveriesResult(found.deliveries));
        if (found.deliveries.length === 0) output.log(await describeEmptyList(inbox, filter));
        if (found.next === undefined) return;
        // `next` is also set after the last page if that page is full.
        const { deliveries: more } = await inbox.list({ ...filter, cursor: found.next, limit: 1 });
        if (more.length > 0)
          output.log(
            `There are more deliveries. Add --cursor ${toShellWord(found.next)} to list the next page, or --all to list all deliveries.`,
          );
      }),
    );
}

function addShowDelivery(deliveries: CliCommand, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("show")
    .argument("<id>", "delivery ID, as shown by list")
    .description("show a delivery with its attempts and its body")
    .addOption(endpointOption("endpoint of the delivery; required if several endpoints have a delivery with this ID"))
    .examples(
      "deliveries show 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de",
      "deliveries show 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de --format json    # with the original body",
    )
    .action((id: string, { endpoint }: { endpoint?: string }) =>
      access.use(async (inbox) => {
        const delivery = await findDelivery(inbox, { id, endpoint });
        const { originOf } = await import("../../payload/parse.ts");
        printDelivery(invocation.output, { ...delivery, origin: originOf(delivery.id) });
      }),
    );
}

function printDelivery(output: Output, delivery: StoredDelivery & { origin: string }): void {
  const { id, endpoint, status, receivedAt, dueAt, finishedAt, attempts, body, origin } = delivery;
  output.printResult({
    json: delivery,
    quiet: [id],
    columns: {
      id: "ID",
      endpoint: "Endpoint",
      status: { title: "Status", color: statusColor },
      receivedAt: "Received",
      dueAt: "Next attempt",
      finishedAt: "Finished",
      attempts: "Attempts",
      origin: "Origin",
    },
    rows: [[id, endpoint, status, ...[receivedAt, dueAt, finishedAt].map(time), String(attempts.length), origin]],
    asBlocks: true,
  });
  if (!output.isText) return;
  if (attempts.length > 0) {
    output.print("");
    printAttempts(output, delivery);
  }
  if (body === undefined) {
    output.log("The body was removed because its retention period has ended.");
    return;
  }
  output.print("");
  output.print(prettyJson(body) ?? body.split(/\r?\n/).map(plainText).join("\n"));
}

function printAttempts(output: Output, { attempts }: StoredDelivery): void {
  output.printResult({
    json: attempts,
    quiet: [],
    columns: {
      attempt: "Attempt",
      startedAt: "Started",
      durationMs: "Duration (ms)",
      outcome: {
        title: "Outcome",
        color: (outcome) => (outcome === "succeeded" ? "green" : outcome === "ignored" ? undefined : "red"),
      },
      code: "Code",
      error: "Error or reason",
    },
    rows: attempts.map(({ number, startedAt, durationMs, outcome, error, reason }) => [
      String(number),
      time(startedAt),
      durationMs === undefined ? "" : String(durationMs),
      outcome,
      error?.code ?? "",
      error?.message ?? reason ?? "",
    ]),
  });
}

function time(date: Date | undefined): string {
  return date?.toISOString() ?? "";
}

/** Formats JSON with one line per value and without control characters. Returns `undefined` if the text is not JSON. */
export function prettyJson(text: string): string | undefined {
  if (readJson(text) === undefined) return undefined;
  return [...indentJson(text)].map((part) => (part.startsWith('"') ? plainJson(JSON.parse(part)) : part)).join("");
}
