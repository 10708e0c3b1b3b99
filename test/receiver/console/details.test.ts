import { expect, onTestFinished, test } from "vitest";
import type { EndpointInfo, EndpointList } from "../../../src/console/protocol/deliveries.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { codeOf } from "../../console/server/open-test-console.ts";
import { openReceiverConsole, payloadOf, secret, startedAt } from "./open-receiver-console.ts";

const forwarded = {
  "x-original-uri": `/webhooks/inline?secret=${secret}`,
  "x-api-key": "anything",
  "x-request-id": "r-1",
};
const shownHeaders = [
  ["content-type", "application/json"],
  ["webhook-id", "d-1"],
  ["x-webhook-secret", "[redacted]"],
  ["x-original-uri", "/webhooks/inline?secret=[redacted]"],
  ["x-api-key", "[redacted]"],
  ["x-request-id", "r-1"],
];

/** Opens a server whose endpoints do the same inline and in the background. */
function openServer(options: Parameters<typeof openReceiverConsole>[1] = {}) {
  return openReceiverConsole((server) => {
    for (const background of [false, true]) {
      const name = (text: string) => (background ? `${text}-later` : text);
      const given = background ? ({ background: true, attempts: 1 } as const) : {};
      server.webhook(name("works"), given, (_payload, { log }) => {
        log.info({ step: 1, header: secret }, `Started with ${secret}.`);
        log.child({ part: "two" }).warn("Halfway.");
        return { token: secret, count: 2 };
      });
      server.webhook(name("fails"), given, () => {
        throw new Error("outer", { cause: new TypeError(`The secret is ${secret}.`) });
      });
    }
    server.webhook("filtered", { repo: "dataset:acme/wanted" }, () => {});
  }, options);
}

type Opened = Awaited<ReturnType<typeof openServer>>;

/** Sends a delivery, and returns its details after its last attempt. */
async function settle({ deliver, untilStatus }: Opened, endpoint: string, status: string) {
  await deliver(endpoint, "d-1", { headers: forwarded });
  return untilStatus(endpoint, "d-1", status);
}

test.each(["works", "works-later"])("The details of %s contain the attempt with logs and result", async (endpoint) => {
  const opened = await openServer();
  const details = await settle(opened, endpoint, "succeeded");
  expect(details).toMatchObject({
    ...{ id: "d-1", endpoint, status: "succeeded", attempts: 1, receivedAt: startedAt, recordsDetails: true },
    body: JSON.stringify(payloadOf("acme/data")),
    url: `/webhooks/${endpoint}`,
    timeline: [
      {
        ...{ number: 1, outcome: "succeeded", startedAt, durationMs: expect.any(Number) },
        result: '{"token":"[redacted]","count":2}',
        logs: [
          {
            at: startedAt,
            level: "info",
            message: "Started with [redacted].",
            fields: '{"step":1,"header":"[redacted]"}',
          },
          { at: startedAt, level: "warn", message: "Halfway.", fields: '{"part":"two"}' },
        ],
      },
    ],
  });
  expect(Object.fromEntries(details.headers ?? [])).toEqual(Object.fromEntries(shownHeaders));
  expect(details.timeline[0]).not.toHaveProperty("isTruncated");
  expect(JSON.stringify(details)).not.toContain(secret);
  if (endpoint === "works") {
    expect(details.timeline[0]?.responseStatus).toBe(200);
    expect(details).not.toHaveProperty("retentionMs");
  } else {
    expect(details.timeline[0]).not.toHaveProperty("responseStatus");
    expect(details.retentionMs).toBeGreaterThan(0);
  }
});

test.each([
  ["fails", "failed"],
  ["fails-later", "dead"],
])("The details of %s contain the error and the stack with its causes", async (endpoint, status) => {
  const opened = await openServer();
  const details = await settle(opened, endpoint, status);
  const [attempt] = details.timeline;
  expect(attempt).toMatchObject({ outcome: "failed", error: { code: "HANDLER_FAILED", message: "outer" } });
  expect(attempt?.stack).toMatch(/^Error: outer\n {4}at .*details\.test\.ts/);
  expect(attempt?.stack).toMatch(/^Caused by: TypeError: The secret is \[redacted\]\.$/m);
  expect(attempt?.stack).not.toMatch(/node_modules|node:/);
  if (endpoint === "fails") expect(attempt?.responseStatus).toBe(500);
});

test("The details contain the first frame of the user's own code, also if this package or Node threw the error", async () => {
  const opened = await openReceiverConsole((server) => {
    server.webhook("package", () => {
      new WebhooksServer({ secret: "" });
    });
    server.webhook("node", () => new URL("no URL").href);
    server.webhook("works", () => {});
  });
  const placeOf = async (endpoint: string, status: string) => (await settle(opened, endpoint, status)).failedAt;
  for (const endpoint of ["package", "node"]) {
    expect(await placeOf(endpoint, "failed")).toMatch(/^[^ ]* ?\(?[^ ]*details\.test\.ts:\d+:\d+\)?$/);
  }
  expect(await placeOf("works", "succeeded")).toBeUndefined();
});

test.each([{}, { background: true }])(
  "The details contain what the current filter decides. Options: %j",
  async (options) => {
    const opened = await openReceiverConsole((server) => {
      server.webhook("closed", { ...options, action: "delete" }, () => {});
      server.webhook("open", options, () => {});
    });
    expect((await settle(opened, "closed", "ignored")).prediction?.ignored).toMatch(/^action \w+ is not delete$/);
    expect((await settle(opened, "open", "succeeded")).prediction).toEqual({});
  },
);

test("Without recordDetails, nothing of an attempt and no headers are recorded", async () => {
  const opened = await openServer({ recordDetails: false });
  for (const [endpoint, status] of [
    ["works", "succeeded"],
    ["works-later", "succeeded"],
    ["fails", "failed"],
    ["fails-later", "dead"],
  ] as const) {
    const details = await settle(opened, endpoint, status);
    expect(details).toMatchObject({ recordsDetails: false, timeline: [{ number: 1 }] });
    for (const name of ["logs", "result", "stack"]) expect(details.timeline[0]).not.toHaveProperty(name);
    expect(details).not.toHaveProperty("headers");
  }
  expect((await opened.one("fails", "d-1")).timeline[0]).toMatchObject({ error: { message: "outer" } });
  expect(opened.logger.lines).toContainEqual(expect.objectContaining({ msg: "Halfway.", part: "two" }));
});

test("An ignored delivery has its reason and no attempt", async () => {
  const opened = await openServer();
  const details = await settle(opened, "filtered", "ignored");
  expect(details).toMatchObject({ storage: "memory", attempts: 0, ignoredReason: expect.any(String) });
  expect(details.timeline).toMatchObject([{ outcome: "ignored", responseStatus: 200 }]);
});

test.each([{}, { background: true } as const])(
  "A running attempt is in the timeline of an endpoint with %j",
  async (given) => {
    const gate = Promise.withResolvers<void>();
    const opened = await openReceiverConsole((server) => server.webhook("waits", given, () => gate.promise));
    onTestFinished(() => gate.resolve());
    const answering = opened.deliver("waits", "d-1");
    const running = await opened.untilStatus("waits", "d-1", "running");
    expect(running).toMatchObject({ attempts: 1, startedAt, timeline: [{ number: 1, outcome: "running", startedAt }] });
    expect(running).not.toHaveProperty("durationMs");
    gate.resolve();
    await answering;
    const { timeline } = await opened.untilStatus("waits", "d-1", "succeeded");
    expect(timeline).toMatchObject([{ number: 1, outcome: "succeeded" }]);
  },
);

test("A retry waits, and the list shows when it is due", async () => {
  let runs = 0;
  const opened = await openReceiverConsole((server) =>
    server.webhook("flaky", { background: true, attempts: 2, backoff: { first: "1h", max: "1h" } }, () => {
      runs += 1;
      if (runs === 1) throw new Error("first");
    }),
  );
  await opened.deliver("flaky", "d-1");
  const waiting = await opened.untilStatus("flaky", "d-1", "retrying");
  expect(waiting).toMatchObject({ attempts: 1, error: { message: "first" }, timeline: [{ outcome: "failed" }] });
  expect(waiting.nextAttemptAt).toBeGreaterThan(startedAt);
  expect((await opened.list())[0]).toMatchObject({ status: "retrying", nextAttemptAt: waiting.nextAttemptAt });
});

test("A long body is cut to 1 MiB of well-formed text", async () => {
  const opened = await openReceiverConsole((server) => server.webhook("any", { schema: null }, () => {}));
  // The limit is in the middle of a character.
  const payload = "😀".repeat(600_000);
  await opened.deliver("any", "d-1", { payload });
  const { body, bodyLength } = await opened.one("any", "d-1");
  expect([body.length, bodyLength]).toEqual([1_048_576, JSON.stringify(payload).length]);
  expect(body.isWellFormed()).toBe(true);
});

test.each([
  ["an unknown delivery", "endpoint=works&id=none", 404, "DELIVERY_UNKNOWN"],
  ["an unknown endpoint", "endpoint=none&id=d-1", 404, "DELIVERY_UNKNOWN"],
  ["no endpoint", "id=d-1", 400, "ARGUMENT_INVALID"],
  ["a property of objects", "endpoint=__proto__&id=constructor", 404, "DELIVERY_UNKNOWN"],
  ["a long ID", `endpoint=works&id=${"x".repeat(1_001)}`, 400, "ARGUMENT_INVALID"],
])("The details of %s are an error", async (_what, query, status, code) => {
  const opened = await openServer();
  await opened.deliver("works", "d-1");
  expect(await codeOf(await opened.client.get(`deliveries/one?${query}`))).toEqual([status, code]);
});

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
