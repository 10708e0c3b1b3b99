import { describe, expect, test } from "vitest";
import type { Cursors } from "../../src/inbox/inbox.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, type EngineOptions, openInbox } from "./engine.ts";

/** Tests of the cursors that every inbox of this package must pass. */
export function describeCursors(engine: Engine): void {
  async function open(options: Partial<EngineOptions> = {}): Promise<{ cursors: Cursors; store: string }> {
    const { inbox, store } = await openInbox(engine, options);
    if (!inbox.cursors) throw new Error("The inbox has no cursors.");
    return { cursors: inbox.cursors, store };
  }

  describe("the cursors", () => {
    test("contain the latest text of each key, by endpoint", async () => {
      const { cursors } = await open();
      await cursors.set(
        "a",
        new Map([
          ["one", "1"],
          ["two", "2"],
        ]),
      );
      await cursors.set("b", new Map([["one", "other"]]));
      await cursors.set("a", new Map([["one", "3"]]));
      expect(await cursors.list("a")).toEqual(
        new Map([
          ["one", "3"],
          ["two", "2"],
        ]),
      );
      expect(await cursors.list("c")).toEqual(new Map());
      expect([await cursors.get("b", "one"), await cursors.get("b", "two")]).toEqual(["other", undefined]);
    });

    test("are kept after the server exits", async () => {
      const first = await openInbox(engine);
      await first.inbox.cursors?.set("a", new Map([["one", "1"]]));
      await first.inbox.close(0);
      const { cursors } = await open({ store: first.store });
      expect(await cursors.get("a", "one")).toBe("1");
    });

    // Otherwise, only one process can own the inbox.
    if (engine.openReader === undefined) {
      test("are claimed by one server at a time, until the claim ends or is returned", async () => {
        let now = Date.now();
        const { cursors, store } = await open({ now: () => now });
        const { cursors: other } = await open({ store, now: () => now });
        const claim = (holder: string, forMs = 1_000) => ({ key: "a", holder, forMs });
        expect(await Promise.all([cursors.claim(claim("one")), other.claim({ ...claim("two"), key: "b" })])).toEqual([
          true,
          true,
        ]);
        expect([await other.claim(claim("two")), await cursors.claim(claim("one"))]).toEqual([false, true]);
        await cursors.claim(claim("one", 0));
        now += 1;
        expect(await other.claim(claim("two"))).toBe(true);
      });

      test("are claimed after the holder was killed and the clock was set back, but not if clocks differ by a few minutes", async () => {
        let now = Date.now();
        const { cursors, store } = await open({ now: () => now });
        const { cursors: other } = await open({ store, now: () => now });
        const claim = (holder: string) => ({ key: "a", holder, forMs: 2_000 });
        expect(await cursors.claim(claim("killed"))).toBe(true);
        now -= 5 * 60_000;
        expect(await other.claim(claim("next"))).toBe(false);
        now -= 3_600_000;
        // In Redis, the claim expires by the clock of the server.
        await waitFor(async () => expect(await other.claim(claim("next"))).toBe(true));
      });
    }
  });
}
