import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { arrival, failed, openInbox, reached, succeeded, work } from "./inbox.ts";

describe("A delivery that is accepted", () => {
  test("is in the file, byte for byte, before that is said", async () => {
    const { inbox, file } = openInbox();
    const body = '{ "big": 12345678901234567890, "twice": 1, "twice": 2, "nul": "\\u0000", "ü": "\u{1f917}" }';
    expect(await inbox.accept(arrival("a", { body }))).toEqual({ duplicate: false });
    const other = new DatabaseSync(file, { readOnly: true });
    expect(other.prepare("SELECT id, status, body FROM deliveries").all()).toEqual([
      { id: "a", status: "queued", body },
    ]);
    other.close();
  });

  test("is run once, however often and however fast it comes", async () => {
    const { inbox } = openInbox();
    const runs = work(inbox, () => succeeded);
    const answers = await Promise.all(Array.from({ length: 20 }, () => inbox.accept(arrival("a"))));
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    await reached(inbox, "a", "succeeded");
    expect(await inbox.accept(arrival("a"))).toEqual({ duplicate: true });
    expect(runs).toHaveLength(1);
  });

  test("is another one at another endpoint", async () => {
    const { inbox } = openInbox();
    await inbox.accept(arrival("a"));
    expect(await inbox.accept(arrival("a", { endpoint: "other" }))).toEqual({ duplicate: false });
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 1 }, other: { queued: 1 } });
  });

  test("is refused when too many wait, and taken again once there is room", async () => {
    const { inbox } = openInbox({ mostQueued: 2 });
    await inbox.accept(arrival("a"));
    await inbox.accept(arrival("b"));
    await expect(inbox.accept(arrival("c"))).rejects.toMatchObject({
      code: "INBOX_FULL",
      status: 503,
      retryAfterSeconds: 60,
    });
    expect(await inbox.accept(arrival("a"))).toEqual({ duplicate: true });
    work(inbox, () => succeeded);
    await reached(inbox, "b", "succeeded");
    expect(await inbox.accept(arrival("c"))).toEqual({ duplicate: false });
  });
});

describe("The handler of a delivery", () => {
  test("is given what came, and the number of the attempt", async () => {
    const { inbox } = openInbox();
    const runs = work(inbox, ({ attempt }) => (attempt < 3 ? failed() : succeeded));
    const came = arrival("a");
    await inbox.accept(came);
    const stored = await reached(inbox, "a", "succeeded");
    expect(runs).toMatchObject([1, 2, 3].map((attempt) => ({ ...came, attempt })));
    expect(stored?.attempts).toMatchObject([
      { number: 1, outcome: "failed", error: { code: "HANDLER_FAILED", message: "It failed." } },
      { number: 2, outcome: "failed" },
      { number: 3, outcome: "succeeded" },
    ]);
  });

  test("gives up after the last attempt: the delivery is dead, and kept", async () => {
    const { inbox } = openInbox();
    const runs = work(inbox, () => failed());
    await inbox.accept(arrival("a"));
    const stored = await reached(inbox, "a", "dead");
    expect(runs).toHaveLength(3);
    expect(stored).toMatchObject({ body: '{"id":"a"}', finishedAt: expect.any(Date) });
  });

  test("says by its error that there is no use in trying again", async () => {
    const { inbox } = openInbox();
    const runs = work(inbox, () => failed({ retryable: false }));
    await inbox.accept(arrival("a"));
    await reached(inbox, "a", "dead");
    expect(runs).toHaveLength(1);
  });

  test("says by its error when to try again", async () => {
    const { inbox } = openInbox();
    const retryAt = new Date(Date.now() + 3_600_000);
    const runs = work(inbox, () => failed({ retryAt }));
    await inbox.accept(arrival("a"));
    const stored = await vi.waitFor(async () => {
      const found = await inbox.get({ id: "a", endpoint: "retrain" });
      expect(found?.attempts).toHaveLength(1);
      return found;
    });
    expect(stored).toMatchObject({ status: "queued", dueAt: retryAt });
    expect(runs).toHaveLength(1);
  });

  test("runs for so many deliveries at once and no more, oldest first", async () => {
    const { inbox } = openInbox();
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) await inbox.accept(arrival(id));
    let atOnce = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    const runs = work(
      inbox,
      async () => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await release.promise;
        atOnce -= 1;
        return succeeded;
      },
      { concurrency: 2 },
    );
    await vi.waitFor(() => expect(runs).toHaveLength(2));
    release.resolve();
    await reached(inbox, "e", "succeeded");
    expect(most).toBe(2);
    expect(runs.map(({ id }) => id)).toEqual(ids);
  });

  test("takes the next delivery when one is done, without waiting for a look around", async () => {
    const { inbox } = openInbox({ pollMs: 3_600_000 });
    for (const id of ["a", "b", "c"]) await inbox.accept(arrival(id));
    const runs = work(inbox, () => succeeded, { concurrency: 1 });
    await reached(inbox, "c", "succeeded");
    expect(runs).toHaveLength(3);
  });

  test("goes on for others while one delivery fails and fails", async () => {
    const { inbox } = openInbox();
    work(inbox, ({ id }) => (id === "poison" ? failed() : succeeded), { concurrency: 1 });
    await inbox.accept(arrival("poison"));
    for (let count = 0; count < 50; count += 1) await inbox.accept(arrival(`good-${count}`));
    await reached(inbox, "good-49", "succeeded");
    await reached(inbox, "poison", "dead");
    expect(await inbox.counts()).toEqual({ retrain: { queued: 0, running: 0, succeeded: 50, dead: 1 } });
  });
});

describe("A replay", () => {
  test("runs a dead delivery again, with all its attempts anew", async () => {
    const { inbox } = openInbox();
    const runs = work(inbox, ({ attempt }) => (attempt < 5 ? failed() : succeeded));
    await inbox.accept(arrival("a"));
    await reached(inbox, "a", "dead");
    await inbox.replay({ id: "a", endpoint: "retrain" });
    expect((await reached(inbox, "a", "succeeded"))?.attempts).toHaveLength(5);
    expect(runs).toHaveLength(5);
  });

  test("comes of itself when the Hub sends again what is dead here", async () => {
    const { inbox } = openInbox();
    work(inbox, ({ attempt }) => (attempt < 6 ? failed() : succeeded));
    await inbox.accept(arrival("a"));
    await reached(inbox, "a", "dead");
    expect(await inbox.accept(arrival("a"))).toEqual({ duplicate: false });
    // With all its attempts anew.
    expect((await reached(inbox, "a", "succeeded"))?.attempts).toHaveLength(6);
  });

  test("comes with the new body when what died and was forgotten is sent again", async () => {
    const clock = { now: Date.UTC(2026, 0, 1) };
    const { inbox, file } = openInbox({ now: () => clock.now });
    let works = false;
    const runs = work(inbox, () => (works ? succeeded : failed({ retryable: false })), { retentionMs: 1_000 });
    await inbox.accept(arrival("a", { body: "before" }));
    await reached(inbox, "a", "dead");
    clock.now += 1_001;
    expect(await inbox.prune()).toBe(1);
    const other = new DatabaseSync(file, { readOnly: true });
    const stored = () => other.prepare("SELECT body FROM deliveries").get();
    expect(stored()).toEqual({ body: null });
    works = true;
    expect(await inbox.accept(arrival("a", { body: "after" }))).toEqual({ duplicate: false });
    expect(stored()).toEqual({ body: "after" });
    await reached(inbox, "a", "succeeded");
    expect(runs.map(({ body }) => body)).toEqual(["before", "after"]);
    other.close();
  });

  test("of a delivery that is running is one more attempt after that", async () => {
    const { inbox } = openInbox();
    const release = Promise.withResolvers<void>();
    const runs = work(inbox, async () => {
      await release.promise;
      return succeeded;
    });
    await inbox.accept(arrival("a"));
    await vi.waitFor(() => expect(runs).toHaveLength(1));
    await inbox.replay({ id: "a", endpoint: "retrain" });
    expect(runs).toHaveLength(1);
    release.resolve();
    await vi.waitFor(async () => {
      expect((await reached(inbox, "a", "succeeded"))?.attempts).toMatchObject([{ number: 1 }, { number: 2 }]);
    });
  });

  test("of all that is dead says how many that were", async () => {
    const { inbox } = openInbox();
    let works = false;
    work(inbox, () => (works ? succeeded : failed({ retryable: false })));
    for (const id of ["a", "b", "c"]) await inbox.accept(arrival(id));
    for (const id of ["a", "b", "c"]) await reached(inbox, id, "dead");
    works = true;
    expect(await inbox.replayDead("retrain")).toBe(3);
    for (const id of ["a", "b", "c"]) await reached(inbox, id, "succeeded");
    expect(await inbox.replayDead("retrain")).toBe(0);
  });

  test("of a delivery that is not there is refused", async () => {
    const { inbox } = openInbox();
    await expect(inbox.replay({ id: "a", endpoint: "retrain" })).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN" });
  });
});

describe("A list", () => {
  test("goes page by page, newest first, by endpoint and status", async () => {
    const { inbox } = openInbox();
    for (let count = 0; count < 5; count += 1) await inbox.accept(arrival(`r${count}`));
    await inbox.accept(arrival("o", { endpoint: "other" }));
    const first = await inbox.list({ endpoint: "retrain", limit: 3 });
    expect(first.deliveries.map(({ id }) => id)).toEqual(["r4", "r3", "r2"]);
    const second = await inbox.list({ endpoint: "retrain", limit: 3, cursor: String(first.next) });
    expect(second.deliveries.map(({ id }) => id)).toEqual(["r1", "r0"]);
    expect(second.next).toBeUndefined();
    expect((await inbox.list({ status: "dead" })).deliveries).toEqual([]);
    expect((await inbox.list()).deliveries).toHaveLength(6);
  });

  test.each([{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { cursor: "x" }])(
    "is refused with %j",
    async (options) => {
      const { inbox } = openInbox();
      await expect(inbox.list(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    },
  );
});

describe("Retention", () => {
  test("forgets what is done, never what waits, and knows a duplicate for seven days", async () => {
    const clock = { now: Date.UTC(2026, 0, 1) };
    const { inbox } = openInbox({ now: () => clock.now });
    work(inbox, ({ id }) => (id === "waits" ? failed({ retryAt: new Date(clock.now + 1e12) }) : succeeded), {
      retentionMs: 3_600_000,
    });
    await inbox.accept(arrival("done"));
    await inbox.accept(arrival("waits"));
    await reached(inbox, "done", "succeeded");
    await vi.waitFor(async () =>
      expect((await inbox.get({ id: "waits", endpoint: "retrain" }))?.attempts).toHaveLength(1),
    );
    clock.now += 3_600_000;
    expect(await inbox.prune()).toBe(0);
    clock.now += 2;
    expect(await inbox.prune()).toBe(1);
    expect((await inbox.list()).deliveries.map(({ id }) => id)).toEqual(["waits"]);
    expect(await inbox.accept(arrival("done"))).toEqual({ duplicate: true });
    await expect(inbox.replay({ id: "done", endpoint: "retrain" })).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN" });
    clock.now += 7 * 24 * 3_600_000;
    await inbox.prune();
    expect(await inbox.accept(arrival("done"))).toEqual({ duplicate: false });
    expect((await inbox.counts()).retrain).toMatchObject({ queued: expect.any(Number), dead: 0 });
  });
});

describe("A clock that is set back by an hour", () => {
  test("leaves nothing stuck", async () => {
    const clock = { now: Date.UTC(2026, 0, 1, 12) };
    const { inbox } = openInbox({ now: () => clock.now });
    const runs = work(inbox, ({ attempt }) =>
      attempt === 1 ? failed({ retryAt: new Date(clock.now + 60_000) }) : succeeded,
    );
    await inbox.accept(arrival("a"));
    await vi.waitFor(async () => expect((await inbox.get({ id: "a", endpoint: "retrain" }))?.attempts).toHaveLength(1));
    clock.now -= 3_600_000;
    await vi.waitFor(async () => {
      const found = await inbox.get({ id: "a", endpoint: "retrain" });
      expect(found?.dueAt?.getTime()).toBe(clock.now + 60_000);
    });
    expect(runs).toHaveLength(1);
    clock.now += 60_000;
    await reached(inbox, "a", "succeeded");
  });

  test("while no inbox was open leaves nothing stuck either", async () => {
    const clock = { now: Date.UTC(2026, 0, 1, 12) };
    const first = openInbox({ now: () => clock.now });
    await first.inbox.accept(arrival("a"));
    await first.inbox.close(0);
    clock.now -= 3_600_000;
    const second = openInbox({ file: first.file, now: () => clock.now });
    work(second.inbox, () => succeeded);
    await reached(second.inbox, "a", "succeeded");
  });
});

test("A look at the inbox that fails is told and tried again, and does not end the process", async () => {
  const { inbox, file, logger } = openInbox({ pollMs: 60_000 });
  work(inbox, ({ attempt }) => (attempt === 1 ? failed({ retryAt: new Date(Date.now() + 200) }) : succeeded));
  await inbox.accept(arrival("a"));
  await vi.waitFor(async () =>
    expect(await inbox.get({ id: "a", endpoint: "retrain" })).toMatchObject({ status: "queued", attempts: [{}] }),
  );
  const other = new DatabaseSync(file);
  other.exec("ALTER TABLE deliveries RENAME TO elsewhere");
  await vi.waitFor(() =>
    expect(logger.lines).toMatchObject([{ level: "error", msg: expect.stringContaining("could not be looked after") }]),
  );
  other.exec("ALTER TABLE elsewhere RENAME TO deliveries");
  other.close();
});
