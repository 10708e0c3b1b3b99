import * as z from "zod";
import type { JobStore, StoredJob } from "../store/job-store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";

/**
 * Replaces missing fields with empty strings, because a job must also start if edits removed required fields of the
 * payload.
 */
const editedPayload = z.object({
  repo: z.object({ name: z.string().catch(""), type: z.string().catch("") }).catch({ name: "", type: "" }),
});

interface JobTemplate {
  definition: StoredJob["definition"];
  /** The values of the secrets, by name. */
  secrets: Readonly<Record<string, string>>;
}

/** Returns the job of a webhook, or `undefined` if the webhook refers to an unknown job. */
export function templateOfWebhook({ definition }: StoredWebhook, store: JobStore): JobTemplate | undefined {
  if (definition.job) {
    const { secrets = {}, ...further } = definition.job;
    return { definition: further, secrets };
  }
  const source = store.get(definition.jobSourceId ?? "");
  if (!source) return undefined;
  // The secret of the webhook that started the earlier job is not passed on.
  const { WEBHOOK_SECRET: _secret, ...secrets } = store.secretsOf(source.id);
  return { definition: source.definition, secrets };
}

/** Returns the environment variables with the delivery. */
export function webhookVariables({ deliveryId, body }: { deliveryId: string; body: string }): Record<string, string> {
  const { repo } = editedPayload.parse(JSON.parse(body));
  return {
    WEBHOOK_PAYLOAD: body,
    WEBHOOK_REPO_ID: repo.name,
    WEBHOOK_REPO_TYPE: repo.type,
    WEBHOOK_ID: deliveryId,
  };
}
