import { describe, expect, test } from "vitest";
import { inboxFile } from "../inbox/inbox-file.ts";
import { waitFor } from "../support/wait-for.ts";
import { engines } from "./inbox-engines.ts";
import { Ledger } from "./inbox-ledger.ts";
import { startInboxReceiver } from "./inbox-receiver.ts";
import { countRows, skipFault } from "./rows.ts";

countRows("inbox-recovery");

const hourMs = 3_600_000;

/** Short enough that tests can wait for expiry, long enough to be renewed on a busy machine. */
const LEASE_MS = 1_500;

/** Many process starts take a long time on a busy machine. */
const slowTest = { timeout: 120_000 };

describe.each(engines)("Receivers on an inbox in $name", ({ name, url: createUrl, unsupported }) => {
  function skipIfUnsupported(row: string): void {
    const reason = unsupported[row];
    if (reason !== undefined) skipFault(`${row} ${name}`, reason);
  }

  // `inbox-servers.test.ts` has a stricter test of two receivers on the other engines.
  test.each(name === "sqlite" ? [1, 2] : [1])(
    "I13: store the success of a handler that blocks for longer than a lease: %i",
    slowTest,
    async (n) => {
      skipIfUnsupported("I13");
      const url = await createUrl();
      const ledger = new Ledger(url);
      const start = () => startInboxReceiver({ url, ledger, LEASE_MS, BLOCKED_MS: 2 * LEASE_MS });
      const [receiver] = await Promise.all(Array.from({ length: n }, start));
      const sent = { id: "blocks", endpoint: "blocking" };
      await receiver?.deliver(sent);
      const stored = await ledger.waitForStatus(sent, "succeeded");
      expect(stored?.attempts.at(-1)).toMatchObject({ outcome: "succeeded" });
      await receiver?.stillWorks();
      await ledger.account("I13", `${name} (${n} at work)`, { succeeded: 2, dead: 0 });
    },
  );

  test("I19: mark a delivery that crashes them as dead, and run the others", slowTest, async () => {
    skipIfUnsupported("I19");
    const url = await createUrl();
    const ledger = new Ledger(url);
    const poison = { id: "poison", endpoint: "deadly" };
    const beside = ["beside-1", "beside-2", "beside-3"].map((id) => ({ id, endpoint: "deadly" }));
    const first = await startInboxReceiver({ url, ledger, LEASE_MS });
    for (const sent of [poison, ...beside]) await first.deliver(sent);
    await first.child.says("work started", 4);
    const killed = first.child.exited;
    await first.control("release?endpoint=held").catch(() => {});
    expect((await killed).signal).toBe("SIGKILL");
    let crashes = 1;
    for (let isDead = false; !isDead; ) {
      const receiver = await startInboxReceiver({ url, ledger, LEASE_MS });
      let hasExited = false;
      void receiver.child.exited.then(() => {
        hasExited = true;
      });
      await waitFor(async () => {
        const [found] = await ledger.read([poison]);
        isDead = found?.status === "dead";
        expect(isDead || hasExited).toBe(true);
      });
      if (hasExited) crashes += 1;
      if (!isDead) continue;
      for (const sent of beside) await ledger.waitForStatus(sent, "succeeded");
      await receiver.stillWorks();
    }
    // One crash while other deliveries were running, which does not count, and one in each of its two attempts.
    expect(crashes).toBe(3);
    await ledger.account("I19", name, { succeeded: 4, dead: 1 });
  });

  test("I20: delete the finished deliveries of a removed endpoint", async () => {
    skipIfUnsupported("I20");
    const url = await createUrl();
    const ledger = new Ledger(url);
    const [done, waits] = [
      { id: "done", endpoint: "brief" },
      { id: "later", endpoint: "brief" },
    ];
    const before = await startInboxReceiver({ url, ledger, CLOCK: "own" });
    await before.deliver(done);
    await before.deliver(waits);
    await ledger.waitForStatus(done, "succeeded");
    await waitFor(async () => expect((await ledger.read([waits]))[0]?.attempts).toHaveLength(1));
    before.child.signal("SIGTERM");
    await before.child.exited;
    const receiver = await startInboxReceiver({ url, ledger, CLOCK: "own", WITHOUT: "brief" });
    await receiver.control(`clock?by=${2 * hourMs}`);
    await waitFor(async () => {
      await receiver.control("prune");
      expect((await ledger.read([done]))[0]?.body).toBeUndefined();
    });
    expect((await ledger.read([waits]))[0]).toMatchObject({ status: "queued", body: expect.any(String) });
    await receiver.stillWorks();
    await ledger.account("I20", name, { succeeded: 2, queued: 1 });
  });
});

// `inbox-servers.test.ts` has these tests for Redis and PostgreSQL.
describe("A receiver on an inbox in sqlite", () => {
  test("I21: replay 10,000 dead deliveries without blocking the event loop", { timeout: 600_000 }, async () => {
    const count = 10_000;
    const receiver = await startInboxReceiver({ url: `sqlite:${inboxFile()}` });
    const sockets = await Promise.all(Array.from({ length: 50 }, () => receiver.connect()));
    const statuses = await Promise.all(
      sockets.map(async (socket, index) => {
        const answered: number[] = [];
        for (let sent = index; sent < count; sent += sockets.length) {
          const answer = await socket.send(receiver.bytes({ id: `hopeless-${sent}`, endpoint: "hopeless" })).answer();
          answered.push(answer.status);
        }
        return answered;
      }),
    );
    expect(statuses.flat().filter((status) => status === 202)).toHaveLength(count);
    // Count the deliveries, because reading this many repeatedly is slow.
    const areDead = () =>
      waitFor(async () => expect(await receiver.control("counts")).toMatchObject({ hopeless: { dead: count } }), {
        timeout: 150_000,
        interval: 250,
      });
    let fastest = Number.POSITIVE_INFINITY;
    // A turn can be long for reasons other than the replay, such as garbage collection, so use the fastest of several rounds.
    for (let round = 0; round < 10 && fastest >= 50; round += 1) {
      await areDead();
      const { replayed, longestTurnMs = 0 } = (await receiver.control("replay-dead")) as Record<string, number>;
      expect(replayed).toBe(count);
      fastest = Math.min(fastest, longestTurnMs);
    }
    console.log(`I21 sqlite: the longest turn of the event loop took ${fastest.toFixed(1)} ms`);
    expect(fastest).toBeLessThan(50);
    await areDead();
    await receiver.stillWorks();
    await receiver.ledger.account("I21", "sqlite", { succeeded: 1 });
  });
});
