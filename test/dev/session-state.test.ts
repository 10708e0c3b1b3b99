import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createEmitter, type DevEvent } from "../../src/dev/dev-event.ts";
import { OpenParts } from "../../src/dev/dev-session.ts";
import {
  findSessionHub,
  findSessionSecret,
  type SessionRecord,
  StoredSession,
  writeSessionFile,
} from "../../src/dev/session-file.ts";
import { defaultWatch } from "../../src/dev/session-state.ts";
import { createFolder } from "../support/temporary-folder.ts";

const allOfLocalUser = [{ type: "user", name: "local-user" }];

test.for([
  ["nothing", [], allOfLocalUser],
  ["a repository", ["dataset:me/data"], [{ type: "dataset", name: "me/data" }]],
  ["an organization", ["model:acme/*"], [{ type: "org", name: "acme" }]],
  ["a user", ["*:local-user/*"], [{ type: "user", name: "local-user" }]],
  ["an unknown owner", ["dataset:me/*"], [{ type: "user", name: "me" }]],
  ["a repository of any type", ["*:me/data"], [{ type: "user", name: "me" }]],
  ["any owner", ["dataset:*/data"], allOfLocalUser],
  [
    "several",
    ["dataset:*/x", "space:me/app", "model:acme/*"],
    [
      { type: "space", name: "me/app" },
      { type: "org", name: "acme" },
    ],
  ],
] as const)("derives the default watch from a filter that names %s", ([, repos, watch]) => {
  expect(defaultWatch({ repos })).toEqual(watch);
});

test("A session that is closed reports only the output of its server and problems", () => {
  const names: string[] = [];
  const closing = new AbortController();
  const emit = createEmitter(({ event }) => names.push(event), closing.signal);
  const all: readonly DevEvent[] = [
    { event: "down", reason: "The tunnel was lost." },
    { event: "delivery", endpoint: "retrain", status: 200, durationMs: 1 },
    { event: "output", stream: "stdout", text: "The last line" },
    { event: "problem", code: "HUB_FAILED", message: "A webhook could not be deleted." },
  ];
  for (const event of all) emit(event);
  closing.abort();
  for (const event of all) emit(event);
  expect(names).toEqual(["down", "delivery", "output", "problem", "output", "problem"]);
});

test("A listener that throws or rejects is a warning", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  const emit = createEmitter(({ event }) => {
    if (event === "up") throw new Error("thrown");
    return Promise.reject(new Error("rejected"));
  }, new AbortController().signal);
  emit({ event: "up", publicUrl: "https://bot.example" });
  emit({ event: "urlChanged", publicUrl: "https://bot.example" });
  await expect
    .poll(() => warned.mock.calls.map(([message]) => String(message).split("\n")[0]))
    .toEqual([
      'The listener of the session event "up" failed: Error: thrown',
      'The listener of the session event "urlChanged" failed: Error: rejected',
    ]);
});

test("Open parts are closed once, in reverse order, before the onClosed callbacks run", async () => {
  const parts = new OpenParts();
  const closed: string[] = [];
  for (const name of ["first", "second"]) await parts.add({ close: async () => void closed.push(name) });
  parts.addFinalCloser(async () => void closed.push("released"));
  await Promise.all([parts.close(), parts.close()]);
  expect(closed).toEqual(["second", "first", "released"]);
  expect(parts.signal.reason).toMatchObject({ code: "CLOSING" });
});

test("Parts that cannot be closed do not keep earlier and later parts open", async () => {
  const parts = new OpenParts();
  const closed: string[] = [];
  const opening = Promise.withResolvers<void>();
  void parts.track(opening.promise.then(() => parts.addCloser(async () => void closed.push("late"))));
  parts.addCloser(async () => void closed.push("first"));
  const fail = () => Promise.reject(new Error("The disk is full."));
  for (const closer of [fail, fail]) parts.addCloser(closer);
  const closing = parts.close();
  opening.resolve();
  await expect(closing).rejects.toThrow("The disk is full.");
  expect(closed.toSorted()).toEqual(["first", "late"]);
});

test("A part that opens after the session was closed is closed immediately, and not used", async () => {
  const parts = new OpenParts();
  await parts.close();
  const close = vi.fn(async () => {});
  await expect(parts.add({ close })).rejects.toMatchObject({ code: "CLOSING" });
  expect(close).toHaveBeenCalledOnce();
});

test("Closing waits for a part that is still opening, and closes it", async () => {
  const parts = new OpenParts();
  const opening = Promise.withResolvers<void>();
  const closed: string[] = [];
  const opened = opening.promise.then(() => parts.addCloser(async () => void closed.push("late")));
  void parts.track(opened);
  const closing = parts.close();
  opening.resolve();
  await closing;
  expect(closed).toEqual(["late"]);
});

const secret = "Planted-5ecret-of-the-session";
const url = "http://127.0.0.1:7860/webhooks/retrain";
let temporary: string;

beforeEach(() => {
  temporary = createFolder();
  vi.stubEnv("TMPDIR", temporary);
});

/** Stores a session at port 7860. */
function store(session: Partial<SessionRecord> = {}): () => void {
  return writeSessionFile({ port: 7860, folder: "/bot", ...session });
}

const folder = () => join(temporary, readdirSync(temporary)[0] ?? "");

describe("The stored secret of a session", () => {
  test("is found by the local port of its session until it is deleted", () => {
    const remove = store({ secret });
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      expect(findSessionSecret(`http://${host}:7860/webhooks/retrain`)).toBe(secret);
    }
    for (const other of ["http://127.0.0.1:7861", "http://bot.example:7860", "https://127.0.0.1:7860", "no url"]) {
      expect(findSessionSecret(other)).toBeUndefined();
    }
    remove();
    expect(findSessionSecret(url)).toBeUndefined();
  });

  test("is only readable by its owner, even if the file existed before", () => {
    store({ secret: "of before" });
    chmodSync(join(folder(), "dev-7860.json"), 0o666);
    store({ secret });
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder(), "dev-7860.json")).mode & 0o777).toBe(0o600);
    expect(findSessionSecret(url)).toBe(secret);
  });

  test("is not read for a killed session, also if another process has its PID, nor from an invalid file", () => {
    store({ secret });
    const reused = { pid: process.pid, startedAt: "1", folder: "/bot", secret };
    const killed = { pid: 2 ** 30, folder: "/bot", secret };
    for (const text of [JSON.stringify(reused), JSON.stringify(killed), JSON.stringify({ secret }), "{"]) {
      writeFileSync(join(folder(), "dev-7860.json"), text);
      expect(findSessionSecret(url)).toBeUndefined();
    }
  });

  test.each([
    { what: "others may read", spoil: (path: string) => chmodSync(path, 0o755) },
    {
      what: "is a symbolic link",
      spoil: (path: string) => {
        rmSync(path, { recursive: true });
        mkdirSync(join(temporary, "z-elsewhere"), { mode: 0o700 });
        symlinkSync(join(temporary, "z-elsewhere"), path);
      },
    },
  ])("is neither written to nor read from a folder that $what", ({ spoil }) => {
    store({ secret })();
    const path = folder();
    spoil(path);
    expect(() => store({ secret })).toThrow(/belongs to another user/);
    expect(existsSync(join(path, "dev-7860.json"))).toBe(false);
    writeFileSync(join(path, "dev-7860.json"), JSON.stringify({ pid: process.pid, folder: "/bot", secret }));
    expect(findSessionSecret(url)).toBeUndefined();
  });
});

describe("The stored local Hub of a session", () => {
  test("is found by the folder in which its session was started", () => {
    const remove = store({ localHubUrl: "http://127.0.0.1:5051" });
    expect(findSessionHub("/bot")).toBe("http://127.0.0.1:5051");
    expect(findSessionHub("/another")).toBeUndefined();
    remove();
    expect(findSessionHub("/bot")).toBeUndefined();
  });

  test("is the latest session's local Hub", () => {
    store({ port: 7861, localHubUrl: "http://127.0.0.1:5051" });
    store({ port: 7862, localHubUrl: "http://127.0.0.1:5052" });
    store({ port: 7863 });
    utimesSync(join(folder(), "dev-7861.json"), new Date(), new Date(Date.now() + 60_000));
    expect(findSessionHub("/bot")).toBe("http://127.0.0.1:5051");
  });
});

const serverUrl = "http://127.0.0.1:7860";
const localHubUrl = "http://127.0.0.1:5900";
function createSession() {
  const failures: unknown[] = [];
  const session = new StoredSession({ port: 7860, localHubUrl }, (error) => failures.push(error));
  return { session, failures };
}

describe("A stored session", () => {
  test("is updated when the secret changes, and deleted when it closes", async () => {
    const { session, failures } = createSession();
    session.store("first-secret");
    expect([findSessionSecret(serverUrl), findSessionHub(process.cwd())]).toEqual(["first-secret", localHubUrl]);
    session.store("second-secret");
    expect(findSessionSecret(serverUrl)).toBe("second-secret");
    await session.close();
    expect(findSessionHub(process.cwd())).toBeUndefined();
    expect(failures).toEqual([]);
  });

  test("contains the local Hub of a server without a secret", () => {
    createSession().session.store(undefined);
    expect([findSessionSecret(serverUrl), findSessionHub(process.cwd())]).toEqual([undefined, localHubUrl]);
  });

  test("is not written again after it closes", async () => {
    const { session } = createSession();
    await session.close();
    session.store("late-secret");
    expect(findSessionSecret(serverUrl)).toBeUndefined();
  });

  test("reports the first failure only", () => {
    vi.stubEnv("TMPDIR", join(temporary, "file"));
    writeFileSync(join(temporary, "file"), "");
    const { session, failures } = createSession();
    session.store("first-secret");
    session.store("second-secret");
    expect(failures).toHaveLength(1);
  });
});
