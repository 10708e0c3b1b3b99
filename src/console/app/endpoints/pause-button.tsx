import { sendJson } from "../api/client.ts";
import { showToast } from "../state/toasts.ts";
import { Button } from "../ui.tsx";

/** Pauses or resumes a background endpoint. */
export function PauseButton({ name, isPaused, onChange }: { name: string; isPaused: boolean; onChange: () => void }) {
  const change = async () => {
    await sendJson(`endpoints/${isPaused ? "resume" : "pause"}`, { endpoint: name });
    showToast({
      kind: "done",
      text: isPaused
        ? `${name} is resumed.`
        : `${name} is paused. New deliveries are stored and wait until you resume it.`,
    });
    onChange();
  };
  return (
    <Button icon={isPaused ? "play" : "pause"} onClick={change}>
      {isPaused ? "Resume" : "Pause"}
    </Button>
  );
}
