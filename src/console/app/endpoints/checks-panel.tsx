import { useEffect, useState } from "preact/hooks";
import type { CheckResult } from "../../protocol/checks.ts";
import type { EndpointList } from "../../protocol/deliveries.ts";
import { type ApiFailure, sendJson, toApiFailure } from "../api.ts";
import { formatCount, formatPlural } from "../format.ts";
import { announce } from "../state.ts";
import { Button, Command, Loaded, Message, Moment, StateLabel, type StateLook, Text } from "../ui.tsx";

const looks: Readonly<Record<CheckResult["status"], StateLook>> = {
  problem: { label: "Problem", color: "bad", icon: "failed" },
  next: { label: "Next step", color: "retry", icon: "chevron" },
  ok: { label: "Passed", color: "good", icon: "succeeded" },
  fixed: { label: "Fixed", color: "good", icon: "succeeded" },
  skipped: { label: "Skipped", color: "quiet", icon: "ignored" },
};

/** The results of the checks. They run when the panel opens, and again on request. */
export function ChecksPanel() {
  const [{ data, failure }, setState] = useState<{ data?: readonly CheckResult[]; failure?: ApiFailure }>({});
  const reload = async () => {
    try {
      const data = await sendJson<readonly CheckResult[]>("checks", {});
      setState({ data });
      announce(summarize(data));
    } catch (error) {
      setState({ failure: toApiFailure(error) });
    }
  };
  useEffect(() => void reload(), []);
  return (
    <section class="card checks" aria-label="Checks">
      <header class="endpoint-header">
        <h2>Checks</h2>
        {data && summarize(data)}
        <span class="endpoint-actions">
          <Button icon="replay" onClick={reload}>
            Check again
          </Button>
        </span>
      </header>
      <Loaded resource={{ data, failure, reload }}>
        {(results) => (
          <ul>
            {results.map(({ title, status, code, message, command }) => (
              <li key={`${title} ${code} ${message}`}>
                <p>
                  <StateLabel {...looks[status]} /> <strong>{title}</strong>{" "}
                  {code !== undefined && <code class="bad">{code}</code>}
                </p>
                <p class="quiet">
                  <Message text={message} />
                </p>
                {command !== undefined && <Command text={command} />}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function summarize(results: readonly CheckResult[]): string {
  const count = (wanted: CheckResult["status"]) => results.filter(({ status }) => status === wanted).length;
  return `${formatPlural(count("problem"), "problem", "problems")}, ${count("ok")} of ${results.length} passed`;
}

/** Why deliveries were refused. They are in no list, because nothing of them is stored. */
export function Refused({ refused }: { refused: EndpointList["refused"] }) {
  return (
    <section class="card refused" aria-labelledby="refused-title">
      <h2 id="refused-title">Refused deliveries</h2>
      <p class="quiet">In the last 24 hours. No handler ran. The Hub retries its deliveries.</p>
      <ul>
        {refused.map(({ endpoint, status, code, message, count, lastAt }) => (
          <li key={`${endpoint} ${code} ${message}`}>
            <p>
              <strong>
                <Text value={endpoint} />
              </strong>{" "}
              <code class="bad">
                {status} {code}
              </code>{" "}
              <Text value={message} />
            </p>
            <p class="quiet">
              {count > 1 && `${formatCount(count)} times, last `}
              <Moment at={lastAt} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
