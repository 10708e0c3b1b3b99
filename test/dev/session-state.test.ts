import { expect, test, vi } from "vitest";
import { type DevEvent, SessionEvents } from "../../src/dev/dev-event.ts";
import { OpenParts } from "../../src/dev/dev-session.ts";
import { defaultWatch } from "../../src/dev/session-state.ts";

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
  let isClosed = false;
  const events = new SessionEvents({ onEvent: ({ event }) => names.push(event), isClosed: () => isClosed });
  const all: readonly DevEvent[] = [
    { event: "down", reason: "The tunnel was lost." },
    { event: "delivery", endpoint: "retrain", status: 200, durationMs: 1 },
    { event: "output", stream: "stdout", text: "The last line" },
    { event: "problem", code: "HUB_FAILED", message: "A webhook could not be deleted." },
  ];
  for (const event of all) events.emit(event);
  isClosed = true;
  for (const event of all) events.emit(event);
  expect(names).toEqual(["down", "delivery", "output", "problem", "output", "problem"]);
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
