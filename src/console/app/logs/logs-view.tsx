import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LogLine, LogList } from "../../protocol/dev.ts";
import { getJson } from "../api/client.ts";
import { type ApiFailure, toApiFailure } from "../api/failure.ts";
import { subscribe } from "../api/stream.ts";
import { Button } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FailureState } from "../components/failure-state.tsx";
import { formatRoute, navigate, route } from "../state/route.ts";
import { addLines, filterLines, levelLooks, readLogFilter } from "./log-filter.ts";
import { LogRow } from "./log-line.tsx";
import "./logs.css";

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
        <label>
          <span class="visually-hidden">Lowest level</span>
          <select
            class="select"
            value={filter.level}
            onChange={(event) => change({ level: event.currentTarget.value })}
          >
            {levelLooks.map(({ level, label }) => (
              <option key={level} value={level}>
                {label}
              </option>
            ))}
          </select>
        </label>
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
    const { signal, abort } = createAbort();
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
      abort();
      unsubscribe();
    };
  }, []);
  return { lines, failure, reload: () => reload.current() };
}

function createAbort(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
