import type { Difference } from "./compare.ts";
import { type ChangedPart, contractRules, hubChanges } from "./hub-changes.ts";

const parts: readonly ChangedPart[] = [...hubChanges, ...contractRules].flatMap((row) => row.parts);

/** The differences that the recorded changes do not explain. `idOf` is the id of an operation of the contract. */
export function unexplained(differences: readonly Difference[], idOf: (operation: string) => string): Difference[] {
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
