import { describe, expect, test } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { type Engine, hold, incoming, openInbox, succeeded, waitForStatus, work } from "./engine.ts";

/** Tests of paused endpoints that every inbox must pass. */
export function describePausing(engine: Engine): void {
  describe("a paused endpoint", () => {
    test("accepts deliveries and runs them after it is resumed, while other endpoints run", async () => {
      const { inbox } = await openInbox(engine);
      const runs = work(inbox, () => succeeded);
      const others = work(inbox, () => succeeded, { endpoint: "other" });
      await inbox.pause("retrain");
      await inbox.pause("retrain");
      expect(await inbox.pausedEndpoints()).toEqual(["retrain"]);
      for (const id of ["a", "b"]) expect(await inbox.accept(incoming(id))).toEqual({ duplicate: false });
      await inbox.accept(incoming("c", { endpoint: "other" }));
      await waitFor(async () => expect(await inbox.counts()).toMatchObject({ other: { succeeded: 1 } }));
      expect(others).toHaveLength(1);
      expect(runs).toEqual([]);
      expect((await inbox.list({ status: "queued" })).deliveries.map(({ id }) => id)).toEqual(["b", "a"]);
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 2 } });
      await inbox.resume("retrain");
      await inbox.resume("retrain");
      expect(await inbox.pausedEndpoints()).toEqual([]);
      for (const id of ["a", "b"]) await waitForStatus(inbox, id, "succeeded");
    });

    test("stays paused after a restart", async () => {
      const first = await openInbox(engine);
      await first.inbox.accept(incoming("a"));
      await first.inbox.pause("retrain");
      await first.inbox.pause("never-used");
      await first.inbox.close(0);
      const { inbox } = await openInbox(engine, { store: first.store });
      expect(await inbox.pausedEndpoints()).toEqual(["never-used", "retrain"]);
      const runs = work(inbox, () => succeeded);
      work(inbox, () => succeeded, { endpoint: "other" });
      await inbox.accept(incoming("b", { endpoint: "other" }));
      await waitFor(async () => expect(await inbox.counts()).toMatchObject({ other: { succeeded: 1 } }));
      expect(runs).toEqual([]);
      await inbox.resume("retrain");
      await waitForStatus(inbox, "a", "succeeded");
    });

    test("finishes running deliveries, and runs a replayed delivery after it is resumed", async () => {
      const { inbox } = await openInbox(engine);
      const { runs, end } = await hold(inbox);
      await inbox.pause("retrain");
      end(succeeded);
      await waitForStatus(inbox, "a", "succeeded");
      await inbox.replay({ id: "a", endpoint: "retrain" });
      expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "queued" });
      await inbox.resume("retrain");
      await waitFor(() => expect(runs).toHaveLength(2));
      await waitForStatus(inbox, "a", "succeeded");
    });

    test("can discard and delete deliveries", async () => {
      const { inbox } = await openInbox(engine);
      work(inbox, () => succeeded);
      await inbox.pause("retrain");
      await inbox.accept(incoming("a"));
      await inbox.discard({ id: "a", endpoint: "retrain" });
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 0, cancelled: 1 } });
    });

    // Otherwise, only one process can own the inbox.
    if (engine.openReader === undefined) {
      test("is paused and resumed in all servers that share the inbox", async () => {
        const first = await openInbox(engine);
        const second = await openInbox(engine, { store: first.store });
        const runs = work(second.inbox, () => succeeded);
        await first.inbox.accept(incoming("warm-up"));
        await waitForStatus(first.inbox, "warm-up", "succeeded");
        await first.inbox.pause("retrain");
        expect(await second.inbox.pausedEndpoints()).toEqual(["retrain"]);
        await second.inbox.accept(incoming("a"));
        await first.inbox.accept(incoming("b"));
        work(second.inbox, () => succeeded, { endpoint: "other" });
        await second.inbox.accept(incoming("c", { endpoint: "other" }));
        await waitFor(async () => expect(await first.inbox.counts()).toMatchObject({ other: { succeeded: 1 } }));
        expect(runs.map(({ id }) => id)).toEqual(["warm-up"]);
        await first.inbox.resume("retrain");
        for (const id of ["a", "b"]) await waitForStatus(first.inbox, id, "succeeded");
        expect(runs.map(({ id }) => id).sort()).toEqual(["a", "b", "warm-up"]);
      });
    }
  });
}
