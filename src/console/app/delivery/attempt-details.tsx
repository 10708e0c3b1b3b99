import { escapeHidden } from "../../../core/text.ts";
import type { AttemptInfo, HandlerLogLine } from "../../protocol/deliveries.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Text } from "../components/text.tsx";
import { Moment } from "../components/time.tsx";
import { JsonTree } from "../json/tree.tsx";

/** Whether an attempt has more to show than its outcome. */
export function hasDetails({ error, stack, result, logs }: AttemptInfo): boolean {
  return error !== undefined || stack !== undefined || result !== undefined || (logs?.length ?? 0) > 0;
}

/** The error, the log lines, and the result of an attempt. */
export function AttemptDetails({ attempt }: { attempt: AttemptInfo }) {
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
