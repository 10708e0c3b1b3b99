import { useState } from "preact/hooks";
import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import type { EventInfo } from "../../protocol/hub.ts";
import type { SendOptions, SendPreview, SendRecipient, SendResult, SentDelivery } from "../../protocol/send.ts";
import { isOffered, sendJson, toApiFailure } from "../api.ts";
import { StatusLabel } from "../deliveries/status.tsx";
import { formatCount, formatDuration, formatPlural } from "../format.ts";
import { EventDeliveries } from "../hub/events-view.tsx";
import { JsonEditor } from "../json/editor.tsx";
import { findSyntaxProblem } from "../json/parse.ts";
import { useResource } from "../resource.ts";
import { announce, formatRoute, navigate, route } from "../state.ts";
import { Button, Loaded, Loading, Problem, StateLabel, Text, UrlText } from "../ui.tsx";
import { type Draft, findRepositoryProblem, type Past, readPast, useEditing } from "./editing.ts";
import { EventFields } from "./event-fields.tsx";
import { type ChangedFile, FilesEditor, hasFiles, readFiles } from "./files.tsx";
import { Scenarios } from "./scenarios.tsx";
import "../delivery/pane.css";
import "./send.css";

/** Sends an event. Fills in its payload, which the user can edit, and lists the recipients. */
export function SendView() {
  const resource = useResource<SendOptions>("send/options", { features: ["send"] });
  return (
    <div class="page send-page">
      <header class="page-header">
        <h1>Send an event</h1>
      </header>
      {resource.data?.isDirect && (
        <p class="notice">
          Events go directly from this session to your server, with its secret. Nothing changes on the Hub, unless your
          handler changes it.
        </p>
      )}
      <Loaded resource={resource}>{(options) => <SendForm options={options} />}</Loaded>
    </div>
  );
}

/** Returns the event of the route. Defaults to a push. */
function readDraft(defaultRepository: string): Draft {
  const { scope = "repo.content", action = "update", repository = defaultRepository, pr } = route.value.query;
  return { scope, action, repository, ...(pr !== undefined && { pr: "true" }) };
}

function SendForm({ options }: { options: SendOptions }) {
  const past = readPast(route.value.query);
  // A new repository must not replace the payload while the user edits it.
  const [defaultRepository] = useState(() => options.defaultRepository ?? "dataset:me/data");
  const draft = readDraft(defaultRepository);
  // An invalid repository stays in its field, and the payload stays that of the last valid one.
  const [invalidRepository, setInvalidRepository] = useState<string>();
  const repositoryProblem = past ? undefined : findRepositoryProblem(invalidRepository ?? draft.repository);
  const hasEvent = findRepositoryProblem(draft.repository) === undefined;
  const [changes, setChanges] = useState<readonly ChangedFile[]>([]);
  const canPush = !options.isDirect && !past && hasFiles(draft);
  const { files, problem: filesProblem } = readFiles(canPush ? changes : []);
  const editing = useEditing(past ?? (hasEvent ? draft : undefined), files);
  const { start, text, fields, preview, replaced, failure } = editing;
  const choice = useChoice(past);
  const chosen = preview?.recipients.filter((recipient) => receives(recipient, choice)).map(({ name }) => name) ?? [];
  const [result, setResult] = useState<SendResult>();
  const [problem, setProblem] = useState<string>();
  const draftProblem = repositoryProblem ?? (past ? undefined : failure?.message);
  const isWithoutFiles = files !== undefined && preview?.effect === "payload";
  const isInvalid =
    start === undefined ||
    draftProblem !== undefined ||
    filesProblem !== undefined ||
    isWithoutFiles ||
    fields.length > 0 ||
    findSyntaxProblem(text) !== undefined ||
    (options.isDirect && chosen.length === 0);
  const changeDraft = (changes: Partial<Draft>) => {
    const { repository } = changes;
    if (repository !== undefined) {
      const isInvalidRepository = findRepositoryProblem(repository) !== undefined;
      setInvalidRepository(isInvalidRepository ? repository : undefined);
      if (isInvalidRepository) return;
    }
    navigate(formatRoute("send", { ...draft, ...changes }), { replace: true });
  };

  const send = async () => {
    setProblem(undefined);
    try {
      setResult(await sendJson("send", { ...editing.request, ...(options.isDirect && { endpoints: chosen }) }));
      announce("Sent.");
    } catch (error) {
      const answer = toApiFailure(error);
      editing.showProblems(answer.fields);
      setProblem(answer.message);
    }
  };
  return (
    <div class="send-columns">
      <div class="send-editor">
        <EventFields
          options={options}
          draft={draft}
          isPast={past !== undefined}
          problem={draftProblem}
          onChange={changeDraft}
        />
        {canPush && (
          <FilesEditor
            changes={changes}
            problem={filesProblem ?? (isWithoutFiles ? withoutFiles : undefined)}
            draft={draft}
            onChange={setChanges}
            onDraft={changeDraft}
          />
        )}
        {past && failure && (
          <p class="problem">
            <Text value={failure.message} />
          </p>
        )}
        {start?.note && <p class="notice notice-warning">{start.note}</p>}
        {start && (
          <JsonEditor
            label="Payload"
            value={text}
            fields={fields}
            goesToProblem={false}
            onChange={editing.change}
            submitId="send-event"
          />
        )}
        {!start && !failure && hasEvent && <Loading />}
      </div>
      <div class="send-side">
        <Problem text={problem} />
        <div class="delivery-actions">
          <Button
            id="send-event"
            kind="primary"
            icon="play"
            disabled={isInvalid}
            title="Ctrl+Enter or Command+Enter in the editor"
            onClick={send}
          >
            Send event
          </Button>
          {start && text !== start.text && (
            <Button kind="ghost" onClick={() => editing.change(start.text)}>
              Undo all changes
            </Button>
          )}
          {replaced !== undefined && replaced !== text && (
            <Button kind="ghost" onClick={() => editing.change(replaced)}>
              Restore the previous edits
            </Button>
          )}
        </div>
        {result && <SentDeliveries key={result.eventId ?? result.deliveries[0]?.id} result={result} />}
        <Recipients preview={preview} choice={choice} />
        {!options.isDirect && <Scenarios />}
      </div>
    </div>
  );
}

const withoutFiles =
  "The payload was edited so that the local Hub cannot push the files. Undo the edits, or remove the files.";

/** The deliveries that an event caused, live, with links. */
function SentDeliveries({ result: { eventId, deliveries } }: { result: SendResult }) {
  return (
    <section class="pane-section" aria-labelledby="sent-title">
      <h2 id="sent-title">Sent</h2>
      {eventId === undefined ? (
        <PlainDeliveries deliveries={deliveries} />
      ) : (
        <SentEvent eventId={eventId} deliveries={deliveries} />
      )}
    </section>
  );
}

function SentEvent({ eventId, deliveries }: { eventId: string; deliveries: readonly SentDelivery[] }) {
  const { data } = useResource<EventInfo>("events/one", { query: { id: eventId }, features: ["events"] });
  if (!data) return <PlainDeliveries deliveries={deliveries} />;
  return (
    <>
      <EventDeliveries
        event={data}
        linkOf={({ deliveryId }) => linkToEndpoint(deliveries.find(({ id }) => id === deliveryId))}
      />
      <p>
        <a href={formatRoute("events/one", { id: eventId })}>Show the event</a>
      </p>
    </>
  );
}

/** Links to the delivery of the endpoint, which shows more than that of its webhook. */
function linkToEndpoint(delivery: SentDelivery | undefined): string | undefined {
  if (delivery?.endpoint === undefined) return undefined;
  return formatRoute("deliveries/one", { endpoint: delivery.endpoint, id: delivery.id });
}

function PlainDeliveries({ deliveries }: { deliveries: readonly SentDelivery[] }) {
  if (deliveries.length === 0) return <p class="quiet">Nothing received this event.</p>;
  return (
    <ul class="attempts sent">
      {deliveries.map((delivery) => (
        <li key={delivery.id} class="attempt-line">
          <PlainDelivery delivery={delivery} />
        </li>
      ))}
    </ul>
  );
}

function PlainDelivery({ delivery }: { delivery: SentDelivery }) {
  const { recipient, durationMs, problem, ignored } = delivery;
  const hash = linkToEndpoint(delivery);
  const outcome = describeOutcome(delivery);
  return (
    <>
      {outcome && <StatusLabel {...outcome} />}
      <span class="attempt-event">
        {hash === undefined ? (
          <Text value={recipient} />
        ) : (
          <a href={hash}>
            <Text value={recipient} />
          </a>
        )}
      </span>
      {durationMs !== undefined && <span class="quiet attempt-time">{formatDuration(durationMs)}</span>}
      {ignored !== undefined && <Text class="quiet attempt-error" value={ignored} />}
      {problem !== undefined && <Text class="bad attempt-error" value={problem} />}
    </>
  );
}

/** Returns `undefined` if there is no response yet. */
function describeOutcome({
  status,
  problem,
  ignored,
}: SentDelivery): { status: ConsoleStatus; text: string } | undefined {
  if (status === undefined) return problem === undefined ? undefined : { status: "failed", text: "No response" };
  if (problem !== undefined) return { status: "failed", text: `${status} Failed` };
  if (ignored !== undefined) return { status: "ignored", text: `${status} Ignored` };
  return { status: "succeeded", text: status === 202 ? "202 Accepted, runs in the background" : `${status} Succeeded` };
}

const effects: Readonly<Record<NonNullable<SendPreview["effect"]>, string>> = {
  change: "Sending makes this change in the local Hub. Commits and IDs in the sent payload are those of the change.",
  payload: "Sending delivers this payload as it is. Nothing changes in the local Hub.",
};

type Choice = ReturnType<typeof useChoice>;

/** The recipients of the event: webhooks, with the reasons why some do not receive it, or endpoints to choose from. */
function Recipients({ preview, choice }: { preview: SendPreview | undefined; choice: Choice }) {
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
function receives({ kind, name, skipped }: SendRecipient, { isChosen }: Choice): boolean {
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

function Outcome({ recipient: { ignored, condition }, isSkipped }: { recipient: SendRecipient; isSkipped: boolean }) {
  if (isSkipped) return <StateLabel label="Skipped" color="ignored" icon="ignored" />;
  if (ignored !== undefined) return <StateLabel label="Ignored" color="ignored" icon="ignored" />;
  if (condition !== undefined) return <StateLabel label="Depends" color="retry" icon="help" />;
  return <StateLabel label="Receives" color="good" icon="succeeded" />;
}

function Note({ recipient: { skipped, ignored, condition } }: { recipient: SendRecipient }) {
  const decided = ignored === undefined ? undefined : `The endpoint ignores it: ${ignored}`;
  const note = skipped ?? decided ?? (condition === undefined ? undefined : `The handler runs ${condition}`);
  return note === undefined ? null : <Text class="quiet attempt-error" value={note} />;
}

function NoRecipients() {
  return (
    <p class="notice">
      Nothing would receive the event.{" "}
      {isOffered("webhooks") ? (
        <>
          Create a webhook in <a href="#/webhooks">Webhooks</a> first.
        </>
      ) : (
        "The server has no endpoints. Add one to the server file."
      )}
    </p>
  );
}

/** Lets the user choose endpoints. At first, the endpoint of a past delivery is chosen, otherwise all endpoints. */
function useChoice(past: Past | undefined) {
  const [changes, setChanges] = useState<ReadonlyMap<string, boolean>>(new Map());
  const only = past && "endpoint" in past ? past.endpoint : undefined;
  return {
    isChosen: (endpoint: string) => changes.get(endpoint) ?? (only === undefined || only === endpoint),
    choose: (endpoint: string, isChosen: boolean) => setChanges((known) => new Map(known).set(endpoint, isChosen)),
  };
}
