import { useEffect, useRef } from "preact/hooks";
import type { DeliveryDetails, DeliveryKey } from "../../protocol/deliveries.ts";
import { Button } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FailureState } from "../components/failure-state.tsx";
import { Loading } from "../components/loading.tsx";
import { useShortcut } from "../state/keyboard.ts";
import { useResource } from "../state/resource.ts";
import { DeliveryActions } from "./delivery-actions.tsx";
import { DeliverySummaryHeader } from "./delivery-header.tsx";
import { PayloadSection } from "./payload-section.tsx";
import { RequestHeaders } from "./request-headers.tsx";
import { StorageNote } from "./storage-note.tsx";
import { Timeline } from "./timeline.tsx";
import "./pane.css";

/** One delivery: beside the list on a wide screen, otherwise a page of its own. */
export function DeliveryPane({ delivery, onClose }: { delivery: DeliveryKey; onClose: () => void }) {
  const { endpoint, id } = delivery;
  const { data, failure, reload } = useResource<DeliveryDetails>("deliveries/one", {
    query: { endpoint, id },
    features: ["deliveries", "endpoints"],
    isChanged: (key) => key.endpoint === endpoint && key.id === id,
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // `j` and `k` open the next delivery while the focus stays in the list.
    if (!document.activeElement?.matches(".row-link:focus-visible")) heading.current?.focus();
  }, []);
  useShortcut("Escape", () => {
    onClose();
    return true;
  });
  return (
    <section class="pane" aria-labelledby="pane-title">
      <header class="pane-header">
        <h2 id="pane-title" ref={heading} tabIndex={-1}>
          Delivery
        </h2>
        <Button kind="ghost" icon="close" label="Close delivery" onClick={onClose} />
      </header>
      <div class="pane-content">
        {data ? (
          <Details details={data} onChange={reload} />
        ) : failure ? (
          <PaneFailure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )}
      </div>
    </section>
  );
}

function PaneFailure({ failure, onRetry }: Parameters<typeof FailureState>[0]) {
  if (failure.code !== "DELIVERY_UNKNOWN") return <FailureState failure={failure} onRetry={onRetry} />;
  return (
    <EmptyState title="This delivery is no longer stored">
      <p>
        Deliveries in memory are kept until the server restarts, and those of the inbox until their retention time ends.
      </p>
    </EmptyState>
  );
}

function Details({ details, onChange }: { details: DeliveryDetails; onChange: () => void }) {
  return (
    <>
      <DeliverySummaryHeader details={details} />
      <DeliveryActions details={details} />
      <Timeline details={details} onChange={onChange} />
      <PayloadSection details={details} />
      {details.headers && <RequestHeaders headers={details.headers} />}
      <StorageNote details={details} />
    </>
  );
}
