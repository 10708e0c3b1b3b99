import { expect, test, vi } from "vitest";
import { OpenParts } from "../../src/dev/dev-session.ts";

test("Open parts are closed once, in reverse order, before the onClosed callbacks run", async () => {
  const parts = new OpenParts();
  const closed: string[] = [];
  for (const name of ["first", "second"]) await parts.add({ close: async () => void closed.push(name) });
  parts.addFinalCloser(async () => void closed.push("released"));
  await Promise.all([parts.close(), parts.close()]);
  expect(closed).toEqual(["second", "first", "released"]);
  expect(parts.signal.reason).toMatchObject({ code: "CLOSING" });
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
