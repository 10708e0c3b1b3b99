import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { escapeHidden, readJson } from "../../../core/text.ts";
import type { LogLevel, LogLine, LogList } from "../../protocol/session.ts";
import { type ApiFailure, getJson, subscribe, toApiFailure } from "../api.ts";
import { deliveryHash } from "../deliveries/filter.ts";
import { formatRoute, navigate, route } from "../state.ts";
import { Button, EmptyState, FailureState, Moment, Select, Text } from "../ui.tsx";
import "./dev.css";

/** How close to the end the list must be to follow new lines, in pixels. */
const followDistance = 40;

/** The lines that the server logged and printed in this session, newest last. */
export function LogsView() {
  const { lines, failure, reload } = useLines();
  const filter = readLogFilter(route.value.query);
  const shown = filterLines(lines, filter);
  const list = useRef<HTMLOListElement>(null);
  const isFollowing = useRef(true);
  useLayoutEffect(() => {
    const element = list.current;
    if (element && isFollowing.current) element.scrollTop = element.scrollHeight;
  });
  if (failure && lines.length === 0) return <FailureState failure={failure} onRetry={reload} />;
  const change = (changed: Record<string, string | undefined>) =>
    navigate(formatRoute("logs", { ...route.value.query, ...changed }), { replace: true });

  return (
    <section class="logs" aria-labelledby="logs-title">
      <header class="logs-header">
        <h1 id="logs-title">Logs</h1>
        <Select
          aria-label="Lowest level"
          value={filter.level}
          options={levelLooks.map(({ level, label }) => [level, label])}
          onChange={(level) => change({ level })}
        />
        <label class="logs-search">
          <span class="visually-hidden">Search</span>
          <input
            type="search"
            class="input"
            placeholder="Filter"
            value={filter.search}
            onInput={(event) => change({ search: event.currentTarget.value })}
          />
        </label>
        {filter.deliveryId !== undefined && (
          <Button icon="close" onClick={() => change({ deliveryId: undefined })}>
            Delivery {filter.deliveryId.slice(0, 8)}
          </Button>
        )}
      </header>
      {shown.length === 0 ? (
        <EmptyState title={lines.length === 0 ? "No log lines yet" : "No line matches the filters"}>
          <p>
            {lines.length === 0
              ? "Lines appear here when a delivery arrives, or when a handler calls context.log or prints something."
              : "Choose a lower level, or remove the search."}
          </p>
        </EmptyState>
      ) : (
        <ol
          ref={list}
          class="log-list"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: A list that scrolls must be reachable with the keyboard.
          tabIndex={0}
          aria-label="Log lines, newest last"
          onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
            isFollowing.current = scrollHeight - scrollTop - clientHeight < followDistance;
          }}
        >
          {shown.map((line) => (
            <LogRow key={line.sequence} line={line} />
          ))}
        </ol>
      )}
    </section>
  );
}

function useLines(): { lines: readonly LogLine[]; failure: ApiFailure | undefined; reload: () => void } {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [failure, setFailure] = useState<ApiFailure>();
  const reload = useRef(() => {});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    reload.current = async () => {
      try {
        const list = await getJson<LogList>("logs", { signal });
        setLines((known) => addLines(known, list.lines));
        setFailure(undefined);
      } catch (error) {
        if (!signal.aborted) setFailure(toApiFailure(error));
      }
    };
    const unsubscribe = subscribe({
      opened: () => reload.current(),
      messages: (messages) => {
        const added = messages.flatMap((message) => (message.type === "logs" ? message.lines : []));
        if (added.length > 0) setLines((known) => addLines(known, added));
      },
    });
    reload.current();
    return () => {
      controller.abort();
      unsubscribe();
    };
  }, []);
  return { lines, failure, reload: () => reload.current() };
}

/** One line of the log. Its other fields open below it. */
function LogRow({ line }: { line: LogLine }) {
  const { at, level, message, fields, endpoint, deliveryId } = line;
  const text = (
    <>
      <Text value={message} />
      {fields !== undefined && (
        <span class="log-summary">
          <Text value={summarizeFields(fields)} />
        </span>
      )}
    </>
  );
  return (
    <li class="log-line" data-level={level}>
      <Moment at={at} />
      <span class="log-level">{level}</span>
      {fields === undefined ? (
        <span class="log-message">{text}</span>
      ) : (
        <details class="log-message">
          <summary>{text}</summary>
          <pre>
            <Text value={indent(fields)} />
          </pre>
        </details>
      )}
      {endpoint !== undefined && deliveryId !== undefined && (
        <a
          class="log-delivery"
          href={deliveryHash({ endpoint, id: deliveryId })}
          title={`Delivery ${escapeHidden(deliveryId)}`}
        >
          <Text value={endpoint} />
        </a>
      )}
    </li>
  );
}

function indent(json: string): string {
  const value = readJson(json);
  // The session cuts long fields.
  return value === undefined ? json : JSON.stringify(value, null, 2);
}

interface LogFilter {
  /** The lowest level to show. Lines that are not from the logger count as `info`. */
  level: Exclude<LogLevel, "output">;
  deliveryId: string | undefined;
  search: string;
}

/** The levels, from the least to the most severe. */
const levelLooks = [
  { level: "debug", label: "Debug and above" },
  { level: "info", label: "Info and above" },
  { level: "warn", label: "Warnings and errors" },
  { level: "error", label: "Errors" },
] as const satisfies readonly { level: LogFilter["level"]; label: string }[];

const severities: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, output: 1, warn: 2, error: 3 };

export function readLogFilter(query: Readonly<Record<string, string>>): LogFilter {
  const level = levelLooks.find(({ level }) => level === query.level)?.level ?? "debug";
  return { level, deliveryId: query.deliveryId, search: query.search ?? "" };
}

export function filterLines(lines: readonly LogLine[], { level, deliveryId, search }: LogFilter): readonly LogLine[] {
  const wanted = search.trim().toLowerCase();
  return lines.filter(
    (line) =>
      severities[line.level] >= severities[level] &&
      (deliveryId === undefined || line.deliveryId === deliveryId) &&
      (wanted === "" || `${line.message} ${line.fields ?? ""} ${line.endpoint ?? ""}`.toLowerCase().includes(wanted)),
  );
}

/** The maximum number of lines that the page keeps. The session keeps as many. */
const maxLines = 2_000;

/** Adds lines to those that are known. Live lines can arrive before earlier ones have loaded. */
export function addLines(known: readonly LogLine[], added: readonly LogLine[]): readonly LogLine[] {
  const lines = new Map([...known, ...added].map((line) => [line.sequence, line]));
  return [...lines.values()].sort((one, other) => one.sequence - other.sequence).slice(-maxLines);
}

/** The maximum length of the summary of a line's fields. */
const maxSummary = 200;

/** Returns the fields of a line on one line, such as `status=200 ms=4.1`. Objects and long values are left out. */
function summarizeFields(json: string): string {
  const fields = readJson(json);
  if (typeof fields !== "object" || fields === null) return "";
  return Object.entries(fields)
    .filter(([, value]) => typeof value !== "object" && String(value).length <= 80)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(" ")
    .slice(0, maxSummary);
}
