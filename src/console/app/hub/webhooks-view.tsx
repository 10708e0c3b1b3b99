import { useState } from "preact/hooks";
import type { WebhookInfo, WebhookList } from "../../protocol/hub.ts";
import { formatCount } from "../format.ts";
import { useResource } from "../resource.ts";
import { Button, Command, EmptyState, Moment, StateLabel, Text } from "../ui.tsx";
import { type DataColumn, ListView } from "./list-view.tsx";
import { CreateWebhook } from "./webhook-form.tsx";
import { AttemptOutcome, DailyCount, targetText, WebhookPane, WebhookTarget, webhookLooks } from "./webhook-pane.tsx";

const columns: readonly DataColumn<WebhookInfo>[] = [
  { label: "Target", cell: (webhook) => <WebhookTarget target={webhook.target} /> },
  { label: "State", isShort: true, cell: ({ state }) => <StateLabel {...webhookLooks[state]} /> },
  { label: "Watches", from: 480, cell: ({ watched }) => <Watched watched={watched} /> },
  { label: "Domains", from: 900, isShort: true, cell: ({ domains }) => domains.join(", ") },
  { label: "Today", from: 700, isNumber: true, cell: ({ today }) => <DailyCount today={today} /> },
  {
    label: "Last delivery",
    from: 700,
    isShort: true,
    cell: ({ last }) =>
      last ? (
        <>
          <AttemptOutcome attempt={last} /> <Moment at={last.at} />
        </>
      ) : (
        <span class="quiet">none yet</span>
      ),
  },
];

/** More watched items than this are counted. */
const maxShownWatched = 2;

function Watched({ watched }: Pick<WebhookInfo, "watched">) {
  const names = watched.map(({ type, name }) => `${type}:${name}`);
  const rest = names.length - maxShownWatched;
  return (
    <>
      <Text value={names.slice(0, maxShownWatched).join(", ")} />
      {rest > 0 && <span class="quiet"> and {formatCount(rest)} more</span>}
    </>
  );
}

export function WebhooksView() {
  const resource = useResource<WebhookList>("webhooks", { features: ["webhooks"] });
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <ListView
        noun={["webhook", "webhooks"]}
        resource={resource}
        itemsOf={({ webhooks }) => webhooks}
        keys={["id"]}
        columns={columns}
        textOf={filterText}
        actions={
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            Create webhook
          </Button>
        }
        emptyState={({ createCommand }) => (
          <EmptyState title="No webhooks yet">
            <p>A webhook sends the events of repositories to your receiver. Create one here, or with this command:</p>
            <Command text={createCommand} />
          </EmptyState>
        )}
        pane={({ id = "", log }) => <WebhookPane key={id} id={id} logId={log} />}
      />
      {isCreating && <CreateWebhook onClose={() => setCreating(false)} />}
    </>
  );
}

function filterText(webhook: WebhookInfo): string {
  const { id, state, watched, domains } = webhook;
  return [targetText(webhook), id, state, ...domains, ...watched.map(({ type, name }) => `${type}:${name}`)].join(" ");
}
