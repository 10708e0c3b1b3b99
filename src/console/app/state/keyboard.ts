import { useEffect, useRef } from "preact/hooks";

/** The shortcuts, in the order of the help dialog. */
export const shortcuts = [
  { keys: ["/"], description: "Search" },
  { keys: ["j", "k"], description: "Select the next or previous delivery" },
  { keys: ["Enter"], description: "Open the selected delivery" },
  { keys: ["Escape"], description: "Close the delivery, or leave the field" },
  { keys: ["r"], description: "Replay the delivery" },
  { keys: ["e"], description: "Edit the delivery and replay it" },
  { keys: ["?"], description: "Show this help" },
] as const;

export type ShortcutKey = (typeof shortcuts)[number]["keys"][number];

/** Returns whether the shortcut applied. If not, the browser handles the key. */
type Handler = () => boolean | undefined;

/** The handlers per key. The newest is called first. */
const handlers = new Map<string, Handler[]>();

/** Calls `handler` when the key is pressed, unless the user is typing or a dialog is open. */
export function useShortcut(key: ShortcutKey, handler: Handler): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const entry: Handler = () => latest.current();
    handlers.set(key, [entry, ...(handlers.get(key) ?? [])]);
    return () => {
      handlers.set(
        key,
        (handlers.get(key) ?? []).filter((other) => other !== entry),
      );
    };
  }, [key]);
}

/** Starts to listen for shortcuts. */
export function startKeyboard(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    // The browser handles Enter on a link or a button.
    if (event.key === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary")) return;
    for (const handler of handlers.get(event.key) ?? []) {
      if (handler() !== false) {
        event.preventDefault();
        return;
      }
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}
