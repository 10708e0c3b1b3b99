import type { StandardSchemaV1 } from "@standard-schema/spec";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { type EndpointOptions, type LandingInfo, WebhooksServer } from "../../../src/index.ts";
import { Activity, EndpointActivity } from "../../../src/receiver/counts.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

const hour = 3_600_000;
const start = Date.UTC(2026, 8, 1, 12, 30);

/** Creates an activity whose clock the test sets. */
function begin() {
  const clock = { now: start };
  return { clock, activity: new Activity(() => clock.now), endpoint: new EndpointActivity() };
}

describe("Activity.hours()", () => {
  test("counts each outcome in its hour of the clock, oldest first", () => {
    const { clock, activity, endpoint } = begin();
    activity.ended(endpoint, "succeeded");
    activity.ended(endpoint, "ignored");
    clock.now += hour / 2;
    activity.ended(endpoint, "retrying");
    activity.ended(endpoint, "failed");
    activity.ended(endpoint, "failed");
    activity.ended(endpoint, "dead");
    expect(activity.hours()).toEqual([
      { startedAt: new Date("2026-09-01T12:00Z"), succeeded: 1, ignored: 1, retrying: 0, failed: 0, dead: 0 },
      { startedAt: new Date("2026-09-01T13:00Z"), succeeded: 0, ignored: 0, retrying: 1, failed: 2, dead: 1 },
    ]);
  });

  test("starts at the start of the server, has no gaps, and returns at most 24 hours", () => {
    const { clock, activity, endpoint } = begin();
    activity.ended(endpoint, "succeeded");
    clock.now += 3 * hour;
    expect(activity.hours().map(({ succeeded }) => succeeded)).toEqual([1, 0, 0, 0]);
    clock.now += 20 * hour;
    expect(activity.hours().map(({ succeeded }) => succeeded)).toEqual([1, ...Array(23).fill(0)]);
    clock.now += hour;
    expect(activity.hours().map(({ succeeded }) => succeeded)).toEqual(Array(24).fill(0));
    expect(activity.hours()[0]?.startedAt).toEqual(new Date("2026-09-01T13:00Z"));
  });

  test("drops the counts of the same hour of the day before", () => {
    const { clock, activity, endpoint } = begin();
    activity.ended(endpoint, "failed");
    clock.now += 24 * hour;
    activity.ended(endpoint, "succeeded");
    expect(activity.hours().at(-1)).toMatchObject({ succeeded: 1, failed: 0 });
  });

  test("works when the clock is set back, even before the start, and forward again", () => {
    const { clock, activity, endpoint } = begin();
    activity.ended(endpoint, "succeeded");
    clock.now -= 2 * hour;
    activity.ended(endpoint, "failed");
    expect(activity.hours()).toMatchObject([{ startedAt: new Date("2026-09-01T10:00Z"), failed: 1 }]);
    clock.now = start;
    expect(activity.hours()).toMatchObject([{ succeeded: 1, failed: 0 }]);
  });
});

describe("Activity.handlerTime()", () => {
  test("returns undefined before the first run", () => {
    expect(begin().activity.handlerTime()).toBeUndefined();
  });

  test("returns the median and the 95th percentile", () => {
    const { activity, endpoint } = begin();
    activity.ran({ name: "retrain", activity: endpoint }, 100);
    expect(activity.handlerTime()).toEqual({ p50: 100, p95: 100, runs: 1 });
    for (let milliseconds = 99; milliseconds >= 1; milliseconds -= 1)
      activity.ran({ name: "retrain", activity: endpoint }, milliseconds);
    expect(activity.handlerTime()).toEqual({ p50: 50, p95: 95, runs: 100 });
  });

  test("uses the latest 1,024 runs", () => {
    const { activity, endpoint } = begin();
    for (let run = 0; run < 1_024; run += 1) activity.ran({ name: "retrain", activity: endpoint }, 1_000);
    for (let run = 0; run < 1_000; run += 1) activity.ran({ name: "retrain", activity: endpoint }, 1);
    expect(activity.handlerTime()).toEqual({ p50: 1, p95: 1, runs: 1_024 });
  });

  test("passes each duration to the observer", () => {
    const { activity, endpoint } = begin();
    const observe = vi.fn();
    activity.observeRuns(observe);
    activity.ran({ name: "retrain", activity: endpoint }, 12);
    expect(observe.mock.calls).toEqual([["retrain", 12]]);
  });
});

describe("Activity.lastDay()", () => {
  test("counts the deliveries of this hour of the clock and the 23 before it", () => {
    const { clock, activity, endpoint } = begin();
    expect(activity.lastDay(endpoint)).toBe(0);
    endpoint.addArrival(clock.now);
    clock.now += 23 * hour;
    endpoint.addArrival(clock.now);
    expect(activity.lastDay(endpoint)).toBe(2);
    clock.now += hour;
    expect(activity.lastDay(endpoint)).toBe(1);
    expect(endpoint.deliveries).toBe(2);
  });

  test("leaves out future hours after the clock is set back", () => {
    const { clock, activity, endpoint } = begin();
    endpoint.addArrival(clock.now);
    clock.now -= 2 * hour;
    expect(activity.lastDay(endpoint)).toBe(0);
    endpoint.addArrival(clock.now);
    expect(activity.lastDay(endpoint)).toBe(1);
    clock.now += 2 * hour;
    expect(activity.lastDay(endpoint)).toBe(2);
  });

  test("counts each endpoint separately", () => {
    const { clock, activity, endpoint } = begin();
    endpoint.addArrival(clock.now);
    expect(activity.lastDay(new EndpointActivity())).toBe(0);
  });
});

const payload = webhookPayload("repo.content");
const nothing = { succeeded: 0, ignored: 0, retrying: 0, failed: 0 };

/** Creates a server with the endpoint `retrain` and records the data of its landing page. */
function serve(options: EndpointOptions, handler: (attempt: number, signal: AbortSignal) => unknown) {
  const logger = createMemoryLogger();
  const infos: LandingInfo[] = [];
  const server = new WebhooksServer({
    secret: "s3cret",
    logger,
    landingPage: (info) => {
      infos.push(info);
      return "";
    },
  });
  onTestFinished(() => server.close());
  server.webhook("retrain", options, (_payload, { delivery, signal }) => handler(delivery.attempt, signal));
  const landingInfo = async () => {
    await server.request("/");
    const info = infos.at(-1);
    const [endpoint] = info?.endpoints ?? [];
    if (!info || !endpoint) throw new Error("The landing page received nothing.");
    const sum = (outcome: keyof typeof nothing) => info.activity.hours.reduce((all, hour) => all + hour[outcome], 0);
    const counted = {
      ...{ succeeded: sum("succeeded"), ignored: sum("ignored") },
      ...{ retrying: sum("retrying"), failed: sum("failed") },
    };
    return { counted, endpoint, activity: info.activity };
  };
  const send = (id?: string, secret = "s3cret") =>
    server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret, ...(id !== undefined && { id }) }));
  return { server, logger, landingInfo, send };
}

describe("The landing page shows, for a background endpoint,", () => {
  beforeEach(() => {
    vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
  });

  test("a delivery when it is received, and each attempt when it ends", async () => {
    const failing = Promise.withResolvers<void>();
    const { landingInfo, send, logger } = serve({ background: true, backoff: { first: 1 } }, async (attempt) => {
      await failing.promise;
      if (attempt < 3) throw new Error("not yet");
    });
    expect((await send("a")).status).toBe(202);
    expect(await landingInfo()).toMatchObject({ counted: nothing, endpoint: { deliveries: 1, lastDay: 1 } });
    failing.resolve();
    await waitFor(async () => expect((await landingInfo()).counted).toEqual({ ...nothing, retrying: 2, succeeded: 1 }));
    expect(await landingInfo()).toMatchObject({
      endpoint: { deliveries: 1, lastDay: 1, last: { outcome: "succeeded" } },
      activity: { handlerTime: { p50: expect.any(Number), p95: expect.any(Number), runs: 3 } },
    });
    expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("a dead delivery, which is logged as an error", async () => {
    const { landingInfo, send, logger } = serve({ background: true, attempts: 2, backoff: { first: 1 } }, () => {
      throw new Error("no GPU");
    });
    await send("a");
    await waitFor(async () => expect((await landingInfo()).counted).toEqual({ ...nothing, retrying: 1, failed: 1 }));
    const failures = logger.lines.filter(({ outcome }) => outcome !== undefined);
    expect(failures).toMatchObject([
      { level: "warn", attempt: 1, outcome: "retrying", code: "HANDLER_FAILED", deliveryId: "a" },
      { level: "error", attempt: 2, outcome: "dead", msg: expect.stringMatching(/^delivery is dead: /) },
    ]);
  });

  test("its death at the first attempt where the handler returns a value that is not JSON", async () => {
    const { landingInfo, send } = serve({ background: true }, () => 1n);
    await send("a");
    await waitFor(async () => expect((await landingInfo()).counted).toEqual({ ...nothing, failed: 1 }));
  });

  test("a dead delivery that no longer matches the schema", async () => {
    let checks = 0;
    const schema: StandardSchemaV1 = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => (checks++ === 0 ? { value } : { issues: [{ message: "is another by now" }] }),
      },
    };
    const { landingInfo, send, logger } = serve({ background: true, schema }, () => "never");
    await send("a");
    await waitFor(async () => expect((await landingInfo()).counted).toEqual({ ...nothing, failed: 1 }));
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "error", outcome: "dead", deliveryId: "a", code: "PAYLOAD_INVALID" }),
    );
    // Its handler did not run.
    expect((await landingInfo()).activity).not.toHaveProperty("handlerTime");
  });

  test("no failure for an attempt that the shutdown interrupted", async () => {
    const begun = Promise.withResolvers<void>();
    const { server, landingInfo, send, logger } = serve({ background: true, attempts: 1 }, (_attempt, signal) => {
      begun.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    await send("a");
    await begun.promise;
    await server.close();
    expect((await landingInfo()).counted).toEqual(nothing);
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "warn", outcome: "abandoned", deliveryId: "a" }),
    );
  });

  test("the number of queued and running deliveries once the inbox is open, without those of other servers", async () => {
    const file = inboxFile();
    vi.stubEnv("INBOX_URL", `sqlite:${file}`);
    const work = Promise.withResolvers<void>();
    const { server, landingInfo, send } = serve({ background: true, concurrency: 1 }, () => work.promise);
    expect((await landingInfo()).activity).not.toHaveProperty("queue");
    const other = new SqliteInbox({ file, log: createMemoryLogger(), now: Date.now });
    await other.accept({ id: "a", endpoint: "of-another-server", body: "{}", receivedAt: new Date() });
    await other.close(0);
    for (const id of ["a", "b", "c"]) await send(id);
    await waitFor(async () => expect(await server.inbox.counts()).toMatchObject({ retrain: { running: 1 } }));
    expect((await landingInfo()).activity.queue).toEqual({ queued: 2, running: 1, dead: 0 });
    work.resolve();
  });
});
