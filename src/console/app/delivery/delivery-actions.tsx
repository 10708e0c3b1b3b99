import { useState } from "preact/hooks";
import type { DeliveryDetails, ReplayStarted } from "../../protocol/deliveries.ts";
import type { ConsoleFeature } from "../../protocol/session.ts";
import { sendJson } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { CopyButton } from "../components/copy-button.tsx";
import { deliveryHash, keyText, readListRoute } from "../deliveries/links.ts";
import { useShortcut } from "../state/keyboard.ts";
import { formatRoute, navigate, route } from "../state/route.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { toCopiedTest } from "./copied-test.ts";
import { toCurl } from "./curl.ts";
import { EditDialog } from "./edit-dialog.tsx";

const replayButtonId = "replay-delivery";

/** The actions of a delivery. */
export function DeliveryActions({ details }: { details: DeliveryDetails }) {
  const { endpoint, id, status, storage, body, bodyLength, url } = details;
  const [isEditing, setEditing] = useState(false);
  const isCut = bodyLength !== undefined;
  // A delivery with attempts left runs again without a replay, and a delivery in memory cannot be stopped.
  const canDiscard = storage === "inbox" && ["queued", "retrying", "dead"].includes(status);
  const canReplay = status !== "running" && status !== "queued";
  const test = isCut ? undefined : toCopiedTest({ endpoint, status, body });

  const replay = async () => {
    showReplay(
      details,
      await sendJson<ReplayStarted>("deliveries/replay", { endpoint, id }),
      "The delivery runs again.",
    );
  };
  const discard = async () => {
    await sendJson("deliveries/discard", { endpoint, id });
    showToast({ kind: "done", text: "The delivery is discarded. Replay it to run it after all." });
  };
  useShortcut("r", () => {
    if (!canReplay) return false;
    // The button shows that the replay is pending, and ignores the key until then.
    document.getElementById(replayButtonId)?.click();
    return true;
  });
  useShortcut("e", () => {
    if (isCut) return false;
    setEditing(true);
    return true;
  });
  return (
    <div class="delivery-actions">
      <Button id={replayButtonId} icon="replay" kind="primary" shortcut="r" disabled={!canReplay} onClick={replay}>
        Replay
      </Button>
      <Button
        icon="edit"
        shortcut="e"
        disabled={isCut}
        {...(isCut && { title: "The payload is larger than 1 MiB." })}
        onClick={() => setEditing(true)}
      >
        Edit and replay
      </Button>
      {canDiscard && (
        <Button icon="discard" kind="danger" onClick={discard}>
          Discard
        </Button>
      )}
      {isOffered("send") && !isCut && (
        <a class="button" href={formatRoute("send", { "from-endpoint": endpoint, "from-id": id })}>
          Send a copy
        </a>
      )}
      {isOffered("logs") && (
        <a class="button" href={formatRoute("logs", { deliveryId: id })}>
          Logs
        </a>
      )}
      {!isCut && (
        <CopyButton
          text={() => toCurl({ url, body })}
          label="Copy as curl"
          isNamed
          nextStep="Set WEBHOOK_SECRET in your shell before you run it."
        />
      )}
      {test !== undefined && <CopyButton text={test} label="Copy as test" isNamed />}
      {isEditing && (
        <EditDialog
          details={details}
          onClose={() => setEditing(false)}
          onStarted={(started) => {
            showToast({ kind: "done", text: "The edited copy was sent." });
            navigate(deliveryHash(started, readListRoute(route.value).filter));
          }}
        />
      )}
    </div>
  );
}

function isOffered(feature: ConsoleFeature): boolean {
  const info = session.value;
  return info?.signedIn === true && info.features.includes(feature);
}

/** Shows that a replay has started. A replay of the same delivery needs no link to itself. */
function showReplay(original: DeliveryDetails, started: ReplayStarted, text: string): void {
  if (keyText(original) === keyText(started)) {
    showToast({ kind: "done", text });
    return;
  }
  const { filter } = readListRoute(route.value);
  showToast({ kind: "done", text, link: { hash: deliveryHash(started, filter), label: "Show the new delivery" } });
}
