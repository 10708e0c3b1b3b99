import * as z from "zod/mini";
import type { FieldProblem } from "./session.ts";

/** A payload to start from. */
export interface SendSample {
  /** The name in the menu, such as `repo.content update`. */
  name: string;
  scope: string;
  action: string;
  repoType: string;
}

/** The answer of `GET /api/send/options`. */
export interface SendOptions {
  scopes: readonly { scope: string; actions: readonly string[] }[];
  /** Repositories of the local Hub, and those that endpoints watch, as `type:name`. */
  repositories: readonly string[];
  /** The repository to start with: a dataset that a webhook or endpoint watches, otherwise the best of `repositories`. */
  defaultRepository?: string;
  /** Published samples. */
  samples: readonly SendSample[];
}

/** The query of `GET /api/send/payload`: fills in the payload of an event. */
export const sendDraft = z.object({ scope: z.string(), action: z.string(), repository: z.string() });

/** The body of `POST /api/send/preview` and of `POST /api/send`. */
export const sendRequest = z.strictObject({
  /** The payload as JSON text. */
  body: z.string(),
  /**
   * The payload as `GET /api/send/payload` filled it in, if the user started from it. The local Hub then makes the change of the
   * event, as long as the edits only describe the change.
   */
  draft: z.optional(z.string()),
});
export type SendRequest = z.infer<typeof sendRequest>;

/** A webhook and whether it receives an event. */
export interface SendRecipient {
  kind: "webhook";
  name: string;
  url?: string;
  /** The ID of the webhook. */
  webhookId?: string;
  /** The endpoint of the dev session that the webhook delivers to. */
  endpoint?: string;
  /** The reason why the webhook does not receive the event, such as its domains. Missing if it receives the event. */
  skipped?: string;
  /** Why the endpoint ignores the event, although the webhook delivers it. */
  ignored?: string;
}

/** The answer of `POST /api/send/preview`. */
export interface SendPreview {
  problems: readonly FieldProblem[];
  recipients: readonly SendRecipient[];
  /**
   * `change`: the local Hub makes the change of the event, such as a commit, and sends the payload of this change. `payload`: the
   * payload is sent as it is, and nothing changes. Missing if the payload is invalid, or without a local Hub.
   */
  effect?: "change" | "payload";
}

/** The answer of `POST /api/send`. */
export interface SendResult {
  /** The deliveries that the event caused. `status` is that of the response, if there is one already. */
  deliveries: readonly SentDelivery[];
  /** The event in `GET /api/events`. Missing without a local Hub. */
  eventId?: string;
}

/** A delivery that an event caused. */
export interface SentDelivery {
  id: string;
  recipient: string;
  status?: number;
  problem?: string;
  /** The webhook of the local Hub. */
  webhookId?: string;
  /** The endpoint whose delivery it is, under the same ID. */
  endpoint?: string;
}
