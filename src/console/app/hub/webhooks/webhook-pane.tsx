import { useState } from "preact/hooks";
import type { WebhookDetails } from "../../../protocol/hub.ts";
import { sendJson } from "../../api/client.ts";
import { formatCount, formatPlural } from "../../format.ts";
import { useResource } from "../../state/resource.ts";
import { formatRoute } from "../../state/route.ts";
import { showToast } from "../../state/toasts.ts";
import { Button, Command, CopyButton, Moment, Text } from "../../ui.tsx";
import { Facts, Pane, PaneContent, Section } from "../list-page.tsx";
import { AttemptTable, DailyCount } from "./attempt-table.tsx";
import { DeleteWebhook, EditWebhook } from "./webhook-dialogs.tsx";
import { WebhookStateLabel, WebhookTarget } from "./webhook-target.tsx";

/** One webhook with its attempts. */
export function WebhookPane({ id, logId, search }: { id: string; logId: string | undefined; search: string }) {
  const resource = useResource<WebhookDetails>("webhooks/one", { query: { id }, features: ["webhooks"] });
  return (
    <Pane title="Webhook" listHash={formatRoute("webhooks", { search })}>
      <PaneContent resource={resource}>
        {(webhook) => (
          <>
            <Summary webhook={webhook} />
            <Actions webhook={webhook} onDone={resource.reload} />
            <StateNotice webhook={webhook} />
            <Section title="Attempts">
              {webhook.attempts.length === 0 ? (
                <>
                  <p class="quiet">Nothing is delivered yet. Send an event from the console, or with this command:</p>
                  <Command text={webhook.triggerCommand} />
                </>
              ) : (
                <AttemptTable webhook={webhook} openLogId={logId} search={search} />
              )}
            </Section>
          </>
        )}
      </PaneContent>
    </Pane>
  );
}

function Summary({ webhook }: { webhook: WebhookDetails }) {
  const { id, target, state, owner, watched, domains, isSecretSet, lastTriggerAt, today, failures, pending } = webhook;
  return (
    <div>
      <p class="delivery-title">
        <WebhookStateLabel state={state} />
        <span class="copyable">
          <strong class="hub-target">
            <WebhookTarget target={target} />
          </strong>
          {target.kind === "url" && <CopyButton text={target.url} label="Copy URL" />}
        </span>
      </p>
      <Facts
        facts={[
          [
            "ID",
            <>
              <code>{id}</code>
              <CopyButton text={id} label="Copy ID" />
            </>,
          ],
          [
            "Watches",
            <ul class="plain-list">
              {watched.map(({ type, name }) => (
                <li key={`${type}:${name}`}>
                  <Text value={`${type}:${name}`} />
                </li>
              ))}
            </ul>,
          ],
          ["Domains", domains.join(", ")],
          ["Secret", isSecretSet ? "set" : "not set"],
          ["Owner", <Text value={owner} />],
          ["Today", <DailyCount today={today} />],
          [
            "Failures",
            failures.count > 0 &&
              `${formatPlural(failures.count, "failed delivery", "failed deliveries")} in a row${failures.limit === undefined ? "" : `; suspended after ${formatCount(failures.limit)}`}`,
          ],
          ["Waiting", pending > 0 && formatPlural(pending, "delivery", "deliveries")],
          ["Last event", lastTriggerAt !== undefined && <Moment at={lastTriggerAt} />],
        ]}
      />
    </div>
  );
}

function Actions({ webhook, onDone }: { webhook: WebhookDetails; onDone: () => void }) {
  const { id, state, watched } = webhook;
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const setState = async (action: "enable" | "disable" | "suspend", text: string) => {
    await sendJson(`webhooks/${action}`, { id });
    showToast({ kind: "done", text });
    onDone();
  };
  const repository = watched.find(({ type, name }) => type !== "user" && type !== "org" && name.includes("/"));
  const close = () => setDialog(undefined);
  return (
    <div class="delivery-actions">
      {state === "enabled" ? (
        <>
          <Button icon="pause" onClick={() => setState("disable", "The webhook is disabled.")}>
            Disable
          </Button>
          <Button
            icon="dead"
            title="To see what happens after too many failed deliveries"
            onClick={() => setState("suspend", "The webhook is suspended, as after too many failed deliveries.")}
          >
            Suspend
          </Button>
        </>
      ) : (
        <Button kind="primary" icon="play" onClick={() => setState("enable", "The webhook is enabled.")}>
          Enable
        </Button>
      )}
      <Button icon="edit" onClick={() => setDialog("edit")}>
        Edit
      </Button>
      <a
        class="button"
        href={formatRoute("send", repository ? { repository: `${repository.type}:${repository.name}` } : {})}
      >
        Send an event
      </a>
      <Button kind="danger" icon="discard" onClick={() => setDialog("delete")}>
        Delete
      </Button>
      {dialog === "edit" && <EditWebhook webhook={webhook} onClose={close} />}
      {dialog === "delete" && <DeleteWebhook webhook={webhook} onClose={close} />}
    </div>
  );
}

function StateNotice({ webhook: { state } }: { webhook: WebhookDetails }) {
  if (state === "enabled") return null;
  if (state === "disabled") return <p class="notice">Events do not fire this webhook until you enable it.</p>;
  return (
    <p class="notice notice-warning">
      The webhook is suspended, as the Hub does after too many failed deliveries in a row. Fix the receiver, then enable
      the webhook.
    </p>
  );
}
