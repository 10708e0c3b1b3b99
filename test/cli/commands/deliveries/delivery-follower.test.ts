import { describe, expect, test } from "vitest";
import { DeliveryFollower } from "../../../../src/cli/commands/deliveries/tail.ts";
import type { Inbox, StoredDelivery } from "../../../../src/inbox/inbox.ts";
import { type DeliveryLookup, ServerInbox } from "../../../../src/receiver/inbox.ts";
import { failed, openInbox, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { received, settled, slowPoll } from "./filled-inbox.ts";

/** An inbox that records the requested IDs. */
class AskedInbox extends ServerInbox {
  readonly asked: string[] = [];
  /** IDs that count as deleted. */
  readonly deleted = new Set<string>();

  override async get(id: string, lookup?: DeliveryLookup): Promise<StoredDelivery | undefined> {
    this.asked.push(id);
    return this.deleted.has(id) ? undefined : super.get(id, lookup);
  }
}

/** Follows an inbox. Each poll returns changes in the form `id status attempts`. */
async function follow(inbox: Inbox, endpoint?: string) {
  const server = new AskedInbox(async () => inbox);
  const follower = new DeliveryFollower({ inbox: server, endpoint });
  await follower.start({ last: 0, status: undefined });
  const look = async () => {
    const { changed } = await follower.poll();
    return changed.map(({ id, status, attempts }) => `${id} ${status} ${attempts.length}`);
  };
  return { look, asked: server.asked, deleted: server.deleted };
}

/** Accepts deliveries `from` to `to` in this order. */
async function accept(inbox: Inbox, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await Promise.all(numbers.map((number) => inbox.accept(received(String(number)))));
}

describe("A follower of deliveries", () => {
  test("returns new deliveries since the previous poll once, oldest first", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 2);
    const { look } = await follow(inbox);
    expect(await look()).toEqual([]);
    await accept(inbox, 3, 5);
    expect(await look()).toEqual(["3 queued 0", "4 queued 0", "5 queued 0"]);
    expect(await look()).toEqual([]);
  });

  test("returns every change of a followed delivery", async () => {
    const { inbox } = openInbox();
    const attempts = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await accept(inbox, 1, 1);
    const { look } = await follow(inbox);
    const runs = work(inbox, async ({ attempt }) => {
      await attempts[attempt - 1]?.promise;
      return attempt === 1 ? failed({ retryAt: new Date() }) : succeeded;
    });
    await expect.poll(() => runs.length, slowPoll).toBe(1);
    expect(await look()).toEqual(["1 running 0"]);
    attempts[0]?.resolve();
    await expect.poll(() => runs.length, slowPoll).toBe(2);
    // The status is the same, but an attempt has failed since the last poll.
    expect(await look()).toEqual(["1 running 1"]);
    attempts[1]?.resolve();
    await settled(inbox, ["1"]);
    expect(await look()).toEqual(["1 succeeded 2"]);
  });

  test("returns a finished delivery that is replayed", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 1);
    const first = work(inbox, () => succeeded);
    await settled(inbox, ["1"]);
    const { look } = await follow(inbox);
    await inbox.replay({ id: "1", endpoint: "retrain" });
    await expect.poll(() => first.length, slowPoll).toBe(2);
    await settled(inbox, ["1"]);
    expect(await look()).toEqual(["1 succeeded 2"]);
  });

  test("follows an unfinished delivery despite hundreds of newer ones", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 1);
    const { look } = await follow(inbox);
    await accept(inbox, 2, 400);
    expect(await look()).toHaveLength(399);
    const runs = work(inbox, () => succeeded, { concurrency: 1 });
    await expect.poll(() => runs.length, slowPoll).toBeGreaterThan(0);
    await settled(inbox, ["1"]);
    expect((await look())[0]).toBe("1 succeeded 1");
  });

  test("does not return deliveries from before the start", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 250);
    const { look } = await follow(inbox);
    await accept(inbox, 251, 251);
    expect(await look()).toEqual(["251 queued 0"]);
  });

  test("does not return older deliveries when newer ones are removed", async () => {
    const clock = { now: Date.now() };
    const { inbox } = openInbox({ now: () => clock.now });
    for (let number = 1; number <= 120; number += 1) await inbox.accept(received(`${number}`, { endpoint: "notify" }));
    await accept(inbox, 1, 10);
    work(inbox, () => succeeded, { retentionMs: 1_000 });
    await settled(inbox, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    const { look } = await follow(inbox);
    clock.now += 60_000;
    expect(await inbox.prune()).toBe(10);
    expect(await look()).toEqual([]);
  });

  test("follows only the given endpoint", async () => {
    const { inbox } = openInbox();
    const { look } = await follow(inbox, "notify");
    await inbox.accept(received("other"));
    await inbox.accept(received("mine", { endpoint: "notify" }));
    expect(await look()).toEqual(["mine queued 0"]);
  });

  test("starts with the latest deliveries of a status, regardless of their age", async () => {
    const { inbox } = openInbox();
    await inbox.accept(received("dead"));
    work(inbox, () => failed({ retryable: false }));
    await settled(inbox, ["dead"]);
    for (let number = 1; number <= 120; number += 1) await inbox.accept(received(`${number}`, { endpoint: "notify" }));
    const follower = new DeliveryFollower({ inbox: new ServerInbox(async () => inbox), endpoint: undefined });
    expect(await follower.start({ last: 10, status: "dead" })).toMatchObject([{ id: "dead" }]);
    expect(await follower.poll()).toEqual({ changed: [], hasMissed: false });
  });

  test("keeps following the first deliveries, regardless of their age", async () => {
    const { inbox } = openInbox();
    const done = Promise.withResolvers<void>();
    await inbox.accept(received("slow"));
    const runs = work(inbox, () => done.promise.then(() => succeeded));
    await expect.poll(() => runs.length, slowPoll).toBe(1);
    for (let number = 1; number <= 120; number += 1) await inbox.accept(received(`${number}`, { endpoint: "notify" }));
    const follower = new DeliveryFollower({ inbox: new ServerInbox(async () => inbox), endpoint: undefined });
    expect(await follower.start({ last: 1, status: "running" })).toMatchObject([{ id: "slow" }]);
    done.resolve();
    await settled(inbox, ["slow"]);
    expect(await follower.poll()).toMatchObject({ changed: [{ id: "slow", status: "succeeded" }] });
  });

  test("does not read finished deliveries that are not among the newest", async () => {
    const { inbox } = openInbox();
    const { look, asked } = await follow(inbox);
    await inbox.accept(received("done"));
    work(inbox, () => succeeded);
    await settled(inbox, ["done"]);
    await look();
    for (let number = 1; number <= 120; number += 1) await inbox.accept(received(`${number}`, { endpoint: "notify" }));
    await look();
    asked.length = 0;
    await look();
    // The first 20 queued deliveries of the other endpoint are no longer in the list of the newest.
    expect(asked).toHaveLength(20);
    expect(asked).not.toContain("done");
  });

  test("reads a deleted delivery only once", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 1);
    const { look, asked, deleted } = await follow(inbox);
    await accept(inbox, 2, 110);
    await look();
    await look();
    expect(asked).toEqual(expect.arrayContaining(["1"]));
    deleted.add("1");
    asked.length = 0;
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
    expect(asked.filter((id) => id === "1")).toHaveLength(1);
  });

  // 2,400 deliveries run.
  test.runIf(process.env.SLOW_TESTS === "1")("remembers an unfinished delivery longer than finished ones", async () => {
    const { inbox } = openInbox();
    const attempt = Promise.withResolvers<void>();
    await accept(inbox, 1, 1);
    const { look, asked } = await follow(inbox);
    await inbox.accept(received("slow", { endpoint: "notify" }));
    const slow = work(inbox, () => attempt.promise.then(() => succeeded), { endpoint: "notify" });
    await expect.poll(() => slow.length, slowPoll).toBe(1);
    work(inbox, () => succeeded, { concurrency: 100 });
    for (const from of [2, 802, 1_602]) {
      await accept(inbox, from, from + 799);
      await expect.poll(async () => (await inbox.counts()).retrain?.succeeded, slowPoll).toBe(from + 799);
      await look();
    }
    asked.length = 0;
    expect(await look()).toEqual([]);
    expect(asked).toEqual(["slow"]);
    attempt.resolve();
  });

  test("reports missed deliveries, and continues with the next ones", async () => {
    const { inbox } = openInbox();
    const follower = new DeliveryFollower({ inbox: new ServerInbox(async () => inbox), endpoint: undefined });
    await follower.start({ last: 10, status: undefined });
    await accept(inbox, 1, 1_050);
    const { changed, hasMissed } = await follower.poll();
    expect({ first: changed[0]?.id, count: changed.length, hasMissed }).toEqual({
      first: "51",
      count: 1_000,
      hasMissed: true,
    });
    await accept(inbox, 1_051, 1_051);
    expect(await follower.poll()).toMatchObject({ changed: [{ id: "1051" }], hasMissed: false });
  });

  test("limits its memory without returning a change twice", async () => {
    const { inbox } = openInbox();
    const { look, asked } = await follow(inbox);
    for (const [from, to] of [
      [1, 900],
      [901, 1_800],
      [1_801, 2_700],
    ] as const) {
      await accept(inbox, from, to);
      expect(await look()).toHaveLength(900);
    }
    asked.length = 0;
    expect(await look()).toEqual([]);
    // Of 2,000 followed deliveries, the newest 100 are in the list.
    expect(asked).toHaveLength(1_900);
  });
});
