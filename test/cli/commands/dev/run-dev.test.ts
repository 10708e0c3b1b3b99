import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import { DevLines, formatDelivery, sanitizeLine } from "../../../../src/cli/commands/dev/dev-lines.ts";
import { copyStarterFile, type KeyAction, listenToKeys, openPage } from "../../../../src/cli/commands/dev/run-dev.ts";
import type { DevEvent, DevState } from "../../../../src/dev/dev-event.ts";
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

const defaultTriggerHub = "http://127.0.0.1:5050";
const lines = new DevLines({ defaultTriggerHub, hasColors: false, now: () => new Date(2026, 0, 2, 3, 4, 5).getTime() });

const retrain = {
  name: "retrain",
  url: "http://127.0.0.1:7860/webhooks/retrain",
  watch: ["dataset:me/data"],
  trigger: ["dataset:me/data"],
};
const state: DevState = {
  url: "http://127.0.0.1:7860",
  publicUrl: "http://127.0.0.1:7860",
  hub: { kind: "local", url: "http://127.0.0.1:5050" },
  endpoints: [retrain],
  consoleUrl: "http://127.0.0.1:7860/_console/",
};
const consoleLink = "http://127.0.0.1:7860/_console/#/sign-in/code";
const start = { file: "server.ts", seconds: 0.34, hasKeys: true, consoleLink };

describe("Ready", () => {
  test("shows the addresses, the watched repositories, and how to send a test event", () => {
    expect(lines.ready(state, start)).toEqual([
      "",
      "Ready in 0.3 s: server.ts",
      `  console    ${consoleLink}  (once; key o opens it again)`,
      "  server     http://127.0.0.1:7860",
      "  Hub        http://127.0.0.1:5050  (local, no account)",
      "",
      "  retrain  dataset:me/data",
      "",
      "To send a test event, run in another terminal: npx hub-webhooks trigger dataset:me/data",
      "Keys: r replays the latest delivery, o opens the console, q quits",
      "",
    ]);
  });

  test("shows the inbox if an endpoint runs in the background", () => {
    const inbox = "sqlite:./.hub-webhooks/dev.db";
    expect(lines.ready({ ...state, inbox }, start)).toContain(`  inbox      ${inbox}  (kept between sessions)`);
  });

  test("shows the secret that was generated for the session", () => {
    expect(lines.ready(state, { ...start, secret: "5e55ion" })).toContain(
      "  secret     5e55ion  (this session; sent by the local Hub and by trigger)",
    );
  });

  test("adds --hub-url for a local Hub at another port", () => {
    const elsewhere = lines.ready({ ...state, hub: { kind: "local", url: "http://127.0.0.1:6000" } }, start).join("\n");
    expect(elsewhere).toContain("npx hub-webhooks trigger dataset:me/data --hub-url http://127.0.0.1:6000");
  });

  test("shows the public address, and no trigger command, on the real Hub", () => {
    const { trigger: _trigger, ...registered } = retrain;
    const silent = { name: "silent", url: "https://owl.example/webhooks/silent", watch: [] };
    const real: DevState = {
      ...state,
      publicUrl: "https://owl.example",
      hub: { kind: "real", url: "https://huggingface.co" },
      endpoints: [registered, silent],
    };
    const text = lines.ready(real, { ...start, hasKeys: false }).join("\n");
    expect(text).toContain("  public     https://owl.example\n  Hub        https://huggingface.co\n");
    expect(text).toContain(
      '  silent   not registered: add { watch: "dataset:you/data" } to the endpoint, or use --watch',
    );
    expect(text).not.toContain("trigger");
    expect(text).toContain("Press Ctrl+C to stop.");
  });

  test("explains what to do without endpoints", () => {
    expect(lines.ready({ ...state, endpoints: [] }, start).join("\n")).toContain(
      "Register one with server.webhook(name, handler).",
    );
  });
});

describe("An event is one line", () => {
  test.each<[DevEvent, string]>([
    [{ event: "reloading", files: ["/home/me/server.ts", "C:\\me\\lib.ts"] }, "· server.ts, lib.ts changed: reloading"],
    [{ event: "reloaded", endpoints: [retrain] }, "✓ reloaded: retrain"],
    [{ event: "reloaded", endpoints: [] }, "✓ reloaded: no endpoints"],
    [
      { event: "broken", reason: "server.ts failed to load.", isRestarted: false },
      "✗ server.ts failed to load. Deliveries receive a 503 response until you fix the file.",
    ],
    [{ event: "broken", reason: "It has ended.", isRestarted: true }, "✗ It has ended. The server is restarting."],
    [
      { event: "down", reason: "The tunnel is gone." },
      "✗ DOWN: the public URL is not reachable. The tunnel is gone. Reconnecting.",
    ],
    [{ event: "up", publicUrl: "https://owl.example" }, "✓ UP: https://owl.example is reachable again"],
    [
      { event: "urlChanged", publicUrl: "https://cat.example" },
      "! NEW URL: https://cat.example; updating the webhooks of this session",
    ],
    [{ event: "webhooks", steps: ["created webhook 1 for retrain"] }, "· created webhook 1 for retrain"],
    [
      { event: "problem", code: "HUB_UNREACHABLE", message: "The Hub cannot be reached." },
      "! The Hub cannot be reached.",
    ],
  ])("%j", (event, text) => {
    expect(lines.format(event)).toEqual([`03:04:05 ${text}`]);
  });

  test("shows the error of a file once, with its stack", () => {
    const reason = "server.ts failed to load. TypeError: boom (lib.ts:3:7)";
    const stack = "TypeError: boom\n    at deep (/me/lib.ts:3:7)\n    at /me/server.ts:1:1";
    expect(lines.format({ event: "broken", reason, stack, isRestarted: false })).toEqual([
      `03:04:05 ✗ ${reason}. Deliveries receive a 503 response until you fix the file.`,
      "        at deep (/me/lib.ts:3:7)",
      "        at /me/server.ts:1:1",
    ]);
    const shallow = "TypeError: boom\n    at /me/lib.ts:3:7";
    expect(lines.format({ event: "broken", reason, stack: shallow, isRestarted: false })).toHaveLength(1);
  });

  test("explains why the server did not answer a delivery", () => {
    const failed = { endpoint: "retrain", status: 503, durationMs: 3, reason: "It is gone." };
    expect(lines.format({ event: "delivery", ...failed })).toEqual([
      "03:04:05 ✗ 503  retrain  It is gone. The Hub retries the delivery while it has attempts left.",
    ]);
  });

  test("prints no line for a delivery that the server logs itself", () => {
    expect(lines.format({ event: "ready", ...state })).toEqual([]);
    expect(lines.format({ event: "delivery", endpoint: "retrain", status: 200, durationMs: 3 })).toEqual([]);
  });
});

describe("The output of the server", () => {
  const output = (text: string) => lines.format({ event: "output", stream: "stdout", text });

  test("is shown unchanged if it is not a log line", () => {
    expect(output("hello")).toEqual(["hello"]);
  });

  test("is one line per delivery, followed by the error of its handler", () => {
    const failed = { endpoint: "retrain", outcome: "failed", status: 500, err: { stack: "Error: no" } };
    expect(output(JSON.stringify({ level: 50, time: 1, ...failed }))).toEqual([
      "03:04:05 ✗ 500  retrain",
      "    Error: no",
    ]);
  });

  test("marks deliveries that the Hub retries", () => {
    const answered = (deliveryId: string, status: number) =>
      output(JSON.stringify({ level: 30, time: 1, endpoint: "retrain", deliveryId, status }))[0]?.slice(9);
    expect([
      answered("again-1", 500),
      answered("again-1", 500),
      answered("again-2", 200),
      answered("again-1", 200),
    ]).toEqual([
      "✗ 500  retrain",
      "✗ 500  retrain  retried by the Hub",
      "✓ 200  retrain",
      "✓ 200  retrain  retried by the Hub",
    ]);
  });

  test("remembers the latest thousand deliveries, and not those before them", () => {
    const answered = (deliveryId: string) =>
      output(JSON.stringify({ level: 30, time: 1, endpoint: "retrain", deliveryId, status: 200 }))[0]?.slice(9);
    for (let number = 0; number <= 1_000; number += 1) answered(`many-${number}`);
    expect(answered("many-1")).toBe("✓ 200  retrain  retried by the Hub");
    expect(answered("many-0")).toBe("✓ 200  retrain");
  });

  test("is formatted as on a terminal for any other log line", () => {
    const [line] = output(JSON.stringify({ level: 40, time: 1, msg: "careful", disk: "full" }));
    expect(line).toMatch(/warn.* careful .*disk=.*full$/);
  });
});

test("has colors if they are enabled", () => {
  const coloured = new DevLines({ defaultTriggerHub, hasColors: true, now: () => 0 });
  expect(coloured.format({ event: "reloaded", endpoints: [] })[0]).toContain("\u001b[32m✓\u001b[39m");
});

/** Formats a log line with these fields. */
function format(fields: Record<string, unknown>) {
  return formatDelivery(fields, { isRetry: false });
}

const event = { repo: "dataset:me/data", scope: "repo.content", action: "update" };
const delivery = { endpoint: "retrain", deliveryId: "d1", ...event };

describe("formatDelivery", () => {
  const about = "retrain  dataset:me/data  repo.content update";
  const retrying = { outcome: "retrying", attempt: 1, ms: 5, nextAttemptInMs: 30_000 };
  const dead = { outcome: "dead", attempt: 3, code: "HANDLER_FAILED" };
  const deadMessage = 'delivery is dead: The handler of endpoint "retrain" failed. Replay it.';

  test.each([
    ["a success", { outcome: "succeeded", status: 200, ms: 1.2 }, `✓ 200  ${about}  1.2 ms`],
    ["an accepted delivery", { status: 202, ms: 3 }, `✓ 202  ${about}  3 ms  accepted`],
    ["a duplicate", { status: 202, ms: 3, duplicate: true }, `✓ 202  ${about}  3 ms  duplicate, not run again`],
    [
      "a delivery that does not match the filter",
      { outcome: "ignored", status: 200, ms: 0.1, reason: "repo dataset:me/data is not model:me/*" },
      `· 200  ${about}  0.1 ms  ignored: repo dataset:me/data is not model:me/*`,
    ],
    ["a background attempt", { outcome: "succeeded", attempt: 2, ms: 40 }, `✓ succeeded  ${about}  40 ms  attempt 2`],
    [
      "a failure",
      { outcome: "failed", status: 500, ms: 5, msg: "delivery failed: It failed." },
      `✗ 500  ${about}  5 ms  It failed.`,
    ],
    [
      "a dead delivery, with the message of the cause",
      { ...dead, msg: deadMessage, err: { message: "boom" } },
      `✗ dead  ${about}  attempt 3  boom`,
    ],
    [
      "a dead delivery without a cause",
      { ...dead, msg: "delivery is dead: The body does not match." },
      `✗ dead  ${about}  attempt 3  The body does not match.`,
    ],
    [
      "a failed attempt with a retry",
      { ...retrying, msg: "Timed out." },
      `✗ failed  ${about}  5 ms  attempt 1  Timed out.  next attempt in 30 s`,
    ],
    [
      "a failed attempt with an error and a retry",
      { ...retrying, msg: "It failed.", err: { message: "no" } },
      `✗ failed  ${about}  5 ms  attempt 1  next attempt in 30 s`,
    ],
    [
      "a failed attempt with a repeated error and a retry",
      { ...retrying, msg: "delivery will be retried in 30 s: no.", repeated: 1 },
      `✗ failed  ${about}  5 ms  attempt 1  no.  next attempt in 30 s`,
    ],
  ])("formats %s as one line", (_name, fields, line) => {
    const [sign, text] = [line.slice(0, 1), line.slice(2)];
    expect(format({ ...delivery, ...fields })).toMatchObject({ sign, text, stack: [] });
  });

  test("formats a rejected delivery, whose payload is unknown", () => {
    const fields = {
      endpoint: "retrain",
      status: 403,
      code: "SECRET_INVALID",
      msg: "delivery refused: Invalid secret.",
    };
    expect(format(fields)).toMatchObject({ sign: "✗", text: "403  retrain  delivery refused: Invalid secret." });
  });

  test("shows the frames of the user's code for an error", () => {
    const stack = [
      "Error: oh no",
      "    at handler (/home/me/server.ts:3:9)",
      "    at processDelivery (file:///home/me/node_modules/hub-webhooks/dist/receiver/pipeline/run-handler.js:1:1)",
      "    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)",
    ].join("\n");
    expect(format({ ...delivery, outcome: "failed", status: 500, err: { stack } })?.stack).toEqual([
      "Error: oh no",
      "    at handler (/home/me/server.ts:3:9)",
    ]);
  });

  test("shows a string that a handler threw", () => {
    expect(format({ ...delivery, outcome: "failed", status: 500, err: "no database" })?.stack).toEqual(["no database"]);
  });

  test("returns undefined for other log lines", () => {
    expect(format({ msg: "hello" })).toBeUndefined();
    expect(format({ endpoint: "retrain", url: "http://x", msg: "Endpoint added." })).toBeUndefined();
  });

  test("removes escape codes", () => {
    expect(format({ ...delivery, repo: "dataset:me/\u001b[2Jdata", status: 200 })?.text).toContain("dataset:me/data");
  });
});

describe("sanitizeLine", () => {
  test("keeps colors and removes other control characters", () => {
    expect(sanitizeLine("\u001b[31mred\u001b[0m\u001b[2J\u0007\u202e\tend")).toBe("\u001b[31mred\u001b[0m[2J    end");
  });
});
