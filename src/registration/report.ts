import type { HubError } from "../core/errors.ts";
import { formatWatched } from "../payload/watch.ts";
import type { DesiredWebhook } from "./webhook.ts";

/** The result of a registration, or its preview in a dry run. */
export interface RegistrationReport {
  /** The URL of the Hub. */
  readonly hubUrl: string;
  /** The public URL of the server. */
  readonly publicUrl: string;
  /**
   * The steps that resolve the differences between the endpoints and the Hub, in the order of execution. Empty if all
   * webhooks are in sync.
   */
  readonly steps: readonly RegistrationStep[];
  /** The steps that succeeded. Empty in a dry run. */
  readonly done: readonly RegistrationStep[];
  /**
   * The steps that failed, with the errors. Later steps for the same webhook were skipped. In a dry run, the steps that
   * would fail without a request to the Hub.
   */
  readonly failed: readonly FailedStep[];
  /** The endpoints and webhooks that were not changed but need your attention. */
  readonly skipped: readonly SkippedWebhook[];
  /** The webhooks that are in sync. */
  readonly unchanged: readonly { readonly endpoint: string; readonly id: string }[];
}

/** One change to a webhook on the Hub. */
export type RegistrationStep = CreateStep | UpdateStep | EnableStep | DeleteStep;

/** Creates a webhook. */
export interface CreateStep extends DesiredWebhook {
  readonly action: "create";
  /** Whether the webhook is created with a secret. */
  readonly secretIsSet: boolean;
  /** The ID of the webhook. Absent before the webhook is created. */
  readonly id?: string;
}

/** Updates a webhook. */
export interface UpdateStep {
  readonly action: "update";
  readonly endpoint: string;
  readonly id: string;
  readonly changes: readonly FieldChange[];
  /** Whether the webhook was created elsewhere and is adopted with this update. */
  readonly isAdopted: boolean;
}

/** Enables a webhook that was disabled, or re-enables a webhook that the Hub suspended. */
export interface EnableStep {
  readonly action: "enable" | "re-enable";
  readonly endpoint: string;
  readonly id: string;
  /** The reason why the webhook is not enabled. */
  readonly reason: string;
  /** How to prevent the Hub from suspending the webhook again. */
  readonly remedy?: string;
}

/** Deletes a webhook. */
export interface DeleteStep {
  readonly action: "delete";
  readonly endpoint: string;
  readonly id: string;
  readonly reason: string;
}

/** A change to a secret. Reports never contain the secret. */
export type SecretChange = "set" | "changed" | "removed";

/** A change to a field of a webhook. Secrets in URLs are masked. */
export type FieldChange =
  | { readonly field: "url" | "watched" | "domains"; readonly before: string; readonly after: string }
  | { readonly field: "secret"; readonly change: SecretChange };

/** A step that failed, or that would fail in a dry run, and the error. Steps for other webhooks were still tried. */
export interface FailedStep {
  readonly step: RegistrationStep;
  readonly error: HubError;
}

/** An endpoint or a webhook that was not changed but needs your attention. */
export interface SkippedWebhook {
  /**
   * - `no-watch`: the endpoint has no watch list.
   * - `not-managed`: a webhook delivers to the endpoint but was created elsewhere.
   * - `endpoint-removed`: the endpoint of a managed webhook no longer exists, or no longer has a watch list.
   * - `duplicate`: the endpoint has more than one managed webhook.
   * - `secret-kept`: the webhook has a secret on the Hub, but no secret was given.
   */
  readonly reason: "no-watch" | "not-managed" | "endpoint-removed" | "duplicate" | "secret-kept";
  readonly endpoint: string;
  /** The ID of the webhook, if there is one. */
  readonly id?: string;
  /** A description of the problem and the remedy. */
  readonly message: string;
}

/** Formats a completed step on one line: `created webhook … for retrain: dataset:me/data (repo) to …`. */
export function formatStep(step: RegistrationStep): string {
  const { endpoint, id } = step;
  switch (step.action) {
    case "create": {
      const watched = formatWatched(step.watched).join(", ");
      return `created webhook ${id ?? ""} for ${endpoint}: ${watched} (${step.domains.join(", ")}) to ${step.url}`;
    }
    case "update": {
      const changes = step.changes.map((change) => `${change.field} ${formatChange(change)}`).join("; ");
      return `${step.isAdopted ? "adopted" : "updated"} webhook ${id} of ${endpoint}: ${changes || "unchanged"}`;
    }
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
        ...step.changes.map((change) => `${change.field.padEnd("watched".length)}  ${formatChange(change)}`),
      ];
    case "enable":
      return [`enable: ${step.reason}`];
    case "re-enable":
      return [`enable again: ${step.reason}`, ...(step.remedy === undefined ? [] : [step.remedy])];
    case "delete":
      return [`delete: ${step.reason}`];
  }
}

function formatChange(change: FieldChange): string {
  return change.field === "secret" ? change.change : `${change.before} -> ${change.after}`;
}
