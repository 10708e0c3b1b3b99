import { useState } from "preact/hooks";
import type { ActivityWindow, EndpointList } from "../../protocol/endpoints.ts";
import { Command } from "../components/command.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FailureState } from "../components/failure-state.tsx";
import { Loading } from "../components/loading.tsx";
import { Message } from "../components/message.tsx";
import { Moment } from "../components/time.tsx";
import { useResource } from "../state/resource.ts";
import { windowLooks } from "./activity.ts";
import { EndpointCard } from "./endpoint-card.tsx";
import { findSharedMessage, registrationLooks } from "./registration.ts";
import "./endpoints.css";

const refreshMs = 10_000;
const windows = Object.keys(windowLooks).filter((name): name is ActivityWindow => Object.hasOwn(windowLooks, name));

/** The endpoints of the server. */
export function EndpointsView() {
  const [window, setWindow] = useState<ActivityWindow>("1h");
  const { data, failure, reload } = useResource<EndpointList>("endpoints", { features: ["endpoints"], refreshMs });
  const sharedMessage = data && findSharedMessage(data.endpoints);
  return (
    <div class="page">
      <header class="page-header">
        <h1>Endpoints</h1>
        <fieldset class="segments">
          <legend class="visually-hidden">Activity</legend>
          {windows.map((name) => (
            <button key={name} type="button" aria-pressed={name === window} onClick={() => setWindow(name)}>
              {windowLooks[name].label}
            </button>
          ))}
        </fieldset>
      </header>
      {data && data.endpoints.length > 0 && (
        <>
          {sharedMessage !== undefined && (
            <p class="notice endpoints-notice">
              <strong>{registrationLooks.unknown.label}.</strong> <Message text={sharedMessage} />
            </p>
          )}
          <div class="endpoints">
            {data.endpoints.map((endpoint) => (
              <EndpointCard
                key={endpoint.name}
                endpoint={endpoint}
                hidesMessage={sharedMessage !== undefined}
                window={window}
                onChange={reload}
              />
            ))}
          </div>
          <p class="quiet endpoints-note">
            Each bar is {windowLooks[window].bar}. Activity is counted since the server started,{" "}
            <Moment at={data.startedAt} />.
          </p>
        </>
      )}
      {data?.endpoints.length === 0 && <NoEndpoints />}
      {!data && (failure ? <FailureState failure={failure} onRetry={reload} /> : <Loading />)}
    </div>
  );
}

const example = `server.webhook("retrain", { scope: "repo.content" }, ({ repo }) => repo.name);`;

function NoEndpoints() {
  return (
    <EmptyState title="No endpoints yet">
      <p>Add an endpoint to your server file, and restart the server:</p>
      <Command text={example} />
    </EmptyState>
  );
}
