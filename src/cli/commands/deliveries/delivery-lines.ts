import { plainJson, plainText } from "../../../core/terminal-text.ts";
import type { Output } from "../../output.ts";
import { type DeliverySummary, deliveryColumns, deliveryRow } from "./delivery-result.ts";

/** Columns that grow line by line cannot be as wide as their widest value; most ids of the Hub have 36 letters. */
const widths: Readonly<Record<string, number>> = {
  id: 36,
  endpoint: 16,
  status: 9,
  event: 25,
  repo: 24,
  receivedAt: 24,
  duration: 8,
  attempts: 8,
};

/** Writes deliveries as they come, a line each: JSON objects, ids, or the columns of a list. */
export class DeliveryLines {
  readonly #output: Output;
  #hasHeading = false;

  constructor(output: Output) {
    this.#output = output;
  }

  write(delivery: DeliverySummary): void {
    const { format } = this.#output;
    if (format === "json") this.#output.write(plainJson(delivery));
    else if (format === "quiet") this.#output.write(plainText(delivery.id));
    else this.#writeRow(deliveryRow(delivery).map(plainText));
  }

  #writeRow(row: readonly string[]): void {
    const isTable = this.#output.format === "table";
    if (!this.#hasHeading) {
      this.#hasHeading = true;
      this.#writeCells(deliveryColumns.map(({ key, title }) => (isTable ? title.toUpperCase() : key)));
    }
    this.#writeCells(isTable ? row.map((value) => value || "-") : row);
  }

  #writeCells(cells: readonly string[]): void {
    const isTable = this.#output.format === "table";
    const padded = cells.map((cell, index) => cell.padEnd(widths[deliveryColumns[index]?.key ?? ""] ?? 0));
    this.#output.write(isTable ? padded.join("  ").trimEnd() : cells.join("\t"));
  }
}
