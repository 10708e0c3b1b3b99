import { expect, test } from "vitest";
import type { EndpointInfo, EndpointList } from "../../../src/console/protocol/deliveries.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { openReceiverConsole, payloadOf, startedAt } from "./open-receiver-console.ts";

const minuteMs = 60_000;
const clock = { now: 0 };

/** Opens the next process of a dev session, which restores what the previous one reported. */
async function openNext(snapshot: unknown, { endpoint = "inline" } = {}) {
  const opened = await openReceiverConsole(
    (server) => {
      server.webhook(endpoint, (payload) => {
        if (payload.repo.name === "acme/broken") throw new Error("The disk is full.");
      });
      if (snapshot !== undefined) void server[serverControl].console.restore(snapshot);
    },
    { now: () => clock.now },
  );
  const read = async (): Promise<{ startedAt: number; shown: EndpointInfo | undefined }> => {
    const list: EndpointList = await opened.client.read("endpoints");
    return { startedAt: list.startedAt, shown: list.endpoints.find(({ name }) => name === endpoint) };
  };
  // Processes send JSON to each other.
  const report = async (): Promise<unknown> =>
    JSON.parse(JSON.stringify(await opened.server[serverControl].console.takeSnapshot()));
  return { ...opened, read, report };
}

test("The activity of an endpoint survives reloads of a dev session", async () => {
  clock.now = startedAt;
  const first = await openNext(undefined);
  await first.deliver("inline", "a");
  await first.deliver("inline", "b", { payload: payloadOf("acme/broken") });
  clock.now += 2 * minuteMs;
  // The file has an error, or the endpoint another name, for one reload.
  const second = await openNext(await first.report(), { endpoint: "renamed" });
  expect((await second.read()).shown?.activity["15m"].every(({ deliveries }) => deliveries === 0)).toBe(true);
  const third = await openNext(await second.report());
  expect((await third.read()).shown?.last).toEqual({ status: "failed", at: startedAt });
  await third.deliver("inline", "c");
  // The Hub sends a failed delivery again, which is not another delivery.
  await third.deliver("inline", "b");
  const fourth = await openNext(await third.report());
  await fourth.deliver("inline", "d");

  const { shown, startedAt: countedSince } = await fourth.read();
  const before = { deliveries: 2, failures: 1, attempts: 2, failedAttempts: 1 };
  const now = { deliveries: 2, failures: 0, attempts: 3, failedAttempts: 0 };
  expect([shown?.activity["15m"].at(-3), shown?.activity["15m"].at(-1)]).toEqual([before, now]);
  expect(shown?.activity["24h"].at(-1)).toEqual({ deliveries: 4, failures: 1, attempts: 5, failedAttempts: 1 });
  expect([shown?.today.deliveries, shown?.last?.status, countedSince]).toEqual([4, "succeeded", startedAt]);
  expect((await fourth.ids()).sort()).toEqual(["a", "b", "c", "d"]);
});

test("The inline deliveries of a dev session keep their headers, logs, results, and originals after a reload, and a running one has failed", async () => {
  clock.now = startedAt;
  const endless = new Promise<void>(() => {});
  const first = await openReceiverConsole((server) => {
    server.webhook("inline", async (payload, { log }) => {
      if (payload.repo.name === "acme/endless") await endless;
      log.info("counted");
      return { rows: 7 };
    });
  });
  await first.deliver("inline", "done", { headers: { "x-region": "eu" } });
  const key = { endpoint: "inline", id: "done" };
  const { id: copy } = (await first.client.change("deliveries/replay", key)).body;
  await first.untilStatus("inline", copy, "succeeded");
  void first.deliver("inline", "endless", { payload: payloadOf("acme/endless") });
  await first.untilStatus("inline", "endless", "running");
  const second = await openNext(JSON.parse(JSON.stringify(await first.server[serverControl].console.takeSnapshot())));

  const done = await second.one("inline", "done");
  expect(done).toEqual(await first.one("inline", "done"));
  expect(done.headers).toContainEqual(["x-region", "eu"]);
  expect(done.timeline).toMatchObject([
    { outcome: "succeeded", responseStatus: 200, result: '{"rows":7}', logs: [{}] },
  ]);
  expect(await second.one("inline", copy)).toMatchObject({ status: "succeeded", replayOf: "done" });
  expect(await second.one("inline", "endless")).toMatchObject({
    status: "failed",
    timeline: [{ number: 1, outcome: "failed", error: { code: "CLOSING" } }],
  });
});

test("A snapshot of another version of the package is ignored", async () => {
  clock.now = startedAt;
  const { read, ids } = await openNext({ deliveries: [{ id: 7 }], activity: { endpoints: "none" } });
  expect((await read()).shown?.today.deliveries).toBe(0);
  expect(await ids()).toEqual([]);
});
