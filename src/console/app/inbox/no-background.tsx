import type { InboxLocation } from "../../protocol/inbox.ts";
import { Command } from "../components/command.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Text } from "../components/text.tsx";
import { engineNames } from "./describe-inbox.ts";

const example = `server.webhook("retrain", { scope: "repo.content", background: true }, ({ repo }) => repo.name);`;

/** Replaces the inbox of a server without background endpoints: explains when to use one. */
export function NoBackground({ location: { engine, address } }: { location: InboxLocation }) {
  return (
    <EmptyState title="No endpoint runs in the background">
      <p>
        An inbox stores a delivery before its handler runs. The server answers the Hub at once, so the handler can take
        longer than 30 s. Failed deliveries are retried, also after a restart, and dead ones can be replayed.
      </p>
      <p>To use the inbox, add an option to an endpoint, and restart the server:</p>
      <Command text={example} />
      <p>
        Deliveries are then stored in: {engineNames[engine]}
        {address !== undefined && (
          <>
            {" "}
            <code>
              <Text value={address} />
            </code>
          </>
        )}
        . To use another place, set <code>INBOX_URL</code>.
      </p>
    </EmptyState>
  );
}
