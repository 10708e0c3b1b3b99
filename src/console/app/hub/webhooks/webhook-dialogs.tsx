import type { WebhookDetails } from "../../../protocol/hub.ts";
import { sendJson } from "../../api/client.ts";
import { formatRoute, navigate } from "../../state/route.ts";
import { showToast } from "../../state/toasts.ts";
import { Button, Dialog, Text } from "../../ui.tsx";
import { WebhookForm } from "./webhook-form.tsx";
import { targetText } from "./webhook-target.tsx";

/** Creates a webhook, and opens it. */
export function CreateWebhook({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Create webhook" onClose={onClose}>
      <WebhookForm
        action="Create webhook"
        initial={{ url: "", watched: [{ type: "dataset", name: "" }], domains: ["repo", "discussion"] }}
        onCancel={onClose}
        onSubmit={async ({ secret, ...fields }) => {
          const creation = { ...fields, url: fields.url ?? "", ...(secret && { secret }) };
          const { id } = await sendJson<WebhookDetails>("webhooks", creation);
          onClose();
          showToast({ kind: "done", text: "The webhook is created and enabled." });
          navigate(formatRoute("webhooks/one", { id }));
        }}
      />
    </Dialog>
  );
}

/** Changes a webhook. */
export function EditWebhook({ webhook, onClose }: { webhook: WebhookDetails; onClose: () => void }) {
  const { id, target, watched, domains, isSecretSet } = webhook;
  const url = target.kind === "url" ? target.url : undefined;
  return (
    <Dialog title="Edit webhook" onClose={onClose}>
      <WebhookForm
        action="Save"
        initial={{ url, watched, domains, isSecretSet }}
        onCancel={onClose}
        onSubmit={async ({ url: given, ...fields }) => {
          // An unchanged URL is left out, because secrets in it are masked.
          await sendJson("webhooks/update", { id, ...fields, ...(given !== url && { url: given }) });
          onClose();
          showToast({ kind: "done", text: "The webhook is changed." });
        }}
      />
    </Dialog>
  );
}

/** Deletes a webhook after a confirmation. */
export function DeleteWebhook({ webhook, onClose }: { webhook: WebhookDetails; onClose: () => void }) {
  return (
    <Dialog title="Delete webhook" onClose={onClose}>
      <p>
        The webhook to <Text value={targetText(webhook)} /> and its deliveries are deleted. This cannot be undone.
      </p>
      <div class="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="danger"
          icon="discard"
          onClick={async () => {
            await sendJson("webhooks/delete", { id: webhook.id });
            onClose();
            showToast({ kind: "done", text: "The webhook is deleted." });
            navigate("#/webhooks");
          }}
        >
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
