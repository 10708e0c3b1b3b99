import type { Command } from "commander";
import { plainText } from "../../../core/terminal-text.ts";
import type { StoredDelivery } from "../../../inbox/stored-delivery.ts";
import { examples } from "../../examples.ts";
import type { Output } from "../../output.ts";
import { type DeliveriesContext, endpointName, endpointOption } from "./delivery-options.ts";
import { statusColor } from "./delivery-result.ts";
import { deliveryUnknown } from "./delivery-unknown.ts";
import { prettyJson } from "./pretty-json.ts";

/** Adds `hub-webhooks deliveries show`. */
export function addShow(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("show")
    .argument("<id>", "id of the delivery, as list shows it")
    .description("show one delivery with its attempts and its body")
    .addOption(endpointOption("its endpoint, where two have a delivery of the same id"))
    .addHelpText(
      "after",
      examples(
        "hub-webhooks deliveries show 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de",
        "hub-webhooks deliveries show 0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de --format json    # the body as it arrived",
      ),
    )
    .action((id: string, options: { endpoint?: string }) =>
      access.use(async (inbox) => {
        const endpoint = endpointName(options, invocation);
        const delivery = await inbox.get(id, { ...(endpoint !== undefined && { endpoint }) });
        if (!delivery) throw deliveryUnknown({ id, endpoint });
        write(invocation.output, delivery);
      }),
    );
}

function write(output: Output, delivery: StoredDelivery): void {
  const { id, endpoint, status, receivedAt, dueAt, finishedAt, attempts, body } = delivery;
  output.result({
    json: delivery,
    quiet: [id],
    columns: [
      { key: "id", title: "Id" },
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
    output.write("");
    writeAttempts(output, delivery);
  }
  if (body === undefined) {
    output.say("Its body is not kept any more.");
    return;
  }
  output.write("");
  output.write(prettyJson(body) ?? body.split(/\r?\n/).map(plainText).join("\n"));
}

function writeAttempts(output: Output, { attempts }: StoredDelivery): void {
  output.result({
    json: attempts,
    quiet: [],
    columns: [
      { key: "attempt", title: "Attempt" },
      { key: "startedAt", title: "Started" },
      { key: "durationMs", title: "Took ms" },
      { key: "outcome", title: "Outcome", color: (outcome) => (outcome === "succeeded" ? "green" : "red") },
      { key: "code", title: "Code" },
      { key: "error", title: "Error" },
    ],
    rows: attempts.map(({ number, startedAt, durationMs, outcome, error }) => [
      String(number),
      time(startedAt),
      durationMs === undefined ? "" : String(durationMs),
      outcome,
      error?.code ?? "",
      error?.message ?? "",
    ]),
  });
}

function time(date: Date | undefined): string {
  return date?.toISOString() ?? "";
}
