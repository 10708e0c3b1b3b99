import { useState } from "preact/hooks";
import type {
  ActivityBar,
  ActivityWindow,
  EndpointInfo,
  EndpointList,
  RegistrationInfo,
} from "../../protocol/deliveries.ts";
import { isOffered, sendJson } from "../api.ts";
import { listHash } from "../deliveries/filter.ts";
import { Facts } from "../delivery/pane.tsx";
import { formatCompact, formatCount, formatDuration, formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { formatRoute, showToast } from "../state.ts";
import {
  Button,
  Code,
  Command,
  CopyButton,
  EmptyState,
  isWebUrl,
  Loaded,
  loadedLater,
  Message,
  Moment,
  StateLabel,
  Text,
  UrlText,
} from "../ui.tsx";
import {
  type ActivityKind,
  countBars,
  describeBars,
  describeFilter,
  findSharedMessage,
  registrationLooks,
  sumBars,
  toHeights,
  windowLooks,
} from "./endpoints-model.ts";
import "./endpoints.css";

const refreshMs = 10_000;
const ChecksPanel = loadedLater(async () => (await import("./checks-panel.tsx")).ChecksPanel);
const Refused = loadedLater(async () => (await import("./checks-panel.tsx")).Refused);
const windows = Object.keys(windowLooks).filter((name): name is ActivityWindow => Object.hasOwn(windowLooks, name));

export function EndpointsView() {
  const [window, setWindow] = useState<ActivityWindow>("1h");
  const [isChecking, setChecking] = useState(false);
  const resource = useResource<EndpointList>("endpoints", { features: ["endpoints"], refreshMs });
  return (
    <div class="page">
      <header class="page-header">
        <h1>Endpoints</h1>
        <fieldset class="segments">
          <legend class="visually-hidden">Activity</legend>
          {windows.map((name) => (
            <button key={name} type="button" aria-pressed={name === window} onClick={() => setWindow(name)}>
              {windowLooks[name].label}
            </button>
          ))}
        </fieldset>
        <Button pressed={isChecking} onClick={() => setChecking(!isChecking)}>
          Check the server
        </Button>
      </header>
      {isChecking && <ChecksPanel />}
      <Loaded resource={resource}>
        {(list) => <EndpointCards list={list} window={window} onChange={resource.reload} />}
      </Loaded>
    </div>
  );
}

function EndpointCards({
  list: { endpoints, startedAt, refused },
  window,
  onChange,
}: {
  list: EndpointList;
  window: ActivityWindow;
  onChange: () => void;
}) {
  const refusedPart = refused.length > 0 && <Refused refused={refused} />;
  if (endpoints.length === 0) {
    return (
      <>
        {refusedPart}
        <NoEndpoints />
      </>
    );
  }
  const sharedMessage = findSharedMessage(endpoints);
  return (
    <>
      {sharedMessage !== undefined && (
        <p class="notice endpoints-notice">
          <strong>{registrationLooks.unknown.label}.</strong> <Message text={sharedMessage} />
        </p>
      )}
      {refusedPart}
      <div class="endpoints">
        {endpoints.map((endpoint) => (
          <EndpointCard
            key={endpoint.name}
            endpoint={endpoint}
            hidesMessage={sharedMessage !== undefined}
            window={window}
            onChange={onChange}
          />
        ))}
      </div>
      <p class="quiet endpoints-note">
        Each bar is {windowLooks[window].bar}. Activity is counted since the server started, <Moment at={startedAt} />.
      </p>
    </>
  );
}

const example = `server.webhook("retrain", { scope: "repo.content" }, ({ repo }) => repo.name);`;

function NoEndpoints() {
  return (
    <EmptyState title="No endpoints yet">
      <p>Add an endpoint to your server file, and restart the server:</p>
      <Command text={example} />
    </EmptyState>
  );
}

interface EndpointCardProps {
  endpoint: EndpointInfo;
  /** Whether the view shows the message of the registration, because it is that of each endpoint. */
  hidesMessage: boolean;
  window: ActivityWindow;
  onChange: () => void;
}

function EndpointCard({ endpoint, hidesMessage, window, onChange }: EndpointCardProps) {
  const { name, url, background, isPaused, activity } = endpoint;
  const label = windowLooks[window].label;
  return (
    <article class="card endpoint" aria-label={name}>
      <header class="endpoint-header">
        <h2>
          <Text value={name} />
        </h2>
        <span class="tag">{background ? "background" : "inline"}</span>
        {isPaused && <StateLabel label="Paused" color="retry" icon="pause" />}
        <span class="endpoint-actions">
          <a class="button" href={listHash({ endpoint: name })}>
            Deliveries
          </a>
          {background && <PauseButton name={name} isPaused={isPaused} onChange={onChange} />}
        </span>
      </header>
      <div class="endpoint-url">
        <code>
          <UrlText value={url} />
        </code>
        <CopyButton text={url} label="Copy URL" />
      </div>
      <Registration endpoint={endpoint} hidesMessage={hidesMessage} />
      <div class="endpoint-activity">
        <ActivityChart bars={activity[window]} kind="deliveries" window={label} />
        <ActivityChart bars={activity[window]} kind="attempts" window={label} />
      </div>
      <EndpointFacts endpoint={endpoint} />
    </article>
  );
}

/** The state of the webhook on the Hub and of the secret, each with what to do next. */
function Registration({
  endpoint: { registration, secret },
  hidesMessage,
}: {
  endpoint: EndpointInfo;
  hidesMessage: boolean;
}) {
  return (
    <div class="registration">
      {registration && (
        <div class="registration-state">
          <StateLabel {...registrationLooks[registration.state]} />
          <WebhookLink registration={registration} />
          {registration.message !== undefined && !hidesMessage && (
            <p class="quiet">
              <Message text={registration.message} />
            </p>
          )}
          {registration.state === "url-differs" && registration.url !== undefined && (
            <p class="quiet">
              The webhook sends to <Code value={registration.url} />
            </p>
          )}
        </div>
      )}
      <div class="registration-state">
        {secret === "set" ? (
          <StateLabel label="Secret set" color="good" icon="succeeded" />
        ) : (
          <>
            <StateLabel label="No secret" color="bad" icon="failed" />
            <p class="quiet">
              Anyone can send deliveries. Set <code>WEBHOOK_SECRET</code> on the server and on the webhook.
            </p>
          </>
        )}
      </div>
    </div>
  );
}

/** Links to the webhook: in a dev session, to the view of the local Hub, which needs no other sign-in. */
function WebhookLink({ registration: { webhookId, settingsUrl } }: { registration: RegistrationInfo }) {
  if (webhookId === undefined || settingsUrl === undefined) return null;
  if (isOffered("webhooks")) return <a href={formatRoute("webhooks/one", { id: webhookId })}>Webhook</a>;
  if (!isWebUrl(settingsUrl)) return <>Webhook settings</>;
  return (
    <a class="external" href={settingsUrl} target="_blank" rel="noreferrer noopener">
      Webhook settings<span class="visually-hidden"> (opens in a new tab)</span>
    </a>
  );
}

const height = 28;
const barWidth = 6;
const gap = 2;

/** Small bars with failures in red, beside the sums. */
function ActivityChart({
  bars,
  kind,
  window,
}: {
  bars: readonly ActivityBar[];
  kind: ActivityKind;
  /** The window in words, such as `1 h`. */
  window: string;
}) {
  const counted = countBars(bars, kind);
  const sum = sumBars(counted);
  const width = bars.length * (barWidth + gap) - gap;
  return (
    <figure class="activity">
      <figcaption>
        {kind === "deliveries" ? "Deliveries" : "Attempts"} <strong>{formatCompact(sum.total)}</strong>
        {sum.failed > 0 && <span class="bad"> · {formatCompact(sum.failed)} failed</span>}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${describeBars(sum, kind)} in ${window}`}
        preserveAspectRatio="none"
      >
        {toHeights(counted).map(({ good, bad }, index) => {
          const x = index * (barWidth + gap);
          const [goodHeight, badHeight] = [toPixels(good), toPixels(bad)];
          return (
            <g key={index}>
              <rect class="bar-base" x={x} y={height - 1} width={barWidth} height={1} />
              <rect class="bar-good" x={x} y={height - goodHeight - badHeight} width={barWidth} height={goodHeight} />
              <rect class="bar-bad" x={x} y={height - badHeight} width={barWidth} height={badHeight} />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

/** Even one delivery among thousands is visible. */
function toPixels(part: number): number {
  return part === 0 ? 0 : Math.max(2, Math.round(part * (height - 2)));
}

function EndpointFacts({ endpoint }: { endpoint: EndpointInfo }) {
  const { name, handlerTime, queue, today, last, catchUp } = endpoint;
  return (
    <Facts
      class="endpoint-facts"
      facts={{
        Filter: describeFilter(endpoint).map((text) => (
          <p key={text}>
            <Text value={text} />
          </p>
        )),
        "Handler time": handlerTime ? (
          <span title={`Of the latest ${formatPlural(handlerTime.runs, "run", "runs")}`}>
            p50 {formatDuration(handlerTime.p50)} · p95 {formatDuration(handlerTime.p95)}
          </span>
        ) : (
          "No runs yet"
        ),
        Queue: queue && (
          <>
            {formatCount(queue.queued)} queued · {formatCount(queue.running)} running
            {queue.dead > 0 && (
              <>
                {" · "}
                <a class="bad" href={listHash({ endpoint: name, status: "dead" })}>
                  {formatCount(queue.dead)} dead
                </a>
              </>
            )}
          </>
        ),
        "Last 24 h": <Today {...today} />,
        "Last delivery": last ? (
          <>
            <Text value={last.status} /> · <Moment at={last.at} />
          </>
        ) : (
          "None yet"
        ),
        "Catch-up": catchUp && (
          <>
            {formatCount(catchUp.derived)} derived · {formatCount(catchUp.remaining)} remaining
          </>
        ),
        Compared: catchUp?.comparedAt && <Moment at={catchUp.comparedAt} />,
      }}
    />
  );
}

/** The share of the limit from which the count is shown as a warning. */
const warningShare = 0.8;

function Today({ deliveries, limit }: EndpointInfo["today"]) {
  const color = deliveries >= limit ? "bad" : deliveries >= limit * warningShare ? "retry" : "quiet";
  return (
    <>
      {formatCount(deliveries)} of {formatCount(limit)}{" "}
      <meter
        class="meter"
        data-color={color}
        min={0}
        max={limit}
        value={Math.min(deliveries, limit)}
        aria-label="Deliveries in the last 24 hours, against the Hub's daily limit"
      />
      {color !== "quiet" && (
        <span class="limit-note" data-color={color}>
          {deliveries >= limit ? "The Hub's daily limit is reached." : "Close to the Hub's daily limit."}
        </span>
      )}
    </>
  );
}

export function PauseButton({ name, isPaused, onChange }: { name: string; isPaused: boolean; onChange: () => void }) {
  const change = async () => {
    await sendJson(`endpoints/${isPaused ? "resume" : "pause"}`, { endpoint: name });
    showToast({
      kind: "done",
      text: isPaused
        ? `${name} is resumed.`
        : `${name} is paused. New deliveries are stored and wait until you resume it.`,
    });
    onChange();
  };
  return (
    <Button icon={isPaused ? "play" : "pause"} onClick={change}>
      {isPaused ? "Resume" : "Pause"}
    </Button>
  );
}
