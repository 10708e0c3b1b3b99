import { useEffect, useMemo, useState } from "preact/hooks";
import { toShellWord } from "../../../core/text.ts";
import type { DeadCount, DeadReplayed, DeliveryKey, EndpointInfo, EndpointList } from "../../protocol/deliveries.ts";
import type { ConsolePlace } from "../../protocol/session.ts";
import { isOffered, sendJson, serverNow, session, toApiFailure } from "../api.ts";
import { DeliveryPane } from "../delivery/delivery-pane.tsx";
import { formatCount, formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { navigate, route, showToast, type Toast } from "../state.ts";
import { Button, Command, Dialog, EmptyState, FailureState, Icon, Loading, Problem, Text } from "../ui.tsx";
import { DeliveryTable, focusRow, SearchProgressNote } from "./delivery-table.tsx";
import { describeTime, keyText, type ListFilter, listChips, listHash, readListRoute, toApiFilter } from "./filter.ts";
import { FilterBar, RepositorySuggestions } from "./filter-bar.tsx";
import { ListStore } from "./list-store.ts";
import "./deliveries.css";

export function DeliveriesView() {
  const { filter: parsed, open } = readListRoute(route.value);
  // The filter keeps its identity while another delivery is opened, so that the rows stay as they are.
  const filter = useMemo(() => parsed, [JSON.stringify(parsed)]);
  const store = useMemo(() => new ListStore(filter), [filter]);
  useEffect(() => store.start(), [store]);
  const { data, failure } = useResource<EndpointList>("endpoints", { features: ["endpoints"] });
  const endpoints = data?.endpoints ?? (failure ? [] : undefined);

  const close = () => {
    // `j` and `k` can have opened another delivery that is not rendered yet.
    const closed = readListRoute(route.value).open;
    navigate(listHash(filter));
    if (closed) requestAnimationFrame(() => focusRow(store, keyText(closed)));
  };
  return (
    <div class="split" data-open={open !== undefined}>
      <section class="list" aria-label="Deliveries">
        <div class="list-header">
          <h1>Deliveries</h1>
          <RefusedLink refused={data?.refused ?? []} />
          <ReplayDeadButton filter={filter} dead={store.totals.value.dead ?? 0} />
        </div>
        <FilterBar filter={filter} totals={store.totals.value} endpoints={endpoints?.map(({ name }) => name) ?? []} />
        <ListSuggestions store={store} />
        <ListContent store={store} filter={filter} open={open} endpoints={endpoints} />
      </section>
      {open && <DeliveryPane key={keyText(open)} delivery={open} onClose={close} />}
    </div>
  );
}

/** Links to the deliveries that the list lacks, because the server refused them. */
function RefusedLink({ refused }: { refused: EndpointList["refused"] }) {
  if (refused.length === 0) return null;
  const count = refused.reduce((sum, group) => sum + group.count, 0);
  return (
    <a class="button" href="#/endpoints">
      <Icon name="failed" /> {formatCount(count)} refused
    </a>
  );
}

/** A component of its own, so that the filters are not rendered with each row. */
function ListSuggestions({ store }: { store: ListStore }) {
  return <RepositorySuggestions rows={store.list.value.rows} />;
}

interface ListContentProps {
  store: ListStore;
  filter: ListFilter;
  open: DeliveryKey | undefined;
  /** `undefined` while they load. */
  endpoints: EndpointList["endpoints"] | undefined;
}

function ListContent({ store, filter, open, endpoints }: ListContentProps) {
  const failure = store.failure.value;
  if (failure) return <FailureState failure={failure} onRetry={() => store.load()} />;
  if (!store.isLoaded.value) return <Loading />;
  const { rows, waiting } = store.list.value;
  if (rows.length + waiting.length === 0) {
    // The command to copy depends on the endpoints.
    if (!endpoints) return <Loading />;
    return (
      <div class="list-scroller">
        {Object.keys(filter).length > 0 ? (
          <NoMatch store={store} filter={filter} />
        ) : (
          <NoDeliveries endpoints={endpoints} />
        )}
      </div>
    );
  }
  return <DeliveryTable store={store} filter={filter} open={open} />;
}

/** Replaces the list if no delivery matches: what was searched, and how far the search came. */
function NoMatch({ store, filter }: { store: ListStore; filter: ListFilter }) {
  const searchedUntil = store.searchedUntil.value;
  const now = new Date();
  const texts = listChips(filter, now).map(({ text }) => text);
  if (describeTime(filter, now) === undefined) texts.push("Any time");
  return (
    <EmptyState title="No delivery matches the filters">
      <p>
        <Text value={texts.join(" · ")} />
      </p>
      {searchedUntil === undefined ? (
        <p>All deliveries were searched.</p>
      ) : (
        <SearchProgressNote searchedUntil={searchedUntil} />
      )}
      {store.next.value !== undefined && <Button onClick={() => store.loadMore()}>Search further</Button>}
      <Button onClick={() => navigate(listHash({}))}>Reset filters</Button>
    </EmptyState>
  );
}

function NoDeliveries({ endpoints }: { endpoints: readonly EndpointInfo[] }) {
  const place = session.value?.place ?? "receiver";
  const canSend = isOffered("send");
  // The command needs a local Hub.
  if (canSend && !isOffered("webhooks")) {
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

/** Replays all dead deliveries that match the filter, after a confirmation. */
function ReplayDeadButton({ filter, dead }: { filter: ListFilter; dead: number }) {
  const [isOpen, setOpen] = useState(false);
  if (dead === 0 && !isOpen) return null;
  return (
    <>
      <Button icon="replay" onClick={() => setOpen(true)}>
        Replay dead…
      </Button>
      {isOpen && <ReplayDeadDialog filter={filter} onClose={() => setOpen(false)} />}
    </>
  );
}

function ReplayDeadDialog({ filter, onClose }: { filter: ListFilter; onClose: () => void }) {
  const [count, setCount] = useState<DeadCount>();
  const [problem, setProblem] = useState<string>();
  // All requests use the same moment, so that a moving window does not move between count and replay.
  const [body] = useState(() => {
    const { status: _, ...rest } = toApiFilter(filter, serverNow());
    return rest;
  });
  const chips = listChips({ ...filter, status: undefined }, new Date());

  useEffect(() => {
    sendJson<DeadCount>("deliveries/count-dead", body).then(setCount, (error: unknown) =>
      setProblem(toApiFailure(error).message),
    );
  }, [body]);

  const replay = async () => {
    const result = await sendJson<DeadReplayed>("deliveries/replay-dead", body);
    showToast(describeReplay(result, filter));
    onClose();
  };
  return (
    <Dialog title="Replay dead deliveries" onClose={onClose}>
      <Problem text={problem} />
      {!count && !problem && <Loading />}
      {count && (
        <>
          <p>
            {count.count === 0
              ? "No dead delivery matches the filters."
              : `${count.isMore ? "More than " : ""}${formatPlural(count.count, "dead delivery", "dead deliveries")} will run again, each with all its attempts.`}
          </p>
          {chips.length > 0 && (
            <ul class="chips">
              {chips.map(({ text }) => (
                <li key={text} class="chip">
                  <Text value={text} />
                </li>
              ))}
            </ul>
          )}
          <SearchProgressNote searchedUntil={count.searchedUntil} />
          <div class="dialog-actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" icon="replay" disabled={count.count === 0} onClick={replay}>
              {count.count === 0 ? "Replay" : `Replay ${count.isMore ? "them" : formatCount(count.count)}`}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** Describes the result of replaying the dead deliveries of a filter, with a link to those that run again. */
export function describeReplay(
  { replayed, failed, failures, isMore }: DeadReplayed,
  filter: ListFilter,
): Omit<Toast, "id"> {
  const sentences: string[] = [];
  if (replayed > 0 || failed === 0) {
    sentences.push(`${formatPlural(replayed, "delivery is", "deliveries are")} queued again.`);
  }
  if (failed > 0) sentences.push(`${formatPlural(failed, "delivery", "deliveries")} could not be replayed.`);
  for (const { error, count } of failures) {
    sentences.push(failures.length === 1 ? error : `${formatPlural(count, "delivery", "deliveries")}: ${error}`);
  }
  if (isMore) sentences.push("More are dead: replay again.");
  return {
    kind: failed > 0 ? "failed" : "done",
    text: sentences.join(" "),
    ...(replayed > 0 && { link: { hash: listHash({ ...filter, status: "queued,running" }), label: "Show queued" } }),
  };
}

const exampleRepository = "dataset:me/data";

/**
 * Suggests a command that sends a first event: for a repository that an endpoint watches, and, if there is no local Hub,
 * directly to the endpoint.
 */
export function suggestTrigger(
  endpoints: readonly Pick<EndpointInfo, "url" | "repos" | "watch">[],
  place: ConsolePlace,
): string {
  const [endpoint] = endpoints;
  const repository = [...(endpoint?.watch ?? []), ...(endpoint?.repos ?? [])].find(isRepository) ?? exampleRepository;
  const command = `npx hub-webhooks trigger ${toShellWord(repository)}`;
  return place === "receiver" && endpoint ? `${command} --url ${toShellWord(endpoint.url)}` : command;
}

/** Whether a filter names one repository, and not several by a pattern. */
function isRepository(text: string): boolean {
  return /^(model|dataset|space|bucket|kernel):[\w.-]+\/[\w.-]+$/.test(text);
}
