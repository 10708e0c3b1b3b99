import { useEffect, useRef, useState } from "preact/hooks";
import type { DeliveryDetails, DeliveryKey, EditedReplay, ReplayStarted } from "../../protocol/deliveries.ts";
import { useShortcut } from "../state/keyboard.ts";
import { useResource } from "../state/resource.ts";
import { Button, EmptyState, FailureState, Loading } from "../ui.tsx";
import { PayloadSection } from "./payload-section.tsx";
import { RequestHeaders } from "./request-headers.tsx";
import { Timeline } from "./timeline.tsx";
import "./pane.css";
import type { ComponentChildren } from "preact";
import { indentJson } from "../../../core/text.ts";
import type { ConsoleFeature, FieldProblem } from "../../protocol/session.ts";
import { sendJson } from "../api/client.ts";
import { type ApiFailure, toApiFailure } from "../api/failure.ts";
import { RepositoryLink } from "../deliveries/columns.tsx";
import { deliveryHash, keyText, readListRoute } from "../deliveries/links.ts";
import { statusLooks } from "../deliveries/status.ts";
import { StatusLabel } from "../deliveries/status-label.tsx";
import { JsonEditor } from "../json/editor.tsx";
import { findSyntaxProblem, keepUnchanged } from "../json/problems.ts";
import { formatRoute, navigate, route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { CopyButton, Dialog, Moment, Text } from "../ui.tsx";
import { toCopiedTest } from "./copied-test.ts";
import { toCurl } from "./curl.ts";
import { describeStorage } from "./describe-storage.ts";

/** One delivery: beside the list on a wide screen, otherwise a page of its own. */
export function DeliveryPane({ delivery, onClose }: { delivery: DeliveryKey; onClose: () => void }) {
  const { endpoint, id } = delivery;
  const { data, failure, reload } = useResource<DeliveryDetails>("deliveries/one", {
    query: { endpoint, id },
    features: ["deliveries", "endpoints"],
    isChanged: (key) => key.endpoint === endpoint && key.id === id,
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // `j` and `k` open the next delivery while the focus stays in the list.
    if (!document.activeElement?.matches(".row-link:focus-visible")) heading.current?.focus();
  }, []);
  useShortcut("Escape", () => {
    onClose();
    return true;
  });
  return (
    <section class="pane" aria-labelledby="pane-title">
      <header class="pane-header">
        <h2 id="pane-title" ref={heading} tabIndex={-1}>
          Delivery
        </h2>
        <Button kind="ghost" icon="close" label="Close delivery" onClick={onClose} />
      </header>
      <div class="pane-content">
        {data ? (
          <Details details={data} onChange={reload} />
        ) : failure ? (
          <PaneFailure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )}
      </div>
    </section>
  );
}

function PaneFailure({ failure, onRetry }: Parameters<typeof FailureState>[0]) {
  if (failure.code !== "DELIVERY_UNKNOWN") return <FailureState failure={failure} onRetry={onRetry} />;
  return (
    <EmptyState title="This delivery is no longer stored">
      <p>
        Deliveries in memory are kept until the server restarts, and those of the inbox until their retention time ends.
      </p>
    </EmptyState>
  );
}

function Details({ details, onChange }: { details: DeliveryDetails; onChange: () => void }) {
  return (
    <>
      <DeliverySummaryHeader details={details} />
      <DeliveryActions details={details} />
      <Timeline details={details} onChange={onChange} />
      <PayloadSection details={details} />
      {details.headers && <RequestHeaders headers={details.headers} />}
      <StorageNote details={details} />
    </>
  );
}

/** The event, the repository, and the status of a delivery. */
function DeliverySummaryHeader({ details }: { details: DeliveryDetails }) {
  const { status, event, repository, id, endpoint, receivedAt, ignoredReason, replayOf } = details;
  return (
    <div class="delivery-summary">
      <p class="delivery-title">
        <StatusLabel status={status} />
        <strong>{event ? <Text value={`${event.scope} ${event.action}`} /> : "No Hub payload"}</strong>
      </p>
      <p class="quiet">
        {ignoredReason !== undefined ? <Text value={`Ignored: ${ignoredReason}`} /> : statusLooks[status].description}
      </p>
      <dl class="facts">
        {repository && (
          <Fact label="Repository">
            <Text value={`${repository.type} ${repository.name}`} />
            <RepositoryLink repository={repository} />
          </Fact>
        )}
        <Fact label="Endpoint">
          <Text value={endpoint} />
        </Fact>
        <Fact label="Received">
          <Moment at={receivedAt} />
        </Fact>
        <Fact label="ID">
          <code>
            <Text value={id} />
          </code>
          <CopyButton text={id} label="Copy ID" />
        </Fact>
        {replayOf !== undefined && (
          <Fact label="Copy of">
            <a href={deliveryHash({ endpoint, id: replayOf }, readListRoute(route.value).filter)}>
              <Text value={replayOf} />
            </a>
          </Fact>
        )}
      </dl>
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The parts of a delivery that are stored, and how long. */
function StorageNote({ details }: { details: DeliveryDetails }) {
  return (
    <footer class="storage-note quiet">
      {describeStorage(details).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </footer>
  );
}

const replayButtonId = "replay-delivery";

/** The actions of a delivery. */
function DeliveryActions({ details }: { details: DeliveryDetails }) {
  const { endpoint, id, status, storage, body, bodyLength, url } = details;
  const [isEditing, setEditing] = useState(false);
  const isCut = bodyLength !== undefined;
  // A delivery with attempts left runs again without a replay, and a delivery in memory cannot be stopped.
  const canDiscard = storage === "inbox" && ["queued", "retrying", "dead"].includes(status);
  const canReplay = status !== "running" && status !== "queued";
  const test = isCut ? undefined : toCopiedTest({ endpoint, status, body });

  const replay = async () => {
    showReplay(
      details,
      await sendJson<ReplayStarted>("deliveries/replay", { endpoint, id }),
      "The delivery runs again.",
    );
  };
  const discard = async () => {
    await sendJson("deliveries/discard", { endpoint, id });
    showToast({ kind: "done", text: "The delivery is discarded. Replay it to run it after all." });
  };
  useShortcut("r", () => {
    if (!canReplay) return false;
    // The button shows that the replay is pending, and ignores the key until then.
    document.getElementById(replayButtonId)?.click();
    return true;
  });
  useShortcut("e", () => {
    if (isCut) return false;
    setEditing(true);
    return true;
  });
  return (
    <div class="delivery-actions">
      <Button id={replayButtonId} icon="replay" kind="primary" shortcut="r" disabled={!canReplay} onClick={replay}>
        Replay
      </Button>
      <Button
        icon="edit"
        shortcut="e"
        disabled={isCut}
        {...(isCut && { title: "The payload is larger than 1 MiB." })}
        onClick={() => setEditing(true)}
      >
        Edit and replay
      </Button>
      {canDiscard && (
        <Button icon="discard" kind="danger" onClick={discard}>
          Discard
        </Button>
      )}
      {isOffered("send") && !isCut && (
        <a class="button" href={formatRoute("send", { "from-endpoint": endpoint, "from-id": id })}>
          Send a copy
        </a>
      )}
      {isOffered("logs") && (
        <a class="button" href={formatRoute("logs", { deliveryId: id })}>
          Logs
        </a>
      )}
      {!isCut && (
        <CopyButton
          text={() => toCurl({ url, body })}
          label="Copy as curl"
          isNamed
          nextStep="Set WEBHOOK_SECRET in your shell before you run it."
        />
      )}
      {test !== undefined && <CopyButton text={test} label="Copy as test" isNamed />}
      {isEditing && (
        <EditDialog
          details={details}
          onClose={() => setEditing(false)}
          onStarted={(started) => {
            showToast({ kind: "done", text: "The edited copy was sent." });
            navigate(deliveryHash(started, readListRoute(route.value).filter));
          }}
        />
      )}
    </div>
  );
}

function isOffered(feature: ConsoleFeature): boolean {
  const info = session.value;
  return info?.signedIn === true && info.features.includes(feature);
}

/** Shows that a replay has started. A replay of the same delivery needs no link to itself. */
function showReplay(original: DeliveryDetails, started: ReplayStarted, text: string): void {
  if (keyText(original) === keyText(started)) {
    showToast({ kind: "done", text });
    return;
  }
  const { filter } = readListRoute(route.value);
  showToast({ kind: "done", text, link: { hash: deliveryHash(started, filter), label: "Show the new delivery" } });
}

/** The last edit that was not sent, so that closing the dialog by mistake loses nothing. */
let draft: { key: string; text: string } | undefined;

/** Edits the payload of a delivery and replays the copy. */
function EditDialog({
  details,
  onClose,
  onStarted,
}: {
  details: DeliveryDetails;
  onClose: () => void;
  onStarted: (started: ReplayStarted) => void;
}) {
  const { endpoint, id, body } = details;
  const key = keyText(details);
  const [original] = useState(() => (findSyntaxProblem(body) ? body : [...indentJson(body)].join("")));
  const [text, setText] = useState(() => (draft?.key === key ? draft.text : original));
  const [problem, setProblem] = useState<ApiFailure>();
  const [fields, setFields] = useState<readonly FieldProblem[]>([]);

  const change = (next: string) => {
    setFields((known) => (known.length === 0 ? known : keepUnchanged(known, { sent: text, current: next })));
    setText(next);
    draft = next === original ? undefined : { key, text: next };
  };
  const send = async () => {
    setProblem(undefined);
    setFields([]);
    if (findSyntaxProblem(text)) return;
    try {
      const request: EditedReplay = { endpoint, id, body: text };
      const started = await sendJson<ReplayStarted>("deliveries/replay-edited", request);
      draft = undefined;
      onClose();
      onStarted(started);
    } catch (error) {
      const failure = toApiFailure(error);
      setFields(failure.fields);
      setProblem(failure);
    }
  };
  const isInvalid = findSyntaxProblem(text) !== undefined;
  return (
    <Dialog title="Edit and replay" isWide onClose={onClose}>
      <p class="quiet">
        Sends a copy with this payload to <bdi>{endpoint}</bdi>. The original delivery does not change.
      </p>
      <JsonEditor label="Payload" value={text} fields={fields} onChange={change} onSubmit={() => void send()} />
      {problem && problem.fields.length === 0 && (
        <p class="problem" role="alert">
          <Text value={problem.message} />
        </p>
      )}
      <div class="dialog-actions">
        {text !== original && (
          <Button kind="ghost" onClick={() => change(original)}>
            Undo all changes
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" icon="replay" disabled={isInvalid} title="Ctrl+Enter or Command+Enter" onClick={send}>
          Replay edited copy
        </Button>
      </div>
    </Dialog>
  );
}
