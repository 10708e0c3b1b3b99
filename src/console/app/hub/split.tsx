import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FailureState } from "../components/failure-state.tsx";
import { Loading } from "../components/loading.tsx";
import { Text } from "../components/text.tsx";
import { useShortcut } from "../state/keyboard.ts";
import type { Resource } from "../state/resource.ts";
import { navigate } from "../state/route.ts";
import "../delivery/pane.css";
import "./hub.css";

/** A list, and beside it the item that is open. On a narrow screen, the open item replaces the list. */
export function Split({ list, pane, isOpen }: { list: ComponentChildren; pane: ComponentChildren; isOpen: boolean }) {
  return (
    <div class="split" data-open={isOpen}>
      <div class="split-list">{list}</div>
      {pane}
    </div>
  );
}

/** The item that is open. `listHash` is the route of the list, to which the close button and Escape return. */
export function Pane({ title, listHash, children }: { title: string; listHash: string; children: ComponentChildren }) {
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const close = () => {
    navigate(listHash);
    document.getElementById("main")?.focus();
  };
  useShortcut("Escape", () => {
    close();
    return true;
  });
  useEffect(() => {
    // `j` and `k` select the next row while the focus stays in the list.
    if (!document.activeElement?.matches(".row-link:focus-visible")) heading.current?.focus();
  }, []);
  return (
    <section class="pane" aria-labelledby={titleId}>
      <header class="pane-header">
        <h2 id={titleId} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button kind="ghost" icon="close" label={`Close ${title.toLowerCase()}`} onClick={close} />
      </header>
      <div class="pane-content">{children}</div>
    </section>
  );
}

/** The content of a pane, when it is loaded. */
export function PaneContent<Answer>({
  resource: { data, failure, reload },
  children,
}: {
  resource: Resource<Answer>;
  children: (data: Answer) => ComponentChildren;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  if (!failure) return <Loading />;
  if (failure.status !== 404) return <FailureState failure={failure} onRetry={reload} />;
  return (
    <EmptyState title="This no longer exists">
      <p>
        <Text value={failure.message} />
      </p>
    </EmptyState>
  );
}

/** A part of a pane with its heading. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="pane-section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
