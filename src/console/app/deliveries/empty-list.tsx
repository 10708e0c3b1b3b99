import type { EndpointInfo } from "../../protocol/endpoints.ts";
import { Button } from "../components/button.tsx";
import { Command } from "../components/command.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { listHash } from "./links.ts";
import { suggestTrigger } from "./suggest-trigger.ts";

/** Replaces the list if no delivery matches. */
export function EmptyList({ isFiltered, endpoints }: { isFiltered: boolean; endpoints: readonly EndpointInfo[] }) {
  if (isFiltered) {
    return (
      <EmptyState title="No delivery matches the filters">
        <Button onClick={() => navigate(listHash({}))}>Reset filters</Button>
      </EmptyState>
    );
  }
  return <NoDeliveries endpoints={endpoints} />;
}

function NoDeliveries({ endpoints }: { endpoints: readonly EndpointInfo[] }) {
  const place = session.value?.place ?? "receiver";
  const features = session.value?.signedIn ? session.value.features : [];
  const canSend = features.includes("send");
  // The command needs a local Hub.
  if (canSend && !features.includes("webhooks")) {
    return (
      <EmptyState title="No deliveries yet">
        <p>
          <a href="#/send">Choose an event to send</a>, or change a repository on the Hub that an endpoint watches.
        </p>
        <p>Deliveries appear here as they arrive.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No deliveries yet">
      <p>Send a test event from {place === "receiver" ? "the folder of the server" : "another terminal"}:</p>
      <Command text={suggestTrigger(endpoints, place)} />
      {canSend && (
        <p>
          Or <a href="#/send">choose an event to send</a> in the console.
        </p>
      )}
      {place === "receiver" && (
        <p>
          To receive events of the Hub, each endpoint needs a webhook. <a href="#/endpoints">Endpoints</a> shows which
          ones are registered.
        </p>
      )}
      <p>Deliveries appear here as they arrive.</p>
    </EmptyState>
  );
}
