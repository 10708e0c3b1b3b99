import { compare, type Difference, operationsOf } from "./compare.ts";
import { type ChangedPart, contractRules, hubChanges } from "./hub-changes.ts";
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

const parts: readonly ChangedPart[] = [...hubChanges, ...contractRules].flatMap((row) => row.parts);

/** The differences that the recorded changes do not explain. `idOf` is the id of an operation of the contract. */
function unexplained(differences: readonly Difference[], idOf: (operation: string) => string): Difference[] {
  return differences.filter((difference) => {
    const id = idOf(difference.operation);
    return !parts.some((part) => part.operations.includes(id) && isAt(part, difference) && explains(part, difference));
  });
}

/** Whether a place of a request or answer is the one that a part names. */
export function endsWithField(place: string, field: string): boolean {
  return place === field || place.endsWith(`.${field}`);
}

function isAt({ in: where, field }: ChangedPart, { part, place }: Difference): boolean {
  if (where === "operation") return part === "";
  return part === where && endsWithField(place, field);
}

function explains(part: ChangedPart, { kind, contract, document }: Difference): boolean {
  switch (part.change) {
    case "added":
      // Optional here, since a Hub of the specification does not have it.
      return kind === "required";
    case "removed":
      if (part.values === undefined) return kind === "only in the contract";
      return (
        kind === "values" && document === "" && contract.split(", ").every((value) => part.values?.includes(value))
      );
    case "passed through":
      return kind === "only in the document";
    case "differs":
      return part.kinds.some((known) => known === kind);
  }
}
