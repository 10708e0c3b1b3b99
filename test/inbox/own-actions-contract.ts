import { describe, expect, test } from "vitest";
import type { OwnActions } from "../../src/inbox/inbox.ts";
import { ownActionRetentionMs } from "../../src/inbox/inbox.ts";
import { type Engine, type EngineOptions, openInbox } from "./engine.ts";

/** Tests of the own actions that every inbox of this package must pass. */
export function describeOwnActions(engine: Engine): void {
  async function open(options: Partial<EngineOptions> = {}): Promise<{ actions: OwnActions; store: string }> {
    const { inbox, store } = await openInbox(engine, options);
    if (!inbox.ownActions) throw new Error("The inbox has no own actions.");
    return { actions: inbox.ownActions, store };
  }

  describe("the own actions", () => {
    test("contain only the keys that were added", async () => {
      const { actions } = await open();
      await actions.add(["comment a", "commit b"]);
      await actions.add(["commit b", "discussion model:me/net#1"]);
      const keys = ["commit b", "commit c", "discussion model:me/net#1", "discussion model:me/net#12", "comment a"];
      expect(await actions.find(keys)).toEqual(new Set(["commit b", "discussion model:me/net#1", "comment a"]));
    });

    // Otherwise, only one process can own the inbox.
    if (engine.openReader === undefined) {
      test("are shared by servers that run at the same time", async () => {
        const first = await openInbox(engine);
        const second = await open({ store: first.store });
        await first.inbox.ownActions?.add(["commit a"]);
        expect(await second.actions.find(["commit a"])).toEqual(new Set(["commit a"]));
      });
    }

    test("are kept after the server exits", async () => {
      const first = await openInbox(engine);
      await first.inbox.ownActions?.add(["commit a"]);
      await first.inbox.close(0);
      const { actions } = await open({ store: first.store });
      expect(await actions.find(["commit a"])).toEqual(new Set(["commit a"]));
    });

    test("are removed after 14 days", async () => {
      let now = Date.now();
      const { actions } = await open({ now: () => now });
      await actions.add(["commit old"]);
      now += ownActionRetentionMs - 1_000;
      await actions.add(["commit young"]);
      expect(await actions.find(["commit old", "commit young"])).toEqual(new Set(["commit old", "commit young"]));
      now += 2_000;
      await actions.add(["commit new"]);
      expect(await actions.find(["commit old", "commit young"])).toEqual(new Set(["commit young"]));
    });
  });
}
