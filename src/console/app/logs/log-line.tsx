import { escapeHidden } from "../../../core/text.ts";
import type { LogLine } from "../../protocol/dev.ts";
import { Text } from "../components/text.tsx";
import { deliveryHash } from "../deliveries/links.ts";
import { formatMoment } from "../format/time.ts";
import { summarizeFields } from "./log-filter.ts";

/** One line of the log. Its other fields open below it. */
export function LogRow({ line }: { line: LogLine }) {
  const { at, level, message, fields, endpoint, deliveryId } = line;
  const date = new Date(at);
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
      <time dateTime={date.toISOString()} title={date.toISOString()}>
        {formatMoment(date, new Date())}
      </time>
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
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    // The session cuts long fields.
    return json;
  }
}
