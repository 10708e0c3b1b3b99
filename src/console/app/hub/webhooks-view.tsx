import { useState } from "preact/hooks";
import type { WebhookInfo, WebhookList } from "../../protocol/hub.ts";
import { formatCount, formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { formatRoute, route } from "../state.ts";
import { Button, Command, EmptyState, Moment, Text } from "../ui.tsx";
import { applyFilter, type DataColumn, DataTable, ListPage, readFilter, Split, Unlisted } from "./list-page.tsx";
import { CreateWebhook } from "./webhook-form.tsx";
import {
  AttemptOutcome,
  DailyCount,
  targetText,
  WebhookPane,
  WebhookStateLabel,
  WebhookTarget,
} from "./webhook-pane.tsx";

const columns: readonly DataColumn<WebhookInfo>[] = [
  { label: "Target", cell: (webhook) => <WebhookTarget target={webhook.target} /> },
  { label: "State", isShort: true, cell: ({ state }) => <WebhookStateLabel state={state} /> },
  {
    label: "Watches",
    from: 480,
    cell: ({ watched }) => <Watched watched={watched} />,
  },
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

/** The webhooks of the local Hub. */
export function WebhooksView() {
  const resource = useResource<WebhookList>("webhooks", { features: ["webhooks"] });
  const [isCreating, setCreating] = useState(false);
  const { path, query } = route.value;
  const openId = path === "webhooks/one" ? query.id : undefined;
  const search = readFilter();
  return (
    <Split
      list={
        <ListPage
          title="Webhooks"
          filterLabel="Filter webhooks"
          resource={resource}
          actions={
            <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
              Create webhook
            </Button>
          }
        >
          {({ webhooks, unlisted, createCommand }) => (
            <>
              {webhooks.length === 0 ? (
                <NoWebhooks createCommand={createCommand} />
              ) : (
                <DataTable
                  caption={formatPlural(webhooks.length, "webhook", "webhooks")}
                  items={applyFilter(webhooks, (webhook) => `${targetText(webhook)} ${filterText(webhook)}`)}
                  columns={columns}
                  keyOf={({ id }) => id}
                  hashOf={({ id }) => formatRoute("webhooks/one", { id, search })}
                  openKey={openId}
                />
              )}
              <Unlisted count={unlisted} noun={["webhook", "webhooks"]} />
            </>
          )}
        </ListPage>
      }
      pane={
        <>
          {openId !== undefined && <WebhookPane key={openId} id={openId} logId={query.log} search={search} />}
          {isCreating && <CreateWebhook onClose={() => setCreating(false)} />}
        </>
      }
      isOpen={openId !== undefined}
    />
  );
}

function filterText({ id, state, watched, domains }: WebhookInfo): string {
  return [id, state, ...domains, ...watched.map(({ type, name }) => `${type}:${name}`)].join(" ");
}

function NoWebhooks({ createCommand }: { createCommand: string }) {
  return (
    <EmptyState title="No webhooks yet">
      <p>A webhook sends the events of repositories to your receiver. Create one here, or with this command:</p>
      <Command text={createCommand} />
    </EmptyState>
  );
}
