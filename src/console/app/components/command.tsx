import { CopyButton } from "./copy-button.tsx";

/** A command to copy. */
export function Command({ text }: { text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} label="Copy command" />
    </div>
  );
}
