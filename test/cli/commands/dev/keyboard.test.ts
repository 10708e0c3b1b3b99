import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { type KeyAction, listenToKeys } from "../../../../src/cli/commands/dev/run-dev.ts";

/** Creates a standard input that receives keys one by one. */
function makeTerminalInput() {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  return { stdin, modes };
}

test("each key has its action, other keys list the keys, and Enter is ignored", () => {
  const { stdin } = makeTerminalInput();
  const actions: KeyAction[] = [];
  listenToKeys(stdin, (action) => actions.push(action));
  stdin.emit("data", Buffer.from("rOx\r\n"));
  stdin.emit("data", "\u001b[A");
  stdin.emit("data", "q\u0003\u0004");
  expect(actions).toEqual(["replay", "open", "help", "help", "quit", "quit", "quit"]);
});

test("The terminal's mode is restored", () => {
  const { stdin, modes } = makeTerminalInput();
  const actions: KeyAction[] = [];
  const stop = listenToKeys(stdin, (action) => actions.push(action));
  expect(modes).toEqual([true]);
  stop();
  stdin.emit("data", "r");
  expect({ modes, actions, paused: stdin.isPaused() }).toEqual({ modes: [true, false], actions: [], paused: true });
  listenToKeys(stdin, () => {});
  expect(stdin.isPaused()).toBe(false);
});

test("Without a terminal, no keys are read", () => {
  const stdin = new PassThrough();
  listenToKeys(stdin, () => {})();
  expect(stdin.listenerCount("data")).toBe(0);
});
