import { expect, test, vi } from "vitest";
import { RevokedSessions } from "../../../src/console/server/access.ts";

test("Sessions that have expired are removed when another one is signed out", () => {
  let now = 0;
  const revoked = new RevokedSessions({ now: () => now, maxSessions: 2 });
  revoked.add("a", 10);
  revoked.add("b", 100);
  now = 10;
  revoked.add("c", 110);
  expect(["a", "b", "c"].map((id) => revoked.has(id))).toEqual([false, true, true]);
});

test("With too many sessions, the oldest ones are valid again", () => {
  const revoked = new RevokedSessions({ now: () => 0, maxSessions: 2 });
  for (const id of ["a", "b", "c"]) revoked.add(id, 10);
  expect(["a", "b", "c"].map((id) => revoked.has(id))).toEqual([false, true, true]);
});

test("A listener is called when its session is signed out, also if that was before", () => {
  const revoked = new RevokedSessions({ now: () => 0 });
  const [early, late, removed, other] = [
    vi.fn<() => void>(),
    vi.fn<() => void>(),
    vi.fn<() => void>(),
    vi.fn<() => void>(),
  ];
  revoked.watch("a", early);
  revoked.watch("a", removed)();
  revoked.watch("b", other);
  revoked.add("a", 10);
  revoked.watch("a", late);
  expect([early, late, removed, other].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0, 0]);
});
