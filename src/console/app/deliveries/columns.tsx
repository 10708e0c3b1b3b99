import type { ComponentChildren } from "preact";
import { escapeHidden } from "../../../core/text.ts";
import type { DeliverySummary } from "../../protocol/deliveries.ts";
import { isOffered } from "../api.ts";
import { formatCount, formatDuration } from "../format.ts";
import { formatRoute } from "../state.ts";
import { Countdown, Elapsed, Icon, isWebUrl, Moment, Text } from "../ui.tsx";
import { StatusLabel } from "./status.tsx";

export interface Column {
  id: string;
  label: string;
  /** A track of `grid-template-columns`. */
  width: string;
  /** The width of the list from which the column is shown, in pixels. Default: always, also in the cards of a phone. */
  from?: number;
  isNumber?: boolean;
  /** `hash` is the link to the delivery. */
  cell: (delivery: DeliverySummary, hash: string) => ComponentChildren;
}

/** The columns of the list, in their order. To add a column, add an entry. */
const columns: readonly Column[] = [
  { id: "status", label: "Status", width: "7.25rem", cell: ({ status }) => <StatusLabel status={status} /> },
  {
    id: "event",
    label: "Event",
    width: "minmax(9rem, 1.2fr)",
    // The link covers the row, so its tooltip is that of the row.
    cell: (delivery, hash) => {
      const { event } = delivery;
      const problem = problemOf(delivery);
      return (
        <a class="row-link" href={hash} title={problem && escapeHidden(problem)}>
          {event ? <Text value={`${event.scope} ${event.action}`} /> : "No Hub payload"}
        </a>
      );
    },
  },
  {
    id: "repository",
    label: "Repository",
    width: "minmax(9rem, 1.6fr)",
    cell: ({ repository, subject }) =>
      repository && (
        <span class="repository">
          <span>
            {repository.type !== "model" && <span class="quiet">{repository.type} </span>}
            <Text value={repository.name} />
          </span>{" "}
          {subject !== undefined && (
            <span class="subject">
              <Text value={subject} />
            </span>
          )}
          <RepositoryLink repository={repository} />
        </span>
      ),
  },
  {
    id: "endpoint",
    label: "Endpoint",
    width: "minmax(6rem, 0.9fr)",
    cell: ({ endpoint }) => <Text value={endpoint} />,
  },
  {
    id: "duration",
    label: "Duration",
    width: "5rem",
    from: 860,
    isNumber: true,
    cell: ({ status, startedAt, durationMs }) =>
      status === "running" && startedAt !== undefined ? (
        <Elapsed since={startedAt} />
      ) : (
        durationMs !== undefined && formatDuration(durationMs)
      ),
  },
  {
    id: "attempts",
    label: "Attempts",
    width: "4.5rem",
    from: 860,
    isNumber: true,
    cell: ({ attempts }) => formatCount(attempts),
  },
  {
    id: "next",
    label: "Next attempt or error",
    width: "minmax(8.5rem, 1.3fr)",
    from: 1_100,
    cell: (delivery) => {
      if (delivery.nextAttemptAt !== undefined) return <Countdown at={delivery.nextAttemptAt} />;
      const problem = problemOf(delivery);
      return problem !== undefined && <Text value={problem} />;
    },
  },
  { id: "time", label: "Time", width: "8.25rem", cell: ({ receivedAt }) => <Moment at={receivedAt} /> },
];

function problemOf({ status, error, ignoredReason }: DeliverySummary): string | undefined {
  return status === "dead" || status === "failed" ? error?.message : ignoredReason;
}

/** Below this width, the list shows cards of two lines. */
export const maxCardWidth = 700;

/** Selects the columns for a list of a width, in pixels. */
export function selectColumns(width: number): readonly Column[] {
  return columns.filter(({ from = 0 }) => width >= from);
}

/**
 * A small link to a repository: to the console's repositories if it has them, otherwise to the Hub. A Hub on this machine has
 * no pages, so there is no link to it.
 */
export function RepositoryLink({
  repository: { type, name, url },
}: {
  repository: NonNullable<DeliverySummary["repository"]>;
}) {
  if (isOffered("repositories")) {
    const label = `Open ${escapeHidden(name)} in Repositories`;
    return (
      <a
        class="repository-link"
        href={formatRoute("repositories/one", { type, name })}
        aria-label={label}
        title={label}
      >
        <Icon name="folder" />
      </a>
    );
  }
  if (url === undefined || !isWebUrl(url) || isLoopbackUrl(url)) return null;
  const label = `Open ${escapeHidden(name)} on the Hub`;
  return (
    <a class="repository-link" href={url} target="_blank" rel="noreferrer noopener" aria-label={label} title={label}>
      <Icon name="external" />
    </a>
  );
}

function isLoopbackUrl(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$|(^|\.)localhost$/.test(hostname);
}
