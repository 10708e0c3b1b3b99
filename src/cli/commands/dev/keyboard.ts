import type { InputStream } from "../../shell.ts";

/** What a key does. */
export type KeyAction = "replay" | "open" | "quit" | "help";

const actions: Readonly<Record<string, KeyAction>> = {
  r: "replay",
  o: "open",
  q: "quit",
  // While keys come one by one, Ctrl+C and Ctrl+D are keys too.
  "\u0003": "quit",
  "\u0004": "quit",
};

/**
 * Reads single keys from a terminal; any key without an action is `help`. Returns the function that restores the
 * terminal. Without a terminal nothing is read.
 */
export function listenToKeys(stdin: InputStream, onAction: (action: KeyAction) => void): () => void {
  if (!stdin.isTTY || !stdin.setRawMode) return () => {};
  const onData = (typed: Buffer | string) => {
    const text = String(typed);
    // An arrow or a function key is one key, which comes as several characters.
    const keys = text.startsWith("\u001b") ? [text] : [...text];
    for (const key of keys) {
      const action = actions[key.toLowerCase()] ?? "help";
      // Enter is often pressed to leave a blank line.
      if (key !== "\r" && key !== "\n") onAction(action);
    }
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.resume();
  return () => {
    stdin.off("data", onData);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}
