import { describe, expect, test } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { engines } from "./inbox-engines.ts";
import { Ledger } from "./inbox-ledger.ts";
import { type InboxReceiver, startInboxReceiver } from "./inbox-receiver.ts";
import { countRows, skipFault } from "./rows.ts";
import { RunCounts } from "./run-counts.ts";

countRows("inbox-crash");

/** Short enough that tests can wait for expiry, long enough to be renewed on a busy machine. */
const LEASE_MS = 1_000;

/** Number of kills around the write, per engine. Each takes about 0.3 s. `npm run kills` sets KILLS. */
const kills = Number(process.env.KILLS ?? (process.env.SLOW_TESTS === "1" ? 30 : 10));
if (kills < 30) console.warn(`Receivers are killed around the write ${kills} times. Set SLOW_TESTS=1 for 30 times.`);

/** Each kill is followed by a process start, which takes seconds on a busy machine. */
const killsTimeout = { timeout: 60_000 + kills * 4_000 };

describe.each(engines)("Receivers on an inbox in $name", ({ name, url: createUrl, unsupported }) => {
  function skipIfUnsupported(row: string): void {
    const reason = unsupported[row];
    if (reason !== undefined) skipFault(`${row} ${name}`, reason);
  }

  test(
    `I1: lose nothing that was acknowledged when they are killed around the write, ${kills} times`,
    killsTimeout,
    async () => {
      skipIfUnsupported("I1");
      const url = await createUrl();
      const ledger = new Ledger(url);
      const start = () => startInboxReceiver({ url, ledger, LEASE_MS });
      const runs = new RunCounts();
      let next = start();
      for (let round = 0; round < kills; round += 1) {
        const receiver = await next;
        // Start the next receiver while this one is killed, so that both use the same inbox.
        next = start();
        await killAround(receiver, { after: (round * 7) % 20 });
        runs.add(receiver);
      }
      const last = await next;
      await last.stillWorks();
      await ledger.account("I1", name, { queued: 0 });
      runs.add(last);
      const repeated = await runs.repeatedWithoutCrash(ledger);
      console.log(`I1 ${name}: ${kills} kills, ${repeated.length} deliveries ran twice without a crash`);
      expect(repeated).toEqual([]);
    },
  );

  test("I2: run the deliveries of a killed process again when its lease expires", async () => {
    skipIfUnsupported("I2");
    const url = await createUrl();
    const ledger = new Ledger(url);
    const sent = { id: "interrupted", endpoint: "held" };
    const killed = await startInboxReceiver({ url, ledger, LEASE_MS });
    await killed.deliver(sent);
    await killed.child.says("work started");
    killed.child.signal("SIGKILL");
    await killed.child.exited;
    const receiver = await startInboxReceiver({ url, ledger, LEASE_MS, HELD: "no" });
    const stored = await ledger.waitForStatus(sent, "succeeded");
    expect(stored?.attempts).toMatchObject([
      { number: 1, outcome: "abandoned", error: { code: "ABANDONED" } },
      { number: 2, outcome: "succeeded" },
    ]);
    await receiver.saysOnce({ level: "warn", code: "ABANDONED", deliveryId: sent.id });
    await receiver.stillWorks();
    await ledger.account("I2", name, { succeeded: 2 });
  });

  test("I11: never run a delivery concurrently, whichever process accepted it", async () => {
    skipIfUnsupported("I11");
    const url = await createUrl();
    const ledger = new Ledger(url);
    const receivers = await Promise.all([1, 2].map(() => startInboxReceiver({ url, ledger, HELD: "no" })));
    const ids = Array.from({ length: 120 }, (_, index) => `shared-${index}`);
    await Promise.all(
      ids.map(async (id, index) => {
        const answer = await receivers[index % 2]?.deliver({ id, endpoint: "held" });
        expect(answer?.status).toBe(202);
      }),
    );
    for (const receiver of receivers) await receiver.stillWorks();
    await ledger.account("I11", name, { succeeded: 122 });
    await waitFor(() => {
      const started = receivers.map(({ child }) => child.lines.filter(({ msg }) => msg === "work started"));
      const startedIds = started.flat().map(({ deliveryId }) => deliveryId);
      expect(startedIds.sort()).toEqual(ids.toSorted());
      for (const lines of started) expect(lines.length).toBeGreaterThan(0);
    });
  });
});

/**
 * Sends on four connections and kills the receiver after some deliveries are acknowledged and while others are in
 * flight.
 */
async function killAround(receiver: InboxReceiver, { after }: { after: number }): Promise<void> {
  let count = 0;
  const load = receiver.load({
    acknowledged: () => {
      count += 1;
      if (count > after) receiver.child.signal("SIGKILL");
    },
  });
  expect((await receiver.child.exited).signal).toBe("SIGKILL");
  await load;
}
