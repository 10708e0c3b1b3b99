import { useState } from "preact/hooks";
import type { SendOptions, SendResult, SentDelivery } from "../../protocol/send.ts";
import { sendJson } from "../api/client.ts";
import { toApiFailure } from "../api/failure.ts";
import { JsonEditor } from "../json/editor.tsx";
import { findSyntaxProblem } from "../json/problems.ts";
import { useResource } from "../state/resource.ts";
import { formatRoute, navigate, route } from "../state/route.ts";
import { announce } from "../state/toasts.ts";
import { Button, FailureState, Loading, Text } from "../ui.tsx";
import { EventFields } from "./event-fields.tsx";
import { Recipients, receives } from "./recipients.tsx";
import { findRepositoryProblem } from "./repository-problem.ts";
import { useChoice } from "./use-choice.ts";
import { type Draft, readPast, useEditing } from "./use-editing.ts";
import "../delivery/pane.css";
import "../hub/hub.css";
import "./send.css";
import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import type { EventInfo } from "../../protocol/hub.ts";
import { StatusLabel } from "../deliveries/status-label.tsx";
import { formatDuration } from "../format.ts";
import { EventDeliveries } from "../hub/events/event-deliveries.tsx";

/** Sends an event. Fills in its payload, which the user can edit, and lists the recipients. */
export function SendView() {
  const { data, failure, reload } = useResource<SendOptions>("send/options", { features: ["send"] });
  return (
    <div class="page send-page">
      <header class="page-header">
        <h1>Send an event</h1>
      </header>
      {data?.isDirect && (
        <p class="notice">
          Events go directly from this session to your server, with its secret. Nothing changes on the Hub, unless your
          handler changes it.
        </p>
      )}
      {data ? <SendForm options={data} /> : failure ? <FailureState failure={failure} onRetry={reload} /> : <Loading />}
    </div>
  );
}

/** Returns the event of the route. Defaults to a push. */
function readDraft(defaultRepository: string): Draft {
  const { scope = "repo.content", action = "update", repository = defaultRepository } = route.value.query;
  return { scope, action, repository };
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
  const editing = useEditing(past ?? (hasEvent ? draft : undefined));
  const { start, text, fields, preview, isPreviewLoading, replaced, failure } = editing;
  const choice = useChoice(past);
  const chosen = preview?.recipients.filter((recipient) => receives(recipient, choice)).map(({ name }) => name) ?? [];
  const [result, setResult] = useState<SendResult>();
  const [problem, setProblem] = useState<string>();
  const draftProblem = repositoryProblem ?? (past ? undefined : failure?.message);
  const isInvalid =
    start === undefined ||
    draftProblem !== undefined ||
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
    if (isInvalid) return;
    setProblem(undefined);
    try {
      const sent = await sendJson<SendResult>("send", {
        ...editing.request,
        ...(options.isDirect && { endpoints: chosen }),
      });
      setResult(sent);
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
            onSubmit={() => void send()}
          />
        )}
        {!start && !failure && hasEvent && <Loading />}
      </div>
      <div class="send-side">
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="delivery-actions">
          <Button
            kind="primary"
            icon="play"
            disabled={isInvalid || isPreviewLoading}
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
      </div>
    </div>
  );
}

/** The deliveries that an event caused, live, with links. */
function SentDeliveries({ result }: { result: SendResult }) {
  const { eventId, deliveries } = result;
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
      {ignored !== undefined && (
        <span class="quiet attempt-error">
          <Text value={ignored} />
        </span>
      )}
      {problem !== undefined && (
        <span class="bad attempt-error">
          <Text value={problem} />
        </span>
      )}
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
