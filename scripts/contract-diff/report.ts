import { compare, type Difference, operationsOf } from "./compare.ts";
import { unexplained } from "./explain.ts";
import { asObject, type JsonObject } from "./schema-facts.ts";

/** Differences between a published document and the contract. */
export interface Report {
  /** The differences that the recorded changes do not explain. */
  open: Difference[];
  /** How many others there are. */
  explained: number;
  /** Operations of the document that the contract does not have. */
  others: number;
}

/** Compares the contract, as an OpenAPI document, with one that the Hub has published. */
export function reportOn(contract: JsonObject, document: JsonObject): Report {
  const operations = operationsOf(contract);
  const differences = compare(contract, document);
  const open = unexplained(differences, (operation) => String(asObject(operations.get(operation)).operationId));
  const others = [...operationsOf(document).keys()].filter((operation) => !operations.has(operation)).length;
  return { open, explained: differences.length - open.length, others };
}

/** One difference on one line. */
export function formatDifference({ operation, part, place, kind, contract, document }: Difference): string {
  const where = [operation, part, place].filter((text) => text !== "").join(" ");
  const sides = [
    ...(contract === "" ? [] : [`contract: ${contract}`]),
    ...(document === "" ? [] : [`document: ${document}`]),
  ];
  return `${where}: ${kind}${sides.length > 0 ? ` (${sides.join("; ")})` : ""}`;
}
