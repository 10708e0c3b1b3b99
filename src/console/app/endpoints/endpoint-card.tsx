import type { ActivityWindow, EndpointInfo } from "../../protocol/endpoints.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Icon } from "../components/icon.tsx";
import { Text } from "../components/text.tsx";
import { UrlText } from "../components/url-text.tsx";
import { listHash } from "../deliveries/links.ts";
import { windowLooks } from "./activity.ts";
import { ActivityChart } from "./activity-chart.tsx";
import { EndpointFacts } from "./endpoint-facts.tsx";
import { PauseButton } from "./pause-button.tsx";
import { Registration } from "./registration-note.tsx";

/** One endpoint with its URL, its registration, and its activity. */
export function EndpointCard({
  endpoint,
  hidesMessage,
  window,
  onChange,
}: {
  endpoint: EndpointInfo;
  /** Whether the view shows the message of the registration, because it is that of each endpoint. */
  hidesMessage: boolean;
  window: ActivityWindow;
  onChange: () => void;
}) {
  const { name, url, background, isPaused, activity } = endpoint;
  const label = windowLooks[window].label;
  return (
    <article class="card endpoint" aria-label={name}>
      <header class="endpoint-header">
        <h2>
          <Text value={name} />
        </h2>
        <span class="tag">{background ? "background" : "inline"}</span>
        {isPaused && (
          <span class="status" data-color="retry">
            <Icon name="pause" /> Paused
          </span>
        )}
        <span class="endpoint-actions">
          <a class="button" href={listHash({ endpoint: name })}>
            Deliveries
          </a>
          {background && <PauseButton name={name} isPaused={isPaused} onChange={onChange} />}
        </span>
      </header>
      <div class="endpoint-url">
        <code>
          <UrlText value={url} />
        </code>
        <CopyButton text={url} label="Copy URL" />
      </div>
      <Registration endpoint={endpoint} hidesMessage={hidesMessage} />
      <div class="endpoint-activity">
        <ActivityChart bars={activity[window]} kind="deliveries" window={label} />
        <ActivityChart bars={activity[window]} kind="attempts" window={label} />
      </div>
      <EndpointFacts endpoint={endpoint} />
    </article>
  );
}
