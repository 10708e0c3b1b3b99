import { useState } from "preact/hooks";
import { indentJson } from "../../../core/text.ts";
import type { WebhookPayload } from "../../../payload/schema.ts";
import type {
  ConsoleStatus,
  DeliveryDetails,
  DeliveryKey,
  EditedReplay,
  ReplayStarted,
} from "../../protocol/deliveries.ts";
import type { TestState } from "../../protocol/send.ts";
import type { FieldProblem } from "../../protocol/session.ts";
import { type ApiFailure, isOffered, type Query, sendJson, toApiFailure } from "../api.ts";
import { RepositoryLink } from "../deliveries/columns.tsx";
import { deliveryHash, keyText, readListRoute } from "../deliveries/filter.ts";
import { StatusLabel, statusLooks } from "../deliveries/status.tsx";
import { formatDuration } from "../format.ts";
import { JsonEditor } from "../json/editor.tsx";
import { findSyntaxProblem, keepUnchanged } from "../json/parse.ts";
import { useResource } from "../resource.ts";
import { formatRoute, navigate, route, showToast, useShortcut } from "../state.ts";
import { Button, Code, CopyableCode, CopyButton, Dialog, Moment, Problem, Text } from "../ui.tsx";
import { toCopiedTest, toCurl, toStateQuery } from "./copies.ts";
import { Facts, Pane, PaneContent, PayloadSection, RequestHeaders } from "./pane.tsx";
import { Timeline } from "./timeline.tsx";

export function DeliveryPane({ delivery: { endpoint, id }, onClose }: { delivery: DeliveryKey; onClose: () => void }) {
  const resource = useResource<DeliveryDetails>("deliveries/one", {
    query: { endpoint, id },
    features: ["deliveries", "endpoints"],
    isChanged: (key) => key.endpoint === endpoint && key.id === id,
  });
  return (
    <Pane title="Delivery" onClose={onClose}>
      <PaneContent
        resource={resource}
        goneTitle="This delivery is no longer stored"
        gone="Deliveries in memory are kept until the server restarts, and those of the inbox until their retention time ends."
      >
        {(details) => <Details details={details} onChange={resource.reload} />}
      </PaneContent>
    </Pane>
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

function DeliverySummaryHeader({ details }: { details: DeliveryDetails }) {
  const { status, event, repository, id, endpoint, receivedAt, ignoredReason, replayOf, origin } = details;
  const subject = isOffered("repositories") ? subjectOf(details.body) : undefined;
  return (
    <div class="delivery-summary">
      <p class="delivery-title">
        <StatusLabel status={status} />
        <strong>{event ? <Text value={`${event.scope} ${event.action}`} /> : "No Hub payload"}</strong>
      </p>
      <p class="quiet">
        {ignoredReason !== undefined ? <Text value={`Ignored: ${ignoredReason}`} /> : statusLooks[status].description}
      </p>
      <Failure details={details} />
      <Facts
        facts={{
          Repository: repository && (
            <>
              <Text value={`${repository.type} ${repository.name}`} />
              <RepositoryLink repository={repository} />
            </>
          ),
          About: repository && subject && (
            <a
              href={formatRoute("repositories/one", {
                type: repository.type,
                name: repository.name,
                ...subject.part,
              })}
            >
              {subject.label}
            </a>
          ),
          Endpoint: <Text value={endpoint} />,
          Origin: origin,
          Received: <Moment at={receivedAt} />,
          ID: <CopyableCode value={id} label="Copy ID" />,
          "Copy of": replayOf !== undefined && (
            <a href={deliveryHash({ endpoint, id: replayOf }, readListRoute(route.value).filter)}>
              <Text value={replayOf} />
            </a>
          ),
        }}
      />
    </div>
  );
}

/** Returns the discussion or the commit that a payload is about, as a part of its repository in the console. */
export function subjectOf(
  body: string,
): { label: string; part: Readonly<Record<string, string | number>> } | undefined {
  try {
    const { discussion, updatedRefs }: Partial<WebhookPayload> = JSON.parse(body);
    const { num, isPullRequest } = discussion ?? {};
    if (typeof num === "number") {
      return { label: `${isPullRequest ? "pull request" : "discussion"} #${num}`, part: { part: "discussions", num } };
    }
    const commit = updatedRefs?.findLast(({ newSha }) => typeof newSha === "string")?.newSha;
    return commit ? { label: `commit ${commit.slice(0, 7)}`, part: { part: "commits", commit } } : undefined;
  } catch {
    // Not a payload of the Hub.
    return undefined;
  }
}

const failedStatuses: readonly ConsoleStatus[] = ["failed", "dead", "retrying"];

/** The error of the last attempt and where the user's code threw it, because the attempts can be below the fold. */
function Failure({ details: { status, error, failedAt } }: { details: DeliveryDetails }) {
  if (!error || !failedStatuses.includes(status)) return null;
  return (
    <div class="failure">
      <p class="problem">
        <code>{error.code}</code> <Text value={error.message} />
      </p>
      {failedAt !== undefined && (
        <p class="quiet">
          at <Code value={failedAt} />
        </p>
      )}
    </div>
  );
}

const replayButtonId = "replay-delivery";

function DeliveryActions({ details }: { details: DeliveryDetails }) {
  const { endpoint, id, status, storage, body, bodyLength, url } = details;
  const [isEditing, setEditing] = useState(false);
  const isCut = bodyLength !== undefined;
  // A delivery with attempts left runs again without a replay, and a delivery in memory cannot be stopped.
  const canDiscard = storage === "inbox" && ["queued", "retrying", "dead"].includes(status);
  const canReplay = status !== "running" && status !== "queued";
  const test = isCut ? undefined : toCopiedTest(details);

  const replay = async () => showReplay(details, await sendJson("deliveries/replay", { endpoint, id }));
  const discard = async () => {
    await sendJson("deliveries/discard", { endpoint, id });
    showToast({ kind: "done", text: "The delivery is discarded. Replay it to run it after all." });
  };
  useShortcut("r", () => {
    if (!canReplay) return false;
    // The button shows that the replay is pending, and ignores the key until then.
    document.getElementById(replayButtonId)?.click();
  });
  useShortcut("e", () => {
    if (isCut) return false;
    setEditing(true);
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
      {test !== undefined && <CopyTest details={details} test={test} />}
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

/** Copies a test, which creates the files and the discussion of the delivery first if the local Hub has them. */
function CopyTest({ details, test }: { details: DeliveryDetails; test: string }) {
  const query = isOffered("repositories") ? toStateQuery(details.body) : undefined;
  if (query) return <CopyHubTest details={details} test={test} query={query} />;
  return <CopyButton text={test} label="Copy as test" isNamed />;
}

function CopyHubTest({ details, test, query }: { details: DeliveryDetails; test: string; query: Query }) {
  const { data: state } = useResource<TestState>("recording/state", { query });
  return <CopyButton text={() => toCopiedTest({ ...details, state }) ?? test} label="Copy as test" isNamed />;
}

/** Shows that a replay has started. A replay of the same delivery needs no link to itself. */
function showReplay(original: DeliveryDetails, started: ReplayStarted): void {
  const hash = deliveryHash(started, readListRoute(route.value).filter);
  const isOther = keyText(original) !== keyText(started);
  const link = isOther && { link: { hash, label: "Show the new delivery" } };
  showToast({ kind: "done", text: "The delivery runs again.", ...link });
}

/** The last edit that was not sent, so that closing the dialog by mistake loses nothing. */
let draft: { key: string; text: string } | undefined;

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
      <JsonEditor label="Payload" value={text} fields={fields} onChange={change} submitId="replay-edited" />
      <Problem text={problem?.fields.length === 0 ? problem.message : undefined} />
      <div class="dialog-actions">
        {text !== original && (
          <Button kind="ghost" onClick={() => change(original)}>
            Undo all changes
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button
          id="replay-edited"
          kind="primary"
          icon="replay"
          disabled={isInvalid}
          title="Ctrl+Enter or Command+Enter"
          onClick={send}
        >
          Replay edited copy
        </Button>
      </div>
    </Dialog>
  );
}

function StorageNote({ details: { storage, retentionMs, recordsDetails } }: { details: DeliveryDetails }) {
  return (
    <footer class="storage-note quiet">
      <p>
        {storage === "memory"
          ? "Kept in memory until the server restarts or newer deliveries replace it: at most 500 runs or 16 MiB."
          : retentionMs === undefined
            ? "Kept in the inbox."
            : `Kept in the inbox for ${formatDuration(retentionMs, { unit: "s" })} after it finishes.`}
      </p>
      <p>
        {recordsDetails
          ? "Each attempt keeps up to 16 KiB of its log, result, and stack. Set recordDetails to false to keep none."
          : "Log, result, and stack are not kept, because recordDetails is false."}
      </p>
    </footer>
  );
}
