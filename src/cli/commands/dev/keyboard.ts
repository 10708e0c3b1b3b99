import type { InputStream } from "../../shell.ts";

/** What a key does. */
export type KeyAction = "replay" | "open" | "quit";

const actions: Readonly<Record<string, KeyAction>> = {
  r: "replay",
  o: "open",
  q: "quit",
  // While keys come one by one, Ctrl+C and Ctrl+D are keys too.
  "\u0003": "quit",
  "\u0004": "quit",
};

/**
 * Listens to single keys, where a person types them. Returns the function that gives the terminal back as it was;
 * without a terminal nothing is read at all.
 */
export function listenToKeys(stdin: InputStream, onAction: (action: KeyAction) => void): () => void {
  if (!stdin.isTTY || !stdin.setRawMode) return () => {};
  const onData = (typed: Buffer | string) => {
    for (const key of String(typed)) {
      const action = actions[key.toLowerCase()];
      if (action) onAction(action);
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
