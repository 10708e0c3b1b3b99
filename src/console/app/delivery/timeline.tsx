import { escapeHidden } from "../../../core/text.ts";
import type { AttemptInfo, DeliveryDetails, HandlerLogLine } from "../../protocol/deliveries.ts";
import { PauseButton } from "../endpoints/endpoints-view.tsx";
import { formatDuration, formatPlural } from "../format.ts";
import { JsonTree } from "../json/tree.tsx";
import { CopyButton, Countdown, Elapsed, Icon, type IconName, Moment, Text } from "../ui.tsx";
import { Section } from "./pane.tsx";

const outcomes: Readonly<Record<AttemptInfo["outcome"], { text: string; icon: IconName; color: string }>> = {
  succeeded: { text: "succeeded", icon: "succeeded", color: "good" },
  ignored: { text: "was ignored", icon: "ignored", color: "ignored" },
  failed: { text: "failed", icon: "failed", color: "bad" },
  abandoned: { text: "was abandoned", icon: "cancelled", color: "ignored" },
  running: { text: "is running", icon: "running", color: "running" },
};

/** The next attempt and the attempts so far, newest first, with the waits between them. */
export function Timeline({ details, onChange }: { details: DeliveryDetails; onChange: () => void }) {
  const steps = listSteps(details);
  return (
    <Section title="Attempts">
      <ol class="timeline">
        {steps.map((step) => {
          if (step.type !== "next") return <PastStep key={keyOf(step)} step={step} />;
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

function keyOf(step: PastTimelineStep): string {
  return step.type === "wait" ? `wait-${step.before}` : `attempt-${step.attempt.number}`;
}

function PastStep({ step }: { step: PastTimelineStep }) {
  if (step.type === "attempt") return <Attempt step={step} />;
  return <li class="timeline-wait">Waited {formatDuration(step.ms)}</li>;
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

function Attempt({ step: { attempt, isNewest, same } }: { step: AttemptStep }) {
  const { number, outcome, startedAt, durationMs, responseStatus } = attempt;
  const { text, icon, color } = outcomes[outcome];
  const isExpandable = hasDetails(attempt);
  const title = (
    <>
      <span>
        Attempt {number} <span class="timeline-outcome">{text}</span>
        {responseStatus !== undefined && <span class="quiet"> with status {responseStatus}</span>}
        {same.length > 0 && (
          <>
            {" "}
            <span class="tag">{countAttempts(same) + 1} × the same error</span>
          </>
        )}
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
        <details open={isNewest}>
          <summary>{title}</summary>
          <AttemptDetails attempt={attempt} />
          {same.length > 0 && <SameAttempts steps={same} />}
        </details>
      ) : (
        <p class="timeline-title">{title}</p>
      )}
    </li>
  );
}

function SameAttempts({ steps }: { steps: readonly PastTimelineStep[] }) {
  return (
    <details class="same-attempts">
      <summary>
        <span>
          Show {formatPlural(countAttempts(steps), "earlier attempt", "earlier attempts")} with the same error
          <Icon name="chevron" />
        </span>
      </summary>
      <ol class="timeline">
        {steps.map((step) => (
          <PastStep key={keyOf(step)} step={step} />
        ))}
      </ol>
    </details>
  );
}

function countAttempts(steps: readonly PastTimelineStep[]): number {
  return steps.filter(({ type }) => type === "attempt").length;
}

/** Whether an attempt has more to show than its outcome. */
function hasDetails({ error, stack, result, logs }: AttemptInfo): boolean {
  return error !== undefined || stack !== undefined || result !== undefined || (logs?.length ?? 0) > 0;
}

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
              <Text value={message} /> {fields !== undefined && <Text class="quiet" value={fields} />}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface AttemptStep {
  type: "attempt";
  attempt: AttemptInfo;
  isNewest: boolean;
  /** The attempts directly before it that failed with the same error, and the waits between them. */
  same: readonly PastTimelineStep[];
}

/** An attempt, or a wait. `before` is the number of the attempt that follows. */
type PastTimelineStep = AttemptStep | { type: "wait"; before: number; ms: number };

/** A part of the timeline. `next`: the next attempt. `at` is missing if it starts as soon as a worker is free. */
type TimelineStep = PastTimelineStep | { type: "next"; number: number; at: number | undefined };

/** Shorter waits are not shown. */
const minWaitMs = 100;

/** Lists the next attempt and the attempts so far, newest first, with the waits between them. Consecutive equal failures are one step. */
export function listSteps({
  timeline,
  status,
  nextAttemptAt,
}: Pick<DeliveryDetails, "timeline" | "status" | "nextAttemptAt">): TimelineStep[] {
  const steps: TimelineStep[] = [];
  if (status === "queued" || status === "retrying") {
    steps.push({ type: "next", number: (timeline.at(-1)?.number ?? 0) + 1, at: nextAttemptAt });
  }
  /** The last attempt that starts a step of its own, and what was added to it. */
  let folding: { attempt: AttemptInfo; same: PastTimelineStep[] } | undefined;
  for (const [index, attempt] of [...timeline.entries()].reverse()) {
    const later = timeline[index + 1];
    const isSame = folding !== undefined && areSameFailure(folding.attempt, attempt);
    const target = folding && isSame ? folding.same : steps;
    const wait = later && waitBetween(attempt, later);
    if (later && wait !== undefined && wait >= minWaitMs) target.push({ type: "wait", before: later.number, ms: wait });
    const same: PastTimelineStep[] = [];
    target.push({ type: "attempt", attempt, isNewest: later === undefined, same });
    if (!isSame) folding = { attempt, same };
  }
  return steps;
}

function areSameFailure(one: AttemptInfo, other: AttemptInfo): boolean {
  const failureOf = ({ outcome, error, stack }: AttemptInfo) =>
    JSON.stringify([outcome, error?.code, error?.message, stack]);
  return one.error !== undefined && failureOf(one) === failureOf(other);
}

function waitBetween(earlier: AttemptInfo, later: AttemptInfo): number | undefined {
  if (earlier.startedAt === undefined || later.startedAt === undefined) return undefined;
  return later.startedAt - earlier.startedAt - (earlier.durationMs ?? 0);
}
