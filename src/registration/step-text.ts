import { formatWatched } from "../payload/watch.ts";
import type { FieldChange, RegistrationStep } from "./report.ts";

/** Formats a completed step on one line: `created webhook … for retrain: dataset:me/data (repo) to …`. */
export function formatStep(step: RegistrationStep): string {
  const { endpoint, id } = step;
  switch (step.action) {
    case "create": {
      const watched = formatWatched(step.watched).join(", ");
      return `created webhook ${id ?? ""} for ${endpoint}: ${watched} (${step.domains.join(", ")}) to ${step.url}`;
    }
    case "update":
      return `${step.isAdopted ? "adopted" : "updated"} webhook ${id} of ${endpoint}: ${formatChanges(step.changes)}`;
    case "enable":
      return `enabled webhook ${id} of ${endpoint}: ${step.reason}`;
    case "re-enable":
      return `re-enabled webhook ${id} of ${endpoint}: ${step.reason}. ${step.remedy ?? ""}`.trimEnd();
    case "delete":
      return `deleted webhook ${id} of ${endpoint}: ${step.reason}`;
  }
}

/** Formats the details of a step to show below the endpoint, one detail per line. */
export function formatStepDetails(step: RegistrationStep): readonly string[] {
  switch (step.action) {
    case "create":
      return [
        `url      ${step.url}`,
        `watched  ${formatWatched(step.watched).join(", ")}`,
        `domains  ${step.domains.join(", ")}`,
        `secret   ${step.secretIsSet ? "set" : "none"}`,
      ];
    case "update":
      return [
        ...(step.isAdopted ? ["adopted: the webhook was not created by sync"] : []),
        ...step.changes.map(changeLine),
      ];
    case "enable":
      return [`enable: ${step.reason}`];
    case "re-enable":
      return [`enable again: ${step.reason}`, ...(step.remedy === undefined ? [] : [step.remedy])];
    case "delete":
      return [`delete: ${step.reason}`];
  }
}

function formatChanges(changes: readonly FieldChange[]): string {
  const texts = changes.map((change) =>
    change.field === "secret" ? `secret ${change.change}` : `${change.field} ${change.before} -> ${change.after}`,
  );
  return texts.length === 0 ? "unchanged" : texts.join("; ");
}

function changeLine(change: FieldChange): string {
  const field = change.field.padEnd("watched".length);
  return change.field === "secret" ? `${field}  ${change.change}` : `${field}  ${change.before} -> ${change.after}`;
}
