import { useState } from "preact/hooks";
import { indentJson } from "../../../core/text.ts";
import type { DeliveryDetails, EditedReplay, ReplayStarted } from "../../protocol/deliveries.ts";
import type { FieldProblem } from "../../protocol/session.ts";
import { sendJson } from "../api/client.ts";
import { type ApiFailure, toApiFailure } from "../api/failure.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Text } from "../components/text.tsx";
import { keyText } from "../deliveries/links.ts";
import { JsonEditor } from "../json/editor.tsx";
import { findSyntaxProblem, keepUnchanged } from "../json/problems.ts";

/** The last edit that was not sent, so that closing the dialog by mistake loses nothing. */
let draft: { key: string; text: string } | undefined;

/** Edits the payload of a delivery and replays the copy. */
export function EditDialog({
  details,
  onClose,
  onStarted,
}: {
  details: DeliveryDetails;
  onClose: () => void;
  onStarted: (started: ReplayStarted) => void;
}) {
  const { endpoint, id, body } = details;
  const key = keyText(details);
  const [original] = useState(() => (findSyntaxProblem(body) ? body : [...indentJson(body)].join("")));
  const [text, setText] = useState(() => (draft?.key === key ? draft.text : original));
  const [problem, setProblem] = useState<ApiFailure>();
  const [fields, setFields] = useState<readonly FieldProblem[]>([]);

  const change = (next: string) => {
    setFields((known) => (known.length === 0 ? known : keepUnchanged(known, { sent: text, current: next })));
    setText(next);
    draft = next === original ? undefined : { key, text: next };
  };
  const send = async () => {
    setProblem(undefined);
    setFields([]);
    if (findSyntaxProblem(text)) return;
    try {
      const request: EditedReplay = { endpoint, id, body: text };
      const started = await sendJson<ReplayStarted>("deliveries/replay-edited", request);
      draft = undefined;
      onClose();
      onStarted(started);
    } catch (error) {
      const failure = toApiFailure(error);
      setFields(failure.fields);
      setProblem(failure);
    }
  };
  const isInvalid = findSyntaxProblem(text) !== undefined;
  return (
    <Dialog title="Edit and replay" isWide onClose={onClose}>
      <p class="quiet">
        Sends a copy with this payload to <bdi>{endpoint}</bdi>. The original delivery does not change.
      </p>
      <JsonEditor label="Payload" value={text} fields={fields} onChange={change} onSubmit={() => void send()} />
      {problem && problem.fields.length === 0 && (
        <p class="problem" role="alert">
          <Text value={problem.message} />
        </p>
      )}
      <div class="dialog-actions">
        {text !== original && (
          <Button kind="ghost" onClick={() => change(original)}>
            Undo all changes
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" icon="replay" disabled={isInvalid} title="Ctrl+Enter or Command+Enter" onClick={send}>
          Replay edited copy
        </Button>
      </div>
    </Dialog>
  );
}
