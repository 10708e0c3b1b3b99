import {
  type CountedStatus,
  countedStatuses,
  type InboxEndpoint,
  type InboxInfo,
  type InboxLocation,
} from "../../protocol/inbox.ts";
import { listHash } from "../deliveries/filter.ts";
import { statusLooks } from "../deliveries/status.tsx";
import { Facts } from "../delivery/pane.tsx";
import { formatCompact, formatDuration, formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { formatRoute } from "../state.ts";
import { Code, Command, CopyableCode, EmptyState, Loaded, Message, StateLabel, type StateLook, Text } from "../ui.tsx";
import "./inbox.css";

const refreshMs = 10_000;

export function InboxView() {
  const resource = useResource<InboxInfo>("inbox", { features: ["inbox"], refreshMs });
  const contents = resource.data?.contents;
  return (
    <div class="page inbox">
      <header class="page-header">
        <h1>Inbox</h1>
        {contents && <Actions contents={contents} />}
      </header>
      <Loaded resource={resource}>
        {(inbox) =>
          inbox.state === "unused" ? (
            <NoBackground location={inbox.location} />
          ) : (
            <>
              <InboxCard inbox={inbox} />
              {inbox.contents && <InboxTable endpoints={inbox.contents.endpoints} />}
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Actions({ contents: { endpoints } }: { contents: NonNullable<InboxInfo["contents"]> }) {
  return (
    <>
      {endpoints.some(({ counts }) => counts.dead > 0) && (
        <a class="button" href={listHash({ status: "dead" })}>
          Replay dead
        </a>
      )}
      <a class="button" href={formatRoute("endpoints")}>
        Pause or resume
      </a>
    </>
  );
}

function InboxCard({ inbox: { state, location, problems, warnings, recordsDetails } }: { inbox: InboxInfo }) {
  const { engine, address, api, database, namespace, keptUntil } = location;
  return (
    <section class="card inbox-card" aria-label="Storage">
      <header class="inbox-title">
        <h2>{engineNames[engine]}</h2>
        <StateLabel {...stateLooks[state]} />
        {keptUntil !== undefined && <StateLabel {...keptLooks[keptUntil]} />}
        {address !== undefined && (
          <div class="endpoint-url inbox-address">
            <CopyableCode value={address} label="Copy location" />
          </div>
        )}
      </header>
      <Facts
        class="inbox-facts"
        facts={{
          Database: database !== undefined && <Text value={database} />,
          [engine === "redis" ? "Key prefix" : "Schema"]: namespace !== undefined && <Text value={namespace} />,
          "S3 API": api !== undefined && <Text value={api} />,
          Recorded: describeDetails(recordsDetails),
        }}
      />
      {problems.map(({ code, severity, message }) => (
        <p key={`${code} ${message}`} class={severity === "unavailable" ? "problem" : "notice notice-warning"}>
          <code>{code}</code> <Message text={message} />
        </p>
      ))}
      {warnings.map((warning) => (
        <p key={warning} class="notice notice-warning">
          <Message text={warning} />
        </p>
      ))}
    </section>
  );
}

const example = `server.webhook("retrain", { scope: "repo.content", background: true }, ({ repo }) => repo.name);`;

/** Replaces the inbox of a server without background endpoints: explains when to use one. */
function NoBackground({ location: { engine, address } }: { location: InboxLocation }) {
  return (
    <EmptyState title="No endpoint runs in the background">
      <p>
        An inbox stores a delivery before its handler runs. The server answers the Hub at once, so the handler can take
        longer than 30 s. Failed deliveries are retried, also after a restart, and dead ones can be replayed.
      </p>
      <p>To use the inbox, add an option to an endpoint, and restart the server:</p>
      <Command text={example} />
      <p>
        Deliveries are then stored in: {engineNames[engine]}
        {address !== undefined && (
          <>
            {" "}
            <Code value={address} />
          </>
        )}
        . To use another place, set <code>INBOX_URL</code>.
      </p>
    </EmptyState>
  );
}

/** The number of deliveries by endpoint and status. Each number links to its deliveries. */
function InboxTable({ endpoints }: { endpoints: readonly InboxEndpoint[] }) {
  return (
    <div class="table-frame">
      <table class="table inbox-table">
        <caption class="visually-hidden">{formatPlural(endpoints.length, "endpoint", "endpoints")}</caption>
        <thead>
          <tr>
            <th scope="col">Endpoint</th>
            {countedStatuses.map((status) => (
              <th key={status} scope="col" class="number" title={statusLooks[status].description}>
                {statusLooks[status].label}
              </th>
            ))}
            <th scope="col" class="number">
              Kept for
            </th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow key={endpoint.name} endpoint={endpoint} />
          ))}
        </tbody>
        {endpoints.length > 1 && <Totals endpoints={endpoints} />}
      </table>
    </div>
  );
}

function EndpointRow({ endpoint }: { endpoint: InboxEndpoint }) {
  const { name, counts, isPaused, isServed } = endpoint;
  const isWaiting = !isServed && counts.queued + counts.running > 0;
  const retention = describeRetention(endpoint);
  return (
    <tr>
      <th scope="row">
        <span class="inbox-name">
          <Text value={name} />
          {isPaused && <StateLabel label="Paused" color="retry" icon="pause" />}
          {!isServed && (
            <StateLabel
              label="Not on this server"
              color={isWaiting ? "retry" : "quiet"}
              icon="help"
              title={isWaiting ? "Its deliveries wait until a server runs the endpoint in the background." : undefined}
            />
          )}
        </span>
      </th>
      {countedStatuses.map((status) => (
        <Count key={status} status={status} count={counts[status]} endpoint={name} />
      ))}
      <td class="number quiet" title={retention?.title}>
        {retention?.text ?? "–"}
      </td>
    </tr>
  );
}

function Totals({ endpoints }: { endpoints: readonly InboxEndpoint[] }) {
  return (
    <tfoot>
      <tr>
        <th scope="row">All endpoints</th>
        {countedStatuses.map((status) => (
          <Count key={status} status={status} count={endpoints.reduce((sum, { counts }) => sum + counts[status], 0)} />
        ))}
        <td />
      </tr>
    </tfoot>
  );
}

/** A number that links to the deliveries of an endpoint, or of all endpoints. */
function Count({ status, count, endpoint }: { status: CountedStatus; count: number; endpoint?: string }) {
  return (
    <td class="number">
      {count === 0 ? (
        <span class="quiet">0</span>
      ) : (
        <a
          class={status === "dead" ? "bad" : undefined}
          href={listHash({ ...(endpoint !== undefined && { endpoint }), status })}
        >
          {formatCompact(count)}
        </a>
      )}
    </td>
  );
}

const stateLooks: Readonly<Record<InboxInfo["state"], StateLook>> = {
  open: { label: "Open", color: "good", icon: "succeeded" },
  degraded: { label: "Degraded", color: "retry", icon: "dead" },
  unavailable: { label: "Unavailable", color: "bad", icon: "failed" },
  opening: { label: "Opening", color: "quiet", icon: "queued" },
  closed: { label: "Closed", color: "quiet", icon: "cancelled" },
  unused: { label: "Not used", color: "quiet", icon: "ignored" },
};

const keptLooks: Readonly<Record<NonNullable<InboxLocation["keptUntil"]>, StateLook>> = {
  retention: { label: "Survives process restarts", color: "good", icon: "succeeded" },
  "space-restart": { label: "Erased when the Space restarts", color: "bad", icon: "dead" },
  "process-exit": { label: "Lost when the process exits", color: "retry", icon: "dead" },
};

const engineNames: Readonly<Record<InboxLocation["engine"], string>> = {
  sqlite: "SQLite file",
  bucket: "SQLite in a bucket",
  redis: "Redis",
  postgres: "PostgreSQL",
  memory: "Memory",
  custom: "The program's own inbox",
  unknown: "Unknown inbox",
};

export function describeDetails(recordsDetails: boolean): string {
  return recordsDetails
    ? "Headers, log lines, results, and stacks"
    : "No headers, log lines, results, or stacks, because recordDetails is false";
}

/** Describes how long a finished delivery of an endpoint is kept, or returns `undefined` if another server decides it. */
export function describeRetention({
  retentionMs,
  idRetentionMs,
}: InboxEndpoint): { text: string; title: string } | undefined {
  if (retentionMs === undefined || idRetentionMs === undefined) return undefined;
  const text = formatDuration(retentionMs, { unit: "s" });
  const ids = formatDuration(idRetentionMs, { unit: "s" });
  return { text, title: `Kept ${text} after it finishes. Its ID is kept ${ids}, to detect duplicates.` };
}
