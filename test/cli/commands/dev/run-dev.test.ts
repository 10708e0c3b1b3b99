import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { copyStarterFile, type KeyAction, listenToKeys, openPage } from "../../../../src/cli/commands/dev/run-dev.ts";
import { createFolder } from "../../../support/temporary-folder.ts";

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

/** Sets PATH to an empty folder until the test ends, and returns the folder. */
function onlyPath(): string {
  const folder = createFolder();
  vi.stubEnv("PATH", folder);
  return folder;
}

test("A page is opened by the program of the system, which may outlive this process", async () => {
  const folder = onlyPath();
  const file = join(folder, "opened");
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\nprintf %s "$1" > "${file}"\nexec /bin/sleep 0.3\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const processes = () => process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
  const before = processes();
  expect(await openPage("http://127.0.0.1:7860")).toBe(true);
  expect(processes()).toBeLessThanOrEqual(before);
  await expect.poll(() => readFileSync(file, { encoding: "utf8", flag: "a+" })).toBe("http://127.0.0.1:7860");
});

test("returns false if the system has no program to open a page", async () => {
  onlyPath();
  expect(await openPage("http://127.0.0.1:7860")).toBe(false);
});

test("A starter file does not overwrite an existing file", async () => {
  const path = join(createFolder(), "server.ts");
  await copyStarterFile(path);
  expect(readFileSync(path, "utf8")).toContain("new WebhooksServer(");
  writeFileSync(path, "// mine");
  await copyStarterFile(path);
  expect(readFileSync(path, "utf8")).toBe("// mine");
});

test("A starter file that cannot be written is refused with its path", async () => {
  const path = join(createFolder(), "missing", "server.ts");
  await expect(copyStarterFile(path)).rejects.toMatchObject({
    code: "SERVER_FILE_INVALID",
    message: expect.stringContaining(path),
  });
});
