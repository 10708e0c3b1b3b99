import { spawn } from "node:child_process";
import { messageOf } from "../../../core/describe.ts";
import type { DevSession } from "../../../dev/dev-session.ts";
import type { Output } from "../../output.ts";
import type { InputStream } from "../../shell.ts";

/** An action that a key starts. */
export type KeyAction = "replay" | "open" | "quit" | "help";

const actions: Readonly<Record<string, KeyAction>> = {
  r: "replay",
  o: "open",
  q: "quit",
  // In raw mode, Ctrl+C and Ctrl+D arrive as keys.
  "\u0003": "quit",
  "\u0004": "quit",
};

/**
 * Listens for single keys on a terminal, and returns a function that restores the terminal. A key without an action
 * counts as `help`. If `stdin` is not a terminal, no keys are read.
 */
export function listenToKeys(stdin: InputStream, onAction: (action: KeyAction) => void): () => void {
  if (!stdin.isTTY || !stdin.setRawMode) return () => {};
  const onData = (typed: Buffer | string) => {
    const text = String(typed);
    // An arrow key or function key arrives as one escape sequence.
    const keys = text.startsWith("\u001b") ? [text] : [...text];
    for (const key of keys) {
      const action = actions[key.toLowerCase()] ?? "help";
      // Enter has no action, because users press Enter to insert a blank line.
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

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` uses its first quoted argument as the window title.
  win32: ["cmd", "/c", "start", '""'],
};

/** Opens a URL in the user's browser. Resolves with `true` if the program that opens URLs was started. */
export function openPage(url: string): Promise<boolean> {
  const [program, ...words] = openers[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const opener = spawn(program, [...words, url], { stdio: "ignore", detached: true });
    opener.once("error", () => resolve(false));
    opener.once("spawn", () => {
      opener.unref();
      resolve(true);
    });
  });
}

/** Runs the action of a key. Never rejects. */
export async function runKeyAction(
  action: Exclude<KeyAction, "quit">,
  { session, output }: { session: DevSession; output: Output },
): Promise<void> {
  if (action === "help") {
    output.log(describeKeys());
    return;
  }
  if (action === "open") {
    const url = session.createConsoleLink();
    if (!(await openPage(url))) output.log(`Could not open a browser. Go to ${url}.`);
    return;
  }
  try {
    const replayed = await session.replay();
    if (replayed) output.log(`Replayed the latest delivery of ${replayed.endpoint}: ${replayed.status}`);
    else output.log("No delivery to replay yet.");
  } catch (error) {
    output.log(messageOf(error));
  }
}

/** Lists the keys on one line. */
export function describeKeys(): string {
  return "Keys: r replays the latest delivery, o opens the console, q quits";
}
