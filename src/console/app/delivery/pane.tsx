import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import { formatCount } from "../format.ts";
import { JsonTree } from "../json/tree.tsx";
import type { Resource } from "../resource.ts";
import { useShortcut } from "../state.ts";
import { Button, CopyButton, EmptyState, Loaded, Text } from "../ui.tsx";
import "./pane.css";

/** The item that is open: beside its list on a wide screen, otherwise a page of its own. Its button and Escape close it. */
export function Pane({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const titleId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useShortcut("Escape", onClose);
  useEffect(() => {
    // `j` and `k` open the next item while the focus stays in the list.
    if (!document.activeElement?.matches(".row-link:focus-visible")) heading.current?.focus();
  }, []);
  return (
    <section class="pane" aria-labelledby={titleId}>
      <header class="pane-header">
        <h2 id={titleId} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button kind="ghost" icon="close" label={`Close ${title.toLowerCase()}`} onClick={onClose} />
      </header>
      <div class="pane-content">{children}</div>
    </section>
  );
}

/** The content of a pane, when it is loaded. `goneTitle` and `gone` explain that it is not stored any longer. */
export function PaneContent<Answer>({
  resource,
  goneTitle = "This no longer exists",
  gone,
  children,
}: {
  resource: Resource<Answer>;
  goneTitle?: string;
  /** By default, the message of the server. */
  gone?: ComponentChildren;
  children: (data: Answer) => ComponentChildren;
}) {
  const { data, failure } = resource;
  if (data !== undefined || failure?.status !== 404) return <Loaded resource={resource}>{children}</Loaded>;
  return (
    <EmptyState title={goneTitle}>
      <p>{gone ?? <Text value={failure.message} />}</p>
    </EmptyState>
  );
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="pane-section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Facts about an item. Facts without a value are left out. */
export function Facts({
  facts,
  class: name = "facts",
}: {
  facts: Readonly<Record<string, ComponentChildren>>;
  class?: string;
}) {
  return (
    <dl class={name}>
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

const maxRawCharacters = 64_000;

/** The payload as a tree, or as the text that was received. */
export function PayloadSection({ details }: { details: Pick<DeliveryDetails, "body" | "bodyLength"> }) {
  const { body, bodyLength } = details;
  const [isRaw, setRaw] = useState(false);
  return (
    <section class="pane-section">
      <div class="section-header">
        <h3>Payload</h3>
        {isRaw && <CopyButton text={body} label="Copy all" isNamed />}
        <Button pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </Button>
      </div>
      {bodyLength !== undefined && (
        <p class="quiet">
          Shows the first {formatCount(body.length)} of {formatCount(bodyLength)} characters.
        </p>
      )}
      {isRaw ? <RawText text={body} /> : <JsonTree text={body} label="Payload" />}
    </section>
  );
}

/** A text as it is. A long one is cut until the user asks for all of it. */
export function RawText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(text.length <= maxRawCharacters);
  return (
    <>
      <pre class="json-raw">{escapeHidden(isWhole ? text : text.slice(0, maxRawCharacters))}</pre>
      {!isWhole && <Button onClick={() => setWhole(true)}>Show all {formatCount(text.length)} characters</Button>}
    </>
  );
}

/** The headers of the request. The server has redacted secrets. */
export function RequestHeaders({
  headers,
  title = "Request headers",
}: {
  headers: NonNullable<DeliveryDetails["headers"]>;
  title?: string;
}) {
  return (
    <Section title={title}>
      <dl class="headers">
        {headers.map(([name, value]) => (
          <div key={`${name} ${value}`}>
            <dt>
              <Text value={name} />
            </dt>
            <dd>
              <Text value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
