import { useState } from "preact/hooks";
import type {
  AttemptDetails,
  AttemptSummary,
  ReplayResult,
  WebhookDetails,
  WebhookInfo,
  WebhookState,
} from "../../protocol/hub.ts";
import { sendJson } from "../api.ts";
import { Facts, PaneContent, PayloadSection, RequestHeaders, Section } from "../delivery/pane.tsx";
import { formatCount, formatDuration, formatPlural } from "../format.ts";
import { JsonTree } from "../json/tree.tsx";
import { useResource } from "../resource.ts";
import { formatRoute, navigate, showToast } from "../state.ts";
import {
  Button,
  Command,
  CopyableCode,
  CopyButton,
  Dialog,
  Icon,
  Moment,
  StateLabel,
  type StateLook,
  Text,
  UrlText,
} from "../ui.tsx";
import { ItemPane, readFilter } from "./list-view.tsx";
import { EditWebhook } from "./webhook-form.tsx";

export function WebhookPane({ id, logId }: { id: string; logId: string | undefined }) {
  const resource = useResource<WebhookDetails>("webhooks/one", { query: { id }, features: ["webhooks"] });
  return (
    <ItemPane title="Webhook" path="webhooks" resource={resource}>
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
              <AttemptTable webhook={webhook} openLogId={logId} />
            )}
          </Section>
        </>
      )}
    </ItemPane>
  );
}

function Summary({ webhook }: { webhook: WebhookDetails }) {
  const { id, target, state, owner, watched, domains, isSecretSet, lastTriggerAt, today, failures, pending } = webhook;
  return (
    <div>
      <p class="delivery-title">
        <StateLabel {...webhookLooks[state]} />
        <span class="copyable">
          <strong class="hub-target">
            <WebhookTarget target={target} />
          </strong>
          {target.kind === "url" && <CopyButton text={target.url} label="Copy URL" />}
        </span>
      </p>
      <Facts
        facts={{
          ID: <CopyableCode value={id} label="Copy ID" />,
          Watches: (
            <ul class="plain-list">
              {watched.map(({ type, name }) => (
                <li key={`${type}:${name}`}>
                  <Text value={`${type}:${name}`} />
                </li>
              ))}
            </ul>
          ),
          Domains: domains.join(", "),
          Secret: isSecretSet ? "set" : "not set",
          Owner: <Text value={owner} />,
          Today: <DailyCount today={today} />,
          Failures:
            failures.count > 0 &&
            `${formatPlural(failures.count, "failed delivery", "failed deliveries")} in a row${failures.limit === undefined ? "" : `; suspended after ${formatCount(failures.limit)}`}`,
          Waiting: pending > 0 && formatPlural(pending, "delivery", "deliveries"),
          "Last event": lastTriggerAt !== undefined && <Moment at={lastTriggerAt} />,
        }}
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

function DeleteWebhook({ webhook, onClose }: { webhook: WebhookDetails; onClose: () => void }) {
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

export function WebhookTarget({ target }: Pick<WebhookInfo, "target">) {
  if (target.kind === "url") return <UrlText value={target.url} />;
  return (
    <>
      <span class="tag">job</span> <Text value={targetText({ target })} />
    </>
  );
}

export function targetText({ target }: Pick<WebhookInfo, "target">): string {
  if (target.kind === "url") return target.url;
  return target.kind === "job" ? target.description : target.id;
}

export const webhookLooks: Readonly<Record<WebhookState, StateLook>> = {
  enabled: { label: "Enabled", color: "good", icon: "succeeded" },
  disabled: { label: "Disabled", color: "ignored", icon: "pause" },
  suspended: { label: "Suspended", color: "bad", icon: "dead" },
};

/** The attempts of a webhook, newest first. The one that is open shows its request and response. */
function AttemptTable({
  webhook: { id, attempts },
  openLogId,
}: {
  webhook: WebhookDetails;
  openLogId: string | undefined;
}) {
  return (
    <ol class="attempts">
      {attempts.map((attempt) => {
        const { logId } = attempt;
        const isOpen = logId === openLogId;
        return (
          <li key={logId}>
            <a class="attempt-line" aria-expanded={isOpen} href={attemptHash(id, isOpen ? undefined : logId)}>
              <AttemptLine attempt={attempt} />
            </a>
            {isOpen && <Attempt webhookId={id} logId={logId} />}
          </li>
        );
      })}
    </ol>
  );
}

function attemptHash(webhookId: string, logId: string | undefined): string {
  return formatRoute("webhooks/one", { id: webhookId, search: readFilter(), log: logId });
}

function AttemptLine({ attempt }: { attempt: AttemptSummary }) {
  const { event, repository, attempt: number, durationMs, at } = attempt;
  return (
    <>
      <AttemptOutcome attempt={attempt} />
      <span class="attempt-event">
        {event ? <Text value={`${event.scope} ${event.action}`} /> : "No Hub payload"}{" "}
        {repository && <Text class="quiet" value={`${repository.type}:${repository.name}`} />}
      </span>
      <span class="quiet attempt-time">
        {number > 1 && `attempt ${number}, `}
        {formatDuration(durationMs)}, <Moment at={at} />
      </span>
    </>
  );
}

function Attempt({ webhookId, logId }: { webhookId: string; logId: string }) {
  const resource = useResource<AttemptDetails>("webhooks/attempt", { query: { id: webhookId, logId } });
  return (
    <div class="attempt">
      <PaneContent resource={resource}>
        {(attempt) => (
          <>
            {attempt.error !== undefined && (
              <p class="problem">
                <Text value={attempt.error} />
              </p>
            )}
            <AttemptActions webhookId={webhookId} attempt={attempt} />
            <Facts
              facts={{
                "Sent to": <Text value={attempt.url} />,
                Delivery: <code>{attempt.deliveryId}</code>,
                Attempt: attempt.attempt,
              }}
            />
            <PayloadSection details={attempt.request} />
            {attempt.response && (
              <Section title="Response">
                {attempt.response.body === "" ? (
                  <p class="quiet">The response has no body.</p>
                ) : (
                  <JsonTree text={attempt.response.body} label="Response" />
                )}
                {attempt.response.isTruncated && <p class="quiet">Cut: the response was longer than 64 KiB.</p>}
              </Section>
            )}
            <RequestHeaders headers={attempt.request.headers} />
          </>
        )}
      </PaneContent>
    </div>
  );
}

function AttemptActions({ webhookId, attempt: { logId, request } }: { webhookId: string; attempt: AttemptDetails }) {
  const replay = async () => {
    const result = await sendJson<ReplayResult>("webhooks/replay", { id: webhookId, logId });
    const link = { hash: attemptHash(webhookId, result.logId), label: "Show the attempt" };
    if (result.error !== undefined) showToast({ kind: "failed", text: `Replayed: ${result.error}`, link });
    else showToast({ kind: "done", text: `Replayed. The receiver returned ${result.status}.`, link });
  };
  return (
    <div class="delivery-actions">
      <Button kind="primary" icon="replay" onClick={replay}>
        Replay
      </Button>
      {request.bodyLength === undefined && (
        <a class="button" href={formatRoute("send", { "from-webhook": webhookId, "from-log": logId })}>
          Edit and send
        </a>
      )}
    </div>
  );
}

/** The status of a response, or a note that there was no response. */
export function AttemptOutcome({ attempt: { status, error } }: { attempt: Pick<AttemptSummary, "status" | "error"> }) {
  const isFailed = error !== undefined;
  return (
    <span class="status" data-color={isFailed ? "bad" : "good"}>
      <Icon name={isFailed ? "failed" : "succeeded"} />
      <span class="visually-hidden">{isFailed ? "Failed:" : "Succeeded:"}</span>
      {status ?? "no response"}
    </span>
  );
}

/** The deliveries of the current 24 hours, against the limit of the Hub. */
export function DailyCount({ today: { deliveries, limit } }: Pick<WebhookInfo, "today">) {
  if (limit === undefined) return <>{formatCount(deliveries)}</>;
  return (
    <span class={deliveries >= limit ? "bad" : undefined}>
      {formatCount(deliveries)} <span class="quiet">of {formatCount(limit)}</span>
    </span>
  );
}
