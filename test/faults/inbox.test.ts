import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RawAnswer } from "../support/raw-socket.ts";
import { waitFor } from "../support/wait-for.ts";
import { engines } from "./inbox-engines.ts";
import { startInboxReceiver } from "./inbox-receiver.ts";
import { countRows, skipFault } from "./rows.ts";

countRows("inbox");

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe.each(engines)("An inbox in $name", ({ name, url: createUrl, freezable, unsupported }) => {
  function skipIfUnsupported(row: string): void {
    const reason = unsupported[row];
    if (reason !== undefined) skipFault(`${row} ${name}`, reason);
  }

  test("I4: that does not respond causes a 503 within 5 s, and accepts the delivery later", {
    timeout: 120_000,
  }, async () => {
    skipIfUnsupported("I4");
    const { url, freeze } = await freezable();
    const receiver = await startInboxReceiver({ url });
    await receiver.stillWorks();
    const thaw = await freeze();
    const answers: RawAnswer[] = [];
    // The first response can be slow on a busy machine.
    await waitFor(
      async () => {
        const startedAt = performance.now();
        answers.push(await receiver.deliver({ id: `frozen-${answers.length}` }));
        expect(performance.now() - startedAt).toBeLessThan(5_000);
      },
      { timeout: 60_000 },
    );
    for (const answer of answers) {
      expect(answer.status, answer.text).toBe(503);
      expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    await receiver.says(answers.length, { level: "warn", code: "INBOX_UNAVAILABLE", status: 503 });
    await thaw();
    for (const index of answers.keys()) expect((await receiver.deliver({ id: `frozen-${index}` })).status).toBe(202);
    await receiver.stillWorks(...answers);
    await receiver.ledger.account("I4", name, { succeeded: 2 + answers.length });
  });

  test("I5: treats the redelivery after a lost answer as a duplicate", async () => {
    skipIfUnsupported("I5");
    const receiver = await startInboxReceiver({ url: await createUrl() });
    const sent = { id: "answer-lost", endpoint: "held" };
    const socket = (await receiver.connect()).send(receiver.bytes(sent));
    await receiver.child.says("work started");
    socket.reset();
    const again = await receiver.deliver(sent);
    expect(again.status).toBe(202);
    expect(JSON.parse(again.text)).toEqual({ deliveryId: "answer-lost", duplicate: true });
    await receiver.saysOnce({ msg: "delivery accepted", deliveryId: "answer-lost", duplicate: true });
    await receiver.control("release");
    await receiver.stillWorks(again);
    await receiver.ledger.account("I5", name, { succeeded: 2 });
    expect(receiver.countOf("work started")).toBe(1);
  });

  test("I6: runs a delivery once that is sent twenty times concurrently", async () => {
    skipIfUnsupported("I6");
    const receiver = await startInboxReceiver({ url: await createUrl() });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => receiver.connect()));
    const sent = { id: "twenty-times", endpoint: "target" };
    for (const socket of sockets) socket.send(receiver.bytes(sent));
    const answers = await Promise.all(sockets.map((socket) => socket.answer()));
    for (const answer of answers) receiver.note(answer, sent);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
    expect(answers.filter(({ text }) => !JSON.parse(text).duplicate)).toHaveLength(1);
    await receiver.says(19, { msg: "delivery accepted", duplicate: true });
    await receiver.stillWorks(...answers);
    await receiver.ledger.account("I6", name, { succeeded: 2 });
    await receiver.saysOnce({ msg: "target ran", id: sent.id });
  });

  test("I7: answers 503 with Retry-After when it is full, and loses nothing", async () => {
    skipIfUnsupported("I7");
    const receiver = await startInboxReceiver({ url: await createUrl(), MAX_QUEUED: 5 });
    const answers = [];
    // Four deliveries are running and five are queued.
    for (let count = 0; count < 4; count += 1) answers.push(await receiver.deliver({ endpoint: "held" }));
    await receiver.child.says("work started", 4);
    for (let count = 0; count < 8; count += 1) answers.push(await receiver.deliver({ endpoint: "held" }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(9).fill(202), 503, 503, 503]);
    for (const { text, headers } of answers.slice(9)) {
      expect(JSON.parse(text)).toMatchObject({ code: "INBOX_FULL" });
      expect(headers.get("retry-after")).toBe("60");
    }
    await receiver.says(3, { level: "warn", code: "INBOX_FULL", status: 503 });
    await receiver.control("release");
    await receiver.stillWorks(...answers);
    expect((await receiver.deliver({ endpoint: "held" })).status).toBe(202);
    await receiver.ledger.account("I7", name, { acknowledged: 11, succeeded: 11 });
  });

  test("I8: deletes finished deliveries but not queued ones, and still detects duplicates of deleted ones", async () => {
    skipIfUnsupported("I8");
    const receiver = await startInboxReceiver({ url: await createUrl(), CLOCK: "own" });
    const { ledger } = receiver;
    const [done, waits] = [
      { id: "done", endpoint: "brief" },
      { id: "later", endpoint: "brief" },
    ];
    await receiver.deliver(done);
    await receiver.deliver(waits);
    await ledger.waitForStatus(done, "succeeded");
    await waitFor(async () => expect((await ledger.read([waits]))[0]?.attempts).toHaveLength(1));
    const { body } = (await ledger.read([waits]))[0] ?? {};

    await receiver.control(`clock?by=${2 * hourMs}`);
    expect(await receiver.control("prune")).toEqual({ pruned: 1 });
    expect((await ledger.read([done]))[0]?.body).toBeUndefined();
    const again = await receiver.deliver(done);
    expect(JSON.parse(again.text)).toEqual({ deliveryId: "done", duplicate: true });

    await receiver.control(`clock?by=${6 * dayMs}`);
    await receiver.control("prune");
    const later = await receiver.deliver(done);
    expect(JSON.parse(later.text)).toEqual({ deliveryId: "done", duplicate: true });
    expect((await ledger.read([waits]))[0]).toMatchObject({ status: "queued", body });
    await receiver.says(2, { msg: "delivery accepted", deliveryId: "done", duplicate: true });
    await receiver.stillWorks(again, later);
    await ledger.account("I8", name, { succeeded: 2, queued: 1 });
  });

  test("I9: adds one attempt when a running delivery is replayed", async () => {
    skipIfUnsupported("I9");
    const receiver = await startInboxReceiver({ url: await createUrl() });
    const sent = { id: "replayed", endpoint: "held" };
    await receiver.deliver(sent);
    await receiver.child.says("work started");
    await receiver.control("replay?id=replayed");
    expect(receiver.countOf("work started")).toBe(1);
    await receiver.control("release");
    await receiver.child.says("work finished", 2);
    const stored = await receiver.ledger.waitForStatus(sent, "succeeded");
    expect(stored?.attempts).toMatchObject([
      { number: 1, outcome: "succeeded" },
      { number: 2, outcome: "succeeded" },
    ]);
    await receiver.saysOnce({ msg: "delivery succeeded", deliveryId: "replayed", attempt: 2 });
    await receiver.stillWorks();
    await receiver.ledger.account("I9", name, { succeeded: 2 });
    expect(receiver.countOf("work started")).toBe(2);
  });

  test("I10: with a clock set back by an hour does not end attempts early or block deliveries", async () => {
    skipIfUnsupported("I10");
    const receiver = await startInboxReceiver({ url: await createUrl(), CLOCK: "own" });
    const { ledger } = receiver;
    const [waits, runs] = [
      { id: "waits", endpoint: "second-try" },
      { id: "runs", endpoint: "held" },
    ];
    await receiver.deliver(waits);
    await receiver.deliver(runs);
    await receiver.child.says("work started");
    await waitFor(async () => expect((await ledger.read([waits]))[0]?.attempts).toHaveLength(1));

    await receiver.control(`clock?by=${-hourMs}`);
    // Setting the clock back delays the delivery by at most its minute of backoff, not by an hour more.
    await waitFor(async () => {
      const [found] = await ledger.read([waits]);
      expect(found?.dueAt?.getTime()).toBeLessThanOrEqual(Date.now() - hourMs + 60_000);
    });
    await receiver.stillWorks();
    expect(await ledger.read([waits, runs])).toMatchObject([
      { status: "queued", attempts: [{ outcome: "failed" }] },
      { status: "running", attempts: [] },
    ]);
    await receiver.control("clock?by=60000");
    await receiver.control("release");
    await ledger.waitForStatus(waits, "succeeded");
    await receiver.saysOnce({ deliveryId: "waits", attempt: 2, msg: "delivery succeeded" });
    await ledger.account("I10", name, { succeeded: 3 });
    expect((await ledger.read([runs]))[0]?.attempts).toMatchObject([{ outcome: "succeeded" }]);
  });

  test("I10: runs no delivery twice when one of two receivers has its clock set forward by a day", async () => {
    skipIfUnsupported("I10");
    const url = await createUrl();
    const first = await startInboxReceiver({ url, CLOCK: "own" });
    const runs = { id: "runs", endpoint: "held" };
    await first.deliver(runs);
    await first.child.says("work started");
    const second = await startInboxReceiver({ url, CLOCK: "own" });
    await second.control(`clock?by=${24 * hourMs}`);
    // Long enough for several polls, in which the second receiver could treat the lease as expired.
    await second.stillWorks();
    await sleep(3_000);
    expect(await first.ledger.read([runs])).toMatchObject([{ status: "running", attempts: [] }]);
    await first.control("release");
    await first.ledger.waitForStatus(runs, "succeeded");
    expect([first, second].map((receiver) => receiver.countOf("work started"))).toEqual([1, 0]);
    expect((await first.ledger.read([runs]))[0]?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    await first.ledger.account("I10", name, { succeeded: 1 });
  });

  test("R3: retries a handler that never settles until no attempts are left", async () => {
    skipIfUnsupported("R3");
    const receiver = await startInboxReceiver({ url: await createUrl() });
    const sent = { id: "stuck", endpoint: "stuck" };
    expect((await receiver.deliver(sent)).status).toBe(202);
    const stored = await receiver.ledger.waitForStatus(sent, "dead");
    expect(stored?.attempts).toMatchObject([1, 2].map((number) => ({ number, error: { code: "HANDLER_TIMED_OUT" } })));
    await receiver.says(2, { msg: "interrupted", deliveryId: "stuck" });
    await receiver.stillWorks();
    await receiver.ledger.account("R3", name, { succeeded: 1, dead: 1 });
  });

  test("R5: runs other deliveries while one fails until it is dead", async () => {
    skipIfUnsupported("R5");
    const receiver = await startInboxReceiver({ url: await createUrl() });
    const poison = { id: "poison", endpoint: "picky" };
    await receiver.deliver(poison);
    await Promise.all(Array.from({ length: 30 }, () => receiver.deliver({ endpoint: "picky" })));
    const stored = await receiver.ledger.waitForStatus(poison, "dead");
    expect(stored?.attempts).toMatchObject([1, 2, 3].map((number) => ({ number, outcome: "failed" })));
    await receiver.stillWorks();
    await receiver.ledger.account("R5", name, { succeeded: 31, dead: 1 });
  });
});
