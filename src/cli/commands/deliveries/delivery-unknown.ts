import { WebhookError } from "../../../core/errors.ts";

/** The error of an id that the inbox does not have; the run ends with exit code 1. */
export function deliveryUnknown({ id, endpoint }: { id: string; endpoint: string | undefined }): WebhookError {
  const owner = endpoint === undefined ? "" : ` of "${endpoint}"`;
  return new WebhookError(
    `There is no delivery "${id}"${owner} in the inbox: hub-webhooks deliveries list shows those that are.`,
    { code: "DELIVERY_UNKNOWN" },
  );
}
