import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import type { ApiFailure } from "../../../src/console/app/api.ts";
import { dev, followDev, followResource, ReloadTimer } from "../../../src/console/app/resource.ts";
import type { DevInfo } from "../../../src/console/protocol/session.ts";
import { closeSimulatedConsole, openSimulatedConsole, simulateRequestTimeouts } from "./simulated-console.ts";

afterEach(closeSimulatedConsole);

/** A page that shows a number of the server, as a resource and as the state of a dev session. */
function openCounted({ refreshMs }: { refreshMs?: number } = {}) {
  const server = { count: 0 };
  const info = (): DevInfo => ({
    ...{ file: "webhooks.ts", state: "serving", url: `http://localhost:${server.count}`, publicUrl: "", endpoints: [] },
    hub: { kind: "local", url: "" },
  });
  const opened = openSimulatedConsole([
    (app) => app.get("/endpoints", (context) => context.json(server.count)),
    (app) => app.get("/dev", (context) => context.json(info())),
  ]);
  const shown: { count?: number; failure?: ApiFailure | undefined } = {};
  const { stop } = followResource<number>("endpoints", {
    features: ["endpoints"],
    ...(refreshMs !== undefined && { refreshMs }),
    isChanged: ({ id }) => id === "shown",
    onAnswer: (count) => Object.assign(shown, { count, failure: undefined }),
    onFailure: (failure) => Object.assign(shown, { failure }),
  });
  const unfollow = followDev();
  opened.connect();
  const change = ({ byDelivery = false } = {}) => {
    server.count += 1;
    opened.events.publish({ type: "dev", dev: info() });
    if (!byDelivery) return opened.events.changed("endpoints");
    const row = opened.stored.add({ id: "shown" });
    opened.events.publish({ type: "deliveries", deliveries: [row] });
  };
  const close = async () => {
    stop();
    unfollow();
    await opened.close();
  };
  return { server, opened, shown, info, change, stop, unfollow, close };
}

type Opened = ReturnType<typeof openCounted>;

const actions: Readonly<Record<string, (page: Opened, choice: number) => unknown>> = {
  "a change": ({ change }, choice) => change({ byDelivery: choice % 2 === 0 }),
  "the network delivers something": ({ opened }, choice) => opened.deliver(choice),
  "the network delivers the oldest": ({ opened }) => opened.deliver(0),
  "everything arrives": ({ opened }) => opened.deliverAll(),
  "a moment passes": () => vi.advanceTimersByTimeAsync(300),
  "the connection is lost": ({ opened }) => opened.cut(),
  "the connection is back": ({ opened }) => opened.restore(),
  "the server fails": ({ opened }) => {
    opened.failure = 503;
  },
  "the server works": ({ opened }) => {
    opened.failure = undefined;
  },
};

const step = fc.tuple(fc.constantFrom(...Object.keys(actions)), fc.nat());
/** Set `RUNS=2000` and `SEED` for a longer search. */
const runs = { numRuns: Number(process.env.RUNS ?? 15), seed: Number(process.env.SEED ?? 1) };

test("A resource and the state of a session are those of the server, once everything has arrived", async () => {
  const steps = fc.array(step, { minLength: 5, maxLength: 40, size: "max" });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const page = openCounted();
      try {
        for (const [name, choice] of taken) await actions[name]?.(page, choice);
        await page.opened.settle();
        expect(page.shown).toEqual({ count: page.server.count, failure: undefined });
        expect(dev.value).toEqual(page.info());
        const requests = page.opened.requests.length;
        await page.opened.settle();
        expect(page.opened.requests.length, "requests without a change").toBe(requests);
      } finally {
        await page.close();
      }
      expect(vi.getTimerCount(), "timers of a closed page").toBe(0);
    }),
    runs,
  );
});

test("A resource that is stopped at any time reports nothing more, and requests nothing more", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12, size: "max" }),
      fc.constantFrom(undefined, 2_000),
      async (taken, refreshMs) => {
        const page = openCounted(refreshMs === undefined ? {} : { refreshMs });
        // Also requests that are aborted before the server receives them. A spy would outlive the stub that it replaces.
        const requested: string[] = [];
        const { fetch } = globalThis;
        vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
          requested.push(url);
          return fetch(url, init);
        });
        const count = () => requested.filter((url) => url.includes("endpoints")).length;
        try {
          for (const [name, choice] of taken) await actions[name]?.(page, choice);
          page.stop();
          const [before, shown] = [count(), { ...page.shown }];
          page.change();
          await page.opened.settle();
          expect([count(), page.shown]).toEqual([before, shown]);
        } finally {
          await page.close();
        }
      },
    ),
    runs,
  );
});

test("A resource is loaded again after an interval, and not after a request that the server refuses", async () => {
  const page = openCounted({ refreshMs: 10_000 });
  await page.opened.deliverAll();
  page.server.count += 1;
  await page.opened.pass(10_000);
  expect(page.shown.count).toBe(1);
  // A failure does not shorten the interval.
  page.opened.failure = 503;
  await page.opened.pass(10_000);
  const before = page.opened.requests.length;
  await page.opened.pass(9_000);
  expect([page.shown.failure?.status, page.opened.requests.length]).toEqual([503, before]);
  await page.close();

  const refused = openCounted();
  refused.opened.failure = 404;
  await refused.opened.deliverAll();
  await refused.opened.pass(1_000);
  const { length } = refused.opened.requests;
  await refused.opened.pass(10_000);
  expect([refused.shown.failure?.status, refused.opened.requests.length]).toEqual([404, length]);
  await refused.close();
});

test("A resource whose request hangs for a minute fails, and is loaded again", async () => {
  simulateRequestTimeouts();
  const page = openCounted();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(page.shown).toMatchObject({ failure: { status: 0 } });
  await page.opened.settle();
  expect(page.shown).toEqual({ count: 0, failure: undefined });
  await page.close();
});

test("The state of a session is not replaced by an older answer", async () => {
  const page = openCounted();
  page.stop();
  await page.opened.settle();
  page.opened.cut();
  page.opened.restore();
  const before = page.opened.requests.length;
  while (page.opened.requests.length === before) {
    await vi.advanceTimersByTimeAsync(100);
    await page.opened.deliver(0);
  }
  // What the stream has sent so far.
  while (page.opened.waitingTransfers > 1) await page.opened.deliver(0);
  page.change();
  await page.opened.delayOldest();
  expect(dev.value).toEqual(page.info());
  await page.opened.deliverAll();
  expect(dev.value).toEqual(page.info());
  await page.close();
});

test("The state of a session stays as it was after the page has stopped following it", async () => {
  const page = openCounted();
  await page.opened.settle();
  const before = page.info();
  page.unfollow();
  page.change();
  await page.opened.settle();
  expect(dev.value).toEqual(before);
  await page.close();
});

type TimerStep = "changed" | "stop" | number | { refreshAfter: number };

test.each<[what: string, steps: readonly TimerStep[], reloadedAfter: readonly number[]]>([
  ["changes that arrive together", ["changed", "changed", 10_000], [300]],
  [
    "changes all the time",
    [{ refreshAfter: 10_000 }, ...Array<TimerStep[]>(8).fill(["changed", 200]).flat()],
    [300, 700, 1_100, 1_500],
  ],
  ["an interval", [{ refreshAfter: 10_000 }, 20_000], [10_000]],
  ["a change before an interval", ["changed", { refreshAfter: 10_000 }, 20_000], [300]],
  ["a stop, until the next change", ["changed", "stop", 10_000, "changed", 10_000], [10_300]],
])("After %s, reloads follow in time", (_what, steps, expected) => {
  vi.useFakeTimers();
  const startedAt = Date.now();
  const reloads: number[] = [];
  const timer = new ReloadTimer(() => reloads.push(Date.now() - startedAt));
  for (const given of steps) {
    if (given === "changed") timer.changed();
    else if (given === "stop") timer.stop();
    else if (typeof given === "number") vi.advanceTimersByTime(given);
    else timer.refreshAfter(given.refreshAfter);
  }
  expect(reloads).toEqual(expected);
});
