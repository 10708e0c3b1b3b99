import type { Command } from "commander";
import { plainJson, plainText } from "../../../core/terminal.ts";
import { indentJson } from "../../../core/text.ts";
import type { StoredDelivery } from "../../../inbox/inbox.ts";
import type { Output } from "../../output.ts";
import { examples } from "../../usage.ts";
import { deliveryUnknown, statusColor } from "./delivery-list.ts";
import { type DeliveriesContext, endpointOption } from "./inbox-access.ts";

/** Adds `hub-webhooks deliveries show`. */
export function addShowDelivery(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("show")
    .argument("<id>", "delivery ID, as shown by list")
    .description("show a delivery with its attempts and its body")
    .addOption(endpointOption("endpoint of the delivery; required if several endpoints have a delivery with this ID"))
    .addHelpText(
      "after",
      examples(
        "deliveries show 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de",
        "deliveries show 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de --format json    # with the original body",
      ),
    )
    .action((id: string, options: { endpoint?: string }) => {
      const { endpoint } = options;
      return access.use(async (inbox) => {
        const delivery = await inbox.get(id, { ...(endpoint !== undefined && { endpoint }) });
        if (!delivery) throw deliveryUnknown({ id, endpoint });
        printDelivery(invocation.output, delivery);
      });
    });
}

function printDelivery(output: Output, delivery: StoredDelivery): void {
  const { id, endpoint, status, receivedAt, dueAt, finishedAt, attempts, body } = delivery;
  output.printResult({
    json: delivery,
    quiet: [id],
    columns: [
      { key: "id", title: "ID" },
      { key: "endpoint", title: "Endpoint" },
      { key: "status", title: "Status", color: statusColor },
      { key: "receivedAt", title: "Received" },
      { key: "dueAt", title: "Next attempt" },
      { key: "finishedAt", title: "Finished" },
      { key: "attempts", title: "Attempts" },
    ],
    rows: [[id, endpoint, status, ...[receivedAt, dueAt, finishedAt].map(time), String(attempts.length)]],
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
    columns: [
      { key: "attempt", title: "Attempt" },
      { key: "startedAt", title: "Started" },
      { key: "durationMs", title: "Duration (ms)" },
      {
        key: "outcome",
        title: "Outcome",
        color: (outcome) => (outcome === "succeeded" ? "green" : outcome === "ignored" ? undefined : "red"),
      },
      { key: "code", title: "Code" },
      { key: "error", title: "Error or reason" },
    ],
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

/**
 * Formats JSON with one line per value and without control characters. Returns `undefined` if the text is not JSON.
 *
 * @example
 * ```ts
 * prettyJson('{"a":[1,2.0]}'); // '{\n  "a": [\n    1,\n    2.0\n  ]\n}'
 * ```
 */
export function prettyJson(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  return [...indentJson(text)].map((part) => (part.startsWith('"') ? plainJson(JSON.parse(part)) : part)).join("");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
