import { Dialog } from "../components/dialog.tsx";
import { shortcuts } from "../state/keyboard.ts";

/** Lists the keyboard shortcuts. */
export function HelpDialog({ version, onClose }: { version: string; onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, description }) => (
          <div key={description}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">hub-webhooks {version}</p>
    </Dialog>
  );
}
