import { useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import { formatCount } from "../format.ts";
import { JsonTree } from "../json/tree.tsx";
import { Button, CopyButton } from "../ui.tsx";

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

function RawText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(text.length <= maxRawCharacters);
  return (
    <>
      <pre class="json-raw">{escapeHidden(isWhole ? text : text.slice(0, maxRawCharacters))}</pre>
      {!isWhole && <Button onClick={() => setWhole(true)}>Show all {formatCount(text.length)} characters</Button>}
    </>
  );
}
