import type { InboxInfo } from "../../protocol/inbox.ts";
import { FailureState } from "../components/failure-state.tsx";
import { Loading } from "../components/loading.tsx";
import { listHash } from "../deliveries/links.ts";
import { useResource } from "../state/resource.ts";
import { formatRoute } from "../state/route.ts";
import { InboxCard } from "./inbox-card.tsx";
import { InboxTable } from "./inbox-table.tsx";
import { NoBackground } from "./no-background.tsx";
import "./inbox.css";

const refreshMs = 10_000;

/** The inbox of the server: its location, its state, and the number of its deliveries. */
export function InboxView() {
  const { data, failure, reload } = useResource<InboxInfo>("inbox", { features: ["inbox"], refreshMs });
  return (
    <div class="page inbox">
      <header class="page-header">
        <h1>Inbox</h1>
        {data?.contents && <Actions contents={data.contents} />}
      </header>
      {data?.state === "unused" && <NoBackground location={data.location} />}
      {data && data.state !== "unused" && (
        <>
          <InboxCard inbox={data} />
          {data.contents && <InboxTable endpoints={data.contents.endpoints} />}
        </>
      )}
      {!data && (failure ? <FailureState failure={failure} onRetry={reload} /> : <Loading />)}
    </div>
  );
}

/** Links to the views that change the inbox. */
function Actions({ contents: { endpoints } }: { contents: NonNullable<InboxInfo["contents"]> }) {
  return (
    <>
      {endpoints.some(({ counts }) => counts.dead > 0) && (
        <a class="button" href={listHash({ status: "dead" })}>
          Replay dead
        </a>
      )}
      <a class="button" href={formatRoute("endpoints")}>
        Pause or resume
      </a>
    </>
  );
}
