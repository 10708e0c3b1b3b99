import type { InboxInfo } from "../../protocol/inbox.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Icon } from "../components/icon.tsx";
import { Message } from "../components/message.tsx";
import { Text } from "../components/text.tsx";
import { describeDetails, engineNames, keptLooks, type StateLook, stateLooks } from "./describe-inbox.ts";

/** The location, the state, and the problems of the inbox. */
export function InboxCard({ inbox: { state, location, problems, warnings, recordsDetails } }: { inbox: InboxInfo }) {
  const { engine, address, api, database, namespace, keptUntil } = location;
  const facts = [
    ["Database", database],
    [engine === "redis" ? "Key prefix" : "Schema", namespace],
    ["S3 API", api],
    ["Recorded", describeDetails(recordsDetails)],
  ] as const;
  return (
    <section class="card inbox-card" aria-label="Storage">
      <header class="inbox-title">
        <h2>{engineNames[engine]}</h2>
        <Look look={stateLooks[state]} />
        {keptUntil !== undefined && <Look look={keptLooks[keptUntil]} />}
        {address !== undefined && (
          <div class="endpoint-url inbox-address">
            <code>
              <Text value={address} />
            </code>
            <CopyButton text={address} label="Copy location" />
          </div>
        )}
      </header>
      <dl class="inbox-facts">
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Text value={value} />
                </dd>
              </div>
            ),
        )}
      </dl>
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

function Look({ look: { label, color, icon } }: { look: StateLook }) {
  return (
    <span class="status" data-color={color}>
      <Icon name={icon} />
      {label}
    </span>
  );
}
