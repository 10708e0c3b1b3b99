import type { SendPreview, SendRecipient } from "../../protocol/send.ts";
import { Icon } from "../components/icon.tsx";
import { Text } from "../components/text.tsx";
import { formatCount, formatPlural } from "../format/number.ts";
import { formatRoute } from "../state/route.ts";
import { session } from "../state/session.ts";

const effects: Readonly<Record<NonNullable<SendPreview["effect"]>, string>> = {
  change: "Sending makes this change in the local Hub. Commits and IDs in the sent payload are those of the change.",
  payload: "Sending delivers this payload as it is. Nothing changes in the local Hub.",
};

/** The webhooks that receive the event, and the reasons why others do not. */
export function Recipients({ preview }: { preview: SendPreview | undefined }) {
  const recipients = preview?.recipients ?? [];
  const receiving = recipients.filter(({ skipped }) => skipped === undefined).length;
  return (
    <section class="pane-section" aria-labelledby="recipients-title">
      <h2 id="recipients-title">Recipients</h2>
      <p class="quiet" role="status">
        {preview &&
          (preview.problems.length > 0
            ? `Fix ${formatPlural(preview.problems.length, "field", "fields")} to see who receives the event.`
            : `${formatCount(receiving)} of ${formatPlural(recipients.length, "recipient gets", "recipients get")} the event.`)}
      </p>
      {preview?.effect && <p class="quiet">{effects[preview.effect]}</p>}
      {preview && preview.problems.length === 0 && recipients.length === 0 && <NoRecipients />}
      {recipients.length > 0 && (
        <ul class="attempts recipients">
          {recipients.map((recipient) => (
            <li key={`${recipient.kind} ${recipient.webhookId ?? recipient.name}`} class="attempt-line">
              <Recipient recipient={recipient} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Recipient({ recipient }: { recipient: SendRecipient }) {
  const { kind, name, webhookId, endpoint, skipped, ignored } = recipient;
  const isSkipped = skipped !== undefined;
  const isIgnored = !isSkipped && ignored !== undefined;
  const note = skipped ?? (ignored === undefined ? undefined : `The endpoint ignores it: ${ignored}`);
  return (
    <>
      <span class="status" data-color={isSkipped || isIgnored ? "ignored" : "good"}>
        <Icon name={isSkipped || isIgnored ? "ignored" : "succeeded"} />
        {isSkipped ? "Skipped" : isIgnored ? "Ignored" : "Receives"}
      </span>
      <span class="attempt-event">
        <span class="quiet">{endpoint === undefined ? kind : "endpoint"}</span>{" "}
        {webhookId === undefined ? (
          <Text value={name} />
        ) : (
          <a href={formatRoute("webhooks/one", { id: webhookId })}>
            <Text value={endpoint ?? name} />
          </a>
        )}
      </span>
      {note !== undefined && (
        <span class="quiet attempt-error">
          <Text value={note} />
        </span>
      )}
    </>
  );
}

function NoRecipients() {
  const hasWebhooks = session.value?.signedIn && session.value.features.includes("webhooks");
  return (
    <p class="notice">
      Nothing would receive the event.{" "}
      {hasWebhooks && (
        <>
          Create a webhook in <a href="#/webhooks">Webhooks</a> first.
        </>
      )}
    </p>
  );
}
