import type { DesiredWebhook } from "./target.ts";

/** What becomes of a secret; the secret itself is never told. */
export type SecretChange = "set" | "changed" | "removed";

/** A field of a webhook that is to be another. URLs are shown without what is secret in them. */
export type FieldChange =
  | { readonly field: "url" | "watched" | "domains"; readonly before: string; readonly after: string }
  | { readonly field: "secret"; readonly change: SecretChange };

/** A webhook that is to be made. */
export interface CreateStep extends DesiredWebhook {
  readonly action: "create";
  /** Whether it gets a secret. */
  readonly secretIsSet: boolean;
  /** Its id, once it is made. */
  readonly id?: string;
}

/** A webhook that is to be written anew, and what differs. */
export interface UpdateStep {
  readonly action: "update";
  readonly endpoint: string;
  readonly id: string;
  readonly changes: readonly FieldChange[];
  /** Whether somebody else has made it, and it is taken over. */
  readonly isAdopted: boolean;
}

/** A webhook that is to deliver again: one that was disabled, or one that the Hub has suspended. */
export interface EnableStep {
  readonly action: "enable" | "re-enable";
  readonly endpoint: string;
  readonly id: string;
  /** Why it does not deliver. */
  readonly why: string;
  /** What to look at, so that it does not happen again. */
  readonly remedy?: string;
}

/** A webhook that is to be deleted for good. */
export interface DeleteStep {
  readonly action: "delete";
  readonly endpoint: string;
  readonly id: string;
  readonly why: string;
}

/** One thing to do on the Hub. */
export type RegistrationStep = CreateStep | UpdateStep | EnableStep | DeleteStep;

/** What is left as it is, and told. */
export interface LeftAlone {
  /**
   * `not-watching`: the endpoint does not say what to watch. `not-ours`: somebody else's webhook delivers to the
   * endpoint. `endpoint-gone`: the webhook is ours, and its endpoint is gone. `surplus`: the endpoint has another one.
   * `secret-kept`: the webhook has a secret on the Hub, and none was given.
   */
  readonly reason: "not-watching" | "not-ours" | "endpoint-gone" | "surplus" | "secret-kept";
  readonly endpoint: string;
  /** Id of the webhook, where there is one. */
  readonly id?: string;
  /** What it means, and what to do. */
  readonly message: string;
}
