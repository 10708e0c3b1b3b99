import type { FieldChange, RegistrationStep } from "./report.ts";
import { watchedTexts } from "./target.ts";

/** A step that was done, in words and on one line: `created webhook … for retrain: dataset:me/data (repo) to …`. */
export function stepText(step: RegistrationStep): string {
  const { endpoint, id } = step;
  switch (step.action) {
    case "create": {
      const watched = watchedTexts(step.watched).join(", ");
      return `created webhook ${id ?? ""} for ${endpoint}: ${watched} (${step.domains.join(", ")}) to ${step.url}`;
    }
    case "update":
      return `${step.isAdopted ? "took over" : "updated"} webhook ${id} of ${endpoint}: ${changesText(step.changes)}`;
    case "enable":
      return `enabled webhook ${id} of ${endpoint}: ${step.why}`;
    case "re-enable":
      return `re-enabled webhook ${id} of ${endpoint}: ${step.why}. ${step.remedy ?? ""}`.trimEnd();
    case "delete":
      return `deleted webhook ${id} of ${endpoint}: ${step.why}`;
  }
}

function changesText(changes: readonly FieldChange[]): string {
  const texts = changes.map((change) =>
    change.field === "secret" ? `secret ${change.change}` : `${change.field} ${change.before} -> ${change.after}`,
  );
  return texts.length === 0 ? "as it was" : texts.join("; ");
}
