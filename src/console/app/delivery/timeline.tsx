import { escapeHidden } from "../../../core/text.ts";
import type { AttemptInfo, DeliveryDetails, HandlerLogLine } from "../../protocol/deliveries.ts";
import { PauseButton } from "../endpoints/endpoints-view.tsx";
import { formatDuration } from "../format.ts";
import { JsonTree } from "../json/tree.tsx";
import { CopyButton, Countdown, Elapsed, Icon, type IconName, Moment, Text } from "../ui.tsx";
import { Section } from "./pane.tsx";

/** The text, icon, and color of an outcome. */
const outcomes: Readonly<Record<AttemptInfo["outcome"], { text: string; icon: IconName; color: string }>> = {
  succeeded: { text: "succeeded", icon: "succeeded", color: "good" },
  ignored: { text: "was ignored", icon: "ignored", color: "ignored" },
  failed: { text: "failed", icon: "failed", color: "bad" },
  abandoned: { text: "was abandoned", icon: "cancelled", color: "ignored" },
  running: { text: "is running", icon: "running", color: "running" },
};

/** The attempts with the waits between them, and the next one. */
export function Timeline({ details, onChange }: { details: DeliveryDetails; onChange: () => void }) {
  const steps = listSteps(details);
  return (
    <Section title="Attempts">
      <ol class="timeline">
        {steps.map((step) => {
          if (step.type === "attempt") {
            return <Attempt key={`attempt-${step.attempt.number}`} attempt={step.attempt} isOpen={step.isLast} />;
          }
          if (step.type === "wait") {
            return (
              <li key={`wait-${step.before}`} class="timeline-wait">
                Waited {formatDuration(step.ms)}
              </li>
            );
          }
          if (details.isPaused) return <PausedStep key="next" endpoint={details.endpoint} onChange={onChange} />;
          return (
            <li key="next" class="timeline-next" data-color="retry">
              <Icon name="queued" />
              <p>
                Attempt {step.number} {step.at === undefined ? "is queued" : <Countdown at={step.at} />}
              </p>
            </li>
          );
        })}
      </ol>
      {steps.length === 0 && <p class="quiet">No attempt was made.</p>}
    </Section>
  );
}

function PausedStep({ endpoint, onChange }: { endpoint: string; onChange: () => void }) {
  return (
    <li class="timeline-next" data-color="retry">
      <Icon name="pause" />
      <div class="timeline-title">
        <p>
          Waits: <Text value={endpoint} /> is paused
        </p>
        <PauseButton name={endpoint} isPaused onChange={onChange} />
      </div>
    </li>
  );
}

function Attempt({ attempt, isOpen }: { attempt: AttemptInfo; isOpen: boolean }) {
  const { number, outcome, startedAt, durationMs, responseStatus } = attempt;
  const { text, icon, color } = outcomes[outcome];
  const isExpandable = hasDetails(attempt);
  const title = (
    <>
      <span>
        Attempt {number} <span class="timeline-outcome">{text}</span>
        {responseStatus !== undefined && <span class="quiet"> with status {responseStatus}</span>}
        {isExpandable && <Icon name="chevron" />}
      </span>
      <span class="timeline-time quiet">
        {outcome === "running" && startedAt !== undefined ? (
          <Elapsed since={startedAt} />
        ) : (
          durationMs !== undefined && formatDuration(durationMs)
        )}
        {startedAt !== undefined && (
          <>
            {" · "}
            <Moment at={startedAt} />
          </>
        )}
      </span>
    </>
  );
  return (
    <li class="timeline-attempt" data-color={color}>
      <Icon name={icon} />
      {isExpandable ? (
        <details open={isOpen}>
          <summary>{title}</summary>
          <AttemptDetails attempt={attempt} />
        </details>
      ) : (
        <p class="timeline-title">{title}</p>
      )}
    </li>
  );
}

/** Whether an attempt has more to show than its outcome. */
function hasDetails({ error, stack, result, logs }: AttemptInfo): boolean {
  return error !== undefined || stack !== undefined || result !== undefined || (logs?.length ?? 0) > 0;
}

/** The error, the log lines, and the result of an attempt. */
function AttemptDetails({ attempt }: { attempt: AttemptInfo }) {
  const { number, error, stack, logs, result, isTruncated } = attempt;
  return (
    <div class="attempt-details">
      {error && (
        <p class="problem">
          <code>{error.code}</code> <Text value={error.message} />
        </p>
      )}
      {stack !== undefined && <Stack text={stack} />}
      {logs && logs.length > 0 && <HandlerLog lines={logs} number={number} />}
      {result !== undefined && (
        <div>
          <h4>Result</h4>
          <JsonTree text={result} label={`Result of attempt ${number}`} />
        </div>
      )}
      {isTruncated && (
        <p class="quiet">Cut: the result, stack, and log of an attempt are kept up to 16 KiB together.</p>
      )}
    </div>
  );
}

function Stack({ text }: { text: string }) {
  return (
    <div class="stack">
      <h4>Stack</h4>
      <CopyButton text={text} label="Copy stack" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable with the keyboard */}
      <section tabIndex={0} aria-label="Stack">
        <pre>{escapeHidden(text)}</pre>
      </section>
    </div>
  );
}

function HandlerLog({ lines, number }: { lines: readonly HandlerLogLine[]; number: number }) {
  return (
    <div>
      <h4>Log</h4>
      <ul class="handler-log" aria-label={`Log of attempt ${number}`}>
        {lines.map(({ at, level, message, fields }, index) => (
          <li key={index} data-level={level}>
            <Moment at={at} /> <span class="log-level">{level}</span>{" "}
            <span>
              <Text value={message} />{" "}
              {fields !== undefined && (
                <span class="quiet">
                  <Text value={fields} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A part of the timeline. */
type TimelineStep =
  | { type: "attempt"; attempt: AttemptInfo; isLast: boolean }
  /** `before` is the number of the attempt that follows. */
  | { type: "wait"; before: number; ms: number }
  /** The next attempt. `at` is missing if it starts as soon as a worker is free. */
  | { type: "next"; number: number; at: number | undefined };

/** Shorter waits are not shown. */
const minWaitMs = 100;

/** Lists the attempts with the waits between them, and the next attempt. */
export function listSteps({
  timeline,
  status,
  nextAttemptAt,
}: Pick<DeliveryDetails, "timeline" | "status" | "nextAttemptAt">): TimelineStep[] {
  const steps: TimelineStep[] = [];
  timeline.forEach((attempt, index) => {
    const wait = waitBetween(timeline[index - 1], attempt);
    if (wait !== undefined && wait >= minWaitMs) steps.push({ type: "wait", before: attempt.number, ms: wait });
    steps.push({ type: "attempt", attempt, isLast: index === timeline.length - 1 });
  });
  if (status === "queued" || status === "retrying") {
    steps.push({ type: "next", number: (timeline.at(-1)?.number ?? 0) + 1, at: nextAttemptAt });
  }
  return steps;
}

function waitBetween(earlier: AttemptInfo | undefined, later: AttemptInfo): number | undefined {
  if (earlier?.startedAt === undefined || later.startedAt === undefined) return undefined;
  return later.startedAt - earlier.startedAt - (earlier.durationMs ?? 0);
}
