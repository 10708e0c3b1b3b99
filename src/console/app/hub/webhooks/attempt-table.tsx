import type {
  AttemptDetails,
  AttemptSummary,
  ReplayResult,
  WebhookDetails,
  WebhookInfo,
} from "../../../protocol/hub.ts";
import { sendJson } from "../../api/client.ts";
import { PayloadSection } from "../../delivery/payload-section.tsx";
import { RequestHeaders } from "../../delivery/request-headers.tsx";
import { formatCount, formatDuration } from "../../format.ts";
import { JsonTree } from "../../json/tree.tsx";
import { useResource } from "../../state/resource.ts";
import { formatRoute } from "../../state/route.ts";
import { showToast } from "../../state/toasts.ts";
import { Button, Icon, Moment, Text } from "../../ui.tsx";
import { Facts, PaneContent, Section } from "../list-page.tsx";

/** The attempts of a webhook, newest first. The one that is open shows its request and response. */
export function AttemptTable({
  webhook: { id, attempts },
  openLogId,
  search,
}: {
  webhook: WebhookDetails;
  openLogId: string | undefined;
  search: string;
}) {
  return (
    <ol class="attempts">
      {attempts.map((attempt) => {
        const { logId } = attempt;
        const isOpen = logId === openLogId;
        return (
          <li key={logId}>
            <a
              class="attempt-line"
              aria-expanded={isOpen}
              href={formatRoute("webhooks/one", { id, search, ...(!isOpen && { log: logId }) })}
            >
              <AttemptLine attempt={attempt} />
            </a>
            {isOpen && <Attempt webhookId={id} logId={logId} search={search} />}
          </li>
        );
      })}
    </ol>
  );
}

function AttemptLine({ attempt }: { attempt: AttemptSummary }) {
  const { event, repository, attempt: number, durationMs, at } = attempt;
  return (
    <>
      <AttemptOutcome attempt={attempt} />
      <span class="attempt-event">
        {event ? <Text value={`${event.scope} ${event.action}`} /> : "No Hub payload"}{" "}
        {repository && (
          <span class="quiet">
            <Text value={`${repository.type}:${repository.name}`} />
          </span>
        )}
      </span>
      <span class="quiet attempt-time">
        {number > 1 && `attempt ${number}, `}
        {formatDuration(durationMs)}, <Moment at={at} />
      </span>
    </>
  );
}

function Attempt({ webhookId, logId, search }: { webhookId: string; logId: string; search: string }) {
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
            <AttemptActions webhookId={webhookId} attempt={attempt} search={search} />
            <Facts
              facts={[
                ["Sent to", <Text value={attempt.url} />],
                ["Delivery", <code>{attempt.deliveryId}</code>],
                ["Attempt", attempt.attempt],
              ]}
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

function AttemptActions({
  webhookId,
  attempt: { logId, request },
  search,
}: {
  webhookId: string;
  attempt: AttemptDetails;
  search: string;
}) {
  const replay = async () => {
    const result = await sendJson<ReplayResult>("webhooks/replay", { id: webhookId, logId });
    const hash = formatRoute("webhooks/one", { id: webhookId, search, log: result.logId });
    showToast({
      kind: result.error === undefined ? "done" : "failed",
      text:
        result.error === undefined ? `Replayed. The receiver returned ${result.status}.` : `Replayed: ${result.error}`,
      link: { hash, label: "Show the attempt" },
    });
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
