import type { AttemptInfo, DeliveryDetails } from "../../protocol/deliveries.ts";
import { Icon, type IconName } from "../components/icon.tsx";
import { Text } from "../components/text.tsx";
import { Countdown, Elapsed, Moment } from "../components/time.tsx";
import { PauseButton } from "../endpoints/pause-button.tsx";
import { formatDuration } from "../format/time.ts";
import { AttemptDetails, hasDetails } from "./attempt-details.tsx";
import { listSteps } from "./timeline-steps.ts";

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
    <section class="pane-section">
      <h3>Attempts</h3>
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
    </section>
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
