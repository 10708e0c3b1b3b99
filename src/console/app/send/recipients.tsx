import type { SendPreview, SendRecipient } from "../../protocol/send.ts";
import { formatCount, formatPlural } from "../format.ts";
import { formatRoute } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Icon, Text, UrlText } from "../ui.tsx";

const effects: Readonly<Record<NonNullable<SendPreview["effect"]>, string>> = {
  change: "Sending makes this change in the local Hub. Commits and IDs in the sent payload are those of the change.",
  payload: "Sending delivers this payload as it is. Nothing changes in the local Hub.",
};

/** The endpoints that the user has chosen to send to. */
export interface Choice {
  isChosen: (endpoint: string) => boolean;
  choose: (endpoint: string, isChosen: boolean) => void;
}

/** The recipients of the event: webhooks, with the reasons why some do not receive it, or endpoints to choose from. */
export function Recipients({ preview, choice }: { preview: SendPreview | undefined; choice: Choice }) {
  const recipients = preview?.recipients ?? [];
  const receiving = recipients.filter((recipient) => receives(recipient, choice)).length;
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
              {recipient.kind === "endpoint" ? (
                <EndpointRecipient recipient={recipient} choice={choice} />
              ) : (
                <WebhookRecipient recipient={recipient} />
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Whether a recipient gets the event: a webhook that is not skipped, or an endpoint that is chosen. */
export function receives({ kind, name, skipped }: SendRecipient, { isChosen }: Choice): boolean {
  return kind === "endpoint" ? isChosen(name) : skipped === undefined;
}

function WebhookRecipient({ recipient }: { recipient: SendRecipient }) {
  const { name, webhookId = "", endpoint, skipped } = recipient;
  return (
    <>
      <Outcome recipient={recipient} isSkipped={skipped !== undefined} />
      <span class="attempt-event">
        <span class="quiet">{endpoint === undefined ? "webhook" : "endpoint"}</span>{" "}
        <a href={formatRoute("webhooks/one", { id: webhookId })}>
          <UrlText value={endpoint ?? name} />
        </a>
      </span>
      <Note recipient={recipient} />
    </>
  );
}

function EndpointRecipient({ recipient, choice }: { recipient: SendRecipient; choice: Choice }) {
  const { name } = recipient;
  const isChosen = choice.isChosen(name);
  return (
    <>
      <Outcome recipient={recipient} isSkipped={!isChosen} />
      <label class="check attempt-event">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={({ currentTarget }) => choice.choose(name, currentTarget.checked)}
        />
        <span>
          <span class="quiet">endpoint</span> <Text value={name} />
        </span>
      </label>
      <Note recipient={recipient} />
    </>
  );
}

function Outcome({ recipient: { ignored }, isSkipped }: { recipient: SendRecipient; isSkipped: boolean }) {
  const isIgnored = !isSkipped && ignored !== undefined;
  return (
    <span class="status" data-color={isSkipped || isIgnored ? "ignored" : "good"}>
      <Icon name={isSkipped || isIgnored ? "ignored" : "succeeded"} />
      {isSkipped ? "Skipped" : isIgnored ? "Ignored" : "Receives"}
    </span>
  );
}

function Note({ recipient: { skipped, ignored } }: { recipient: SendRecipient }) {
  const note = skipped ?? (ignored === undefined ? undefined : `The endpoint ignores it: ${ignored}`);
  if (note === undefined) return null;
  return (
    <span class="quiet attempt-error">
      <Text value={note} />
    </span>
  );
}

function NoRecipients() {
  const hasWebhooks = session.value?.signedIn && session.value.features.includes("webhooks");
  return (
    <p class="notice">
      Nothing would receive the event.{" "}
      {hasWebhooks ? (
        <>
          Create a webhook in <a href="#/webhooks">Webhooks</a> first.
        </>
      ) : (
        "The server has no endpoints. Add one to the server file."
      )}
    </p>
  );
}
