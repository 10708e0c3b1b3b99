import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { DeliveryKey, DeliverySummary } from "../../../src/console/protocol/deliveries.ts";
import type { ConsoleFeature, StreamMessage } from "../../../src/console/protocol/session.ts";
import type { Session } from "../../../src/console/server/access.ts";
import { ConsoleEvents, streamEvents } from "../../../src/console/server/events.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { listen } from "../../../src/receiver/node/listen.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { ConsoleClient } from "../../support/console-client.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { codeOf, consoleToken, openTestConsole } from "./open-test-console.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Reads the start of a stream, and then its chunks as text. `undefined`: the stream has ended. */
async function readerOf(answer: Response | Promise<Response>) {
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => (await reader?.read())?.value;
  expect(await read()).toBe(": open\n\n");
  return { read, cancel: () => reader?.cancel() };
}

describe("The stream", () => {
  test("starts at once, and sends each message as JSON", async () => {
    const { signIn, events } = openTestConsole();
    const response = await (await signIn()).get("stream");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    // nginx would collect the messages without this header.
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("cache-control")).toMatch(/no-store|no-cache/);
    const { read } = await readerOf(response);
    events.publish({ type: "changed", features: ["deliveries"] });
    expect(await read()).toBe('data: {"type":"changed","features":["deliveries"]}\n\n');
    // A line break in a message must not end it.
    const line = { sequence: 1, at: 1, level: "info", message: "one\ntwo\r\n\ndata: forged" } as const;
    events.publish({ type: "logs", lines: [line] });
    const text = (await read()) ?? "";
    expect(text.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(text.replace("data: ", ""))).toEqual({ type: "logs", lines: [line] });
  });

  test("is refused while 50 streams are open", async () => {
    const { signIn } = openTestConsole();
    const client = await signIn();
    const streams = [];
    for (let count = 0; count < 50; count += 1) streams.push(await readerOf(client.get("stream")));
    const refused = await client.get("stream");
    expect(refused.headers.get("retry-after")).toBe("30");
    expect(await codeOf(refused)).toEqual([503, "TOO_MANY_STREAMS"]);
    await streams[0]?.cancel();
    await waitFor(async () => expect((await client.get("stream")).status).toBe(200));
  });

  test("ends for a client that does not read what waits, and for no other", { tags: "slow" }, async () => {
    const megabyte = "x".repeat(1_000_000);
    const action = fc.oneof(
      { weight: 2, arbitrary: fc.record({ publish: fc.integer({ min: 1, max: 400 }) }) },
      { weight: 2, arbitrary: fc.record({ publishMegabytes: fc.integer({ min: 1, max: 4 }) }) },
      { weight: 3, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 600 }) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 8, maxLength: 24, size: "max" }), async (actions) => {
        const { signIn, events } = openTestConsole();
        const { read, cancel } = await readerOf((await signIn()).get("stream"));
        const unread: number[] = [];
        let published = 0;
        const publish = (message: string) => {
          published += 1;
          unread.push(message.length);
          events.publish({ type: "logs", lines: [{ sequence: published, at: 1, level: "info", message }] });
        };
        const size = () => unread.reduce((sum, length) => sum + length + 100, 0);
        let isOverLimit = false;
        for (const given of actions) {
          if ("publish" in given) for (let count = 0; count < given.publish; count += 1) publish("");
          else if ("publishMegabytes" in given) {
            for (let count = 0; count < given.publishMegabytes; count += 1) publish(megabyte);
          } else {
            for (let count = 0; count < given.read && unread.length > 0; count += 1) {
              unread.shift();
              expect(await read()).toContain(`"sequence":${published - unread.length},`);
            }
          }
          await new Promise((resolve) => setImmediate(resolve));
          // Up to three messages have left the queue.
          isOverLimit = unread.length > 1_003 || size() > 4_194_304 + 3_100_000;
          if (unread.length <= 1_000 && size() <= 4_194_304) expect(events.subscribers).toBe(1);
          else if (!isOverLimit && events.subscribers === 1) continue;
          else break;
        }
        if (isOverLimit) {
          await waitFor(() => expect(events.subscribers).toBe(0), { interval: 1 });
          // What waited is discarded.
          let messages = 0;
          while ((await read()) !== undefined) messages += 1;
          expect(messages).toBeLessThan(5);
        }
        await cancel();
        await waitFor(() => expect(events.subscribers).toBe(0), { interval: 1 });
      }),
      { numRuns: 4, seed: Number(process.env.SEED ?? 1) },
    );
  });

  test("ends for a client that does not read a heartbeat until the next one", async () => {
    vi.useFakeTimers();
    const { signIn, events } = openTestConsole();
    const response = await (await signIn()).get("stream");
    await vi.advanceTimersByTimeAsync(15_000);
    expect(events.subscribers).toBe(1);
    await vi.advanceTimersByTimeAsync(45_000);
    expect([events.subscribers, vi.getTimerCount()]).toEqual([0, 0]);
    await response.body?.cancel();
  });

  test("ends with its session, its client, or the console, and with nothing else", async () => {
    const action = fc.oneof(
      { weight: 4, arbitrary: fc.record({ open: fc.constantFrom("one", "two", "program") }) },
      { weight: 2, arbitrary: fc.record({ leave: fc.nat() }) },
      { weight: 2, arbitrary: fc.record({ signOut: fc.constantFrom("one", "two") }) },
      { weight: 3, arbitrary: fc.constant({ publish: true }) },
      { weight: 3, arbitrary: fc.constant({ heartbeat: true }) },
      { weight: 1, arbitrary: fc.constant({ expire: true }) },
    );
    const opens = (["one", "one", "two", "program"] as const).map((open) => ({ open }));
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 25, size: "max" }), async (actions) => {
        const { signIn, send, events, clock, console: opened } = openTestConsole();
        const clients = new Map([
          ["one", await signIn()],
          ["two", await signIn()],
        ]);
        vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
        let streams: { owner: string; reader: Awaited<ReturnType<typeof readerOf>> }[] = [];
        const expectEnded = async (ended: typeof streams) => {
          for (const { reader } of ended) expect(await reader.read()).toBeUndefined();
          streams = streams.filter((stream) => !ended.includes(stream));
          await waitFor(() => expect(events.subscribers).toBe(streams.length), { interval: 1 });
        };
        let isExpired = false;
        for (const given of actions) {
          if ("open" in given) {
            const headers = { authorization: `Bearer ${consoleToken}` };
            const client = clients.get(given.open);
            const response = await (given.open === "program" ? send("api/stream", { headers }) : client?.get("stream"));
            if (response?.status !== 200) continue;
            streams.push({ owner: given.open, reader: await readerOf(response) });
          } else if ("leave" in given) {
            const [left] = streams.splice(given.leave % Math.max(1, streams.length), 1);
            await left?.reader.cancel();
          } else if ("signOut" in given) {
            const response = await clients.get(given.signOut)?.post("session", {}, { method: "DELETE" });
            if (response?.status === 200) await expectEnded(streams.filter(({ owner }) => owner === given.signOut));
          } else if ("publish" in given) {
            events.publish({ type: "changed", features: ["deliveries"] });
            for (const { reader } of streams) expect(await reader.read()).toContain("changed");
          } else if ("heartbeat" in given) {
            vi.advanceTimersByTime(15_000);
            if (isExpired) await expectEnded(streams.filter(({ owner }) => owner !== "program"));
            for (const { reader } of streams) expect(await reader.read()).toBe(": heartbeat\n\n");
          } else {
            clock.now += 7 * 24 * 3_600_000;
            isExpired = true;
          }
          await waitFor(() => expect(events.subscribers).toBe(streams.length), { interval: 1 });
        }
        opened.close();
        await expectEnded(streams);
        expect(vi.getTimerCount()).toBe(0);
        vi.useRealTimers();
      }),
      {
        ...{ numRuns: Number(process.env.RUNS ?? 8), seed: Number(process.env.SEED ?? 1) },
        examples: [
          [[...opens, { signOut: "one" }, { publish: true }, { expire: true }, { heartbeat: true }, { leave: 0 }]],
        ],
      },
    );
  });

  test("leaves no listener on its session, nor on a connection that is kept alive", async () => {
    const events = new ConsoleEvents();
    const watching = new Set<() => void>();
    const onSignOut = (listener: () => void) => {
      watching.add(listener);
      return () => watching.delete(listener);
    };
    const session: Session = { csrfToken: "", hasExpired: () => false, onSignOut };
    const socket = new PassThrough();
    const listeners = () => [watching.size, socket.listenerCount("end")];
    const before = listeners();
    const app = new Hono().get("/", (context) => streamEvents(context, { events, session }));
    const { read } = await readerOf(app.request("/", {}, { incoming: { socket } }));
    expect(listeners()).toEqual(before.map((count) => count + 1));
    events.close();
    expect(await read()).toBeUndefined();
    expect(listeners()).toEqual(before);
  });

  test("is not opened by HEAD, whose client reads no messages", async () => {
    const { signIn, send, events } = openTestConsole();
    const { cookie } = await signIn();
    const response = await send("api/stream", { method: "HEAD", headers: { cookie } });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(events.subscribers).toBe(0);
  });
});

describe("The stream of a console on a socket", () => {
  /** Serves a test console on a socket. */
  async function serve() {
    const { console: opened, events } = openTestConsole();
    const listener = await listen({
      ...{ fetch: (request, bindings) => opened.fetch(request, bindings), host: "127.0.0.1", port: 0 },
      ...{ limits: { writeTimeoutMs: 10_000 }, log: createMemoryLogger() },
      timeouts: { headersMs: 10_000, requestMs: 10_000, keepAliveMs: 10_000 },
    });
    onTestFinished(async () => void (await listener.close(0)));
    const headers = { authorization: `Bearer ${consoleToken}` };
    const open = () => fetch(`http://127.0.0.1:${listener.port}/_console/api/stream`, { headers });
    return { console: opened, events, listener, open };
  }

  const line = { sequence: 1, at: 1, level: "info", message: "x".repeat(1_000_000) } as const;

  /** Opens a stream over a connection that is not read. */
  async function openUnread(port: number): Promise<void> {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.write(
      `GET /_console/api/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${consoleToken}\r\n\r\n`,
    );
    await once(socket, "data");
    socket.pause();
  }

  test("does not delay the shutdown if its client does not read", async () => {
    const { console: opened, events, listener } = await serve();
    await openUnread(listener.port);
    // More than the system buffers, and less than the stream.
    for (let published = 0; published < 8; published += 1) {
      events.publish({ type: "logs", lines: [line] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(events.subscribers).toBe(1);
    opened.close();
    // The server waits as long for a client that reads.
    expect(await listener.close(500)).toBe(true);
  });

  test("closes the connection of a client that stops reading", async () => {
    const { events, listener } = await serve();
    await openUnread(listener.port);
    let published = 0;
    // The system buffers some megabytes. The rest waits in the stream, up to its limit.
    for (; events.subscribers > 0 && published < 100; published += 1) {
      events.publish({ type: "logs", lines: [line] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(published).toBeLessThan(100);
    await waitFor(() => expect(listener.connectionCount).toBe(0));
  });

  test("leaves nothing after 20 clients have left", async () => {
    const { events, listener, open } = await serve();
    for (let round = 0; round < 2; round += 1) {
      const responses = await Promise.all(Array.from({ length: 10 }, open));
      expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
      await Promise.all(responses.map(({ body }) => body?.cancel()));
      await waitFor(() => expect(events.subscribers).toBe(0), { interval: 5 });
    }
    await waitFor(() => expect(listener.connectionCount).toBe(0));
  });

  test("is refused after the console has closed, while the socket is still open", async () => {
    const { console: opened, events, open } = await serve();
    const response = await open();
    opened.close();
    expect(await response.text()).toBe(": open\n\n");
    expect(await codeOf(await open())).toEqual([503, "CLOSING"]);
    expect(events.subscribers).toBe(0);
  });
});

describe("The stream of a server, over a socket,", () => {
  async function launch({ beforeAnswer = async () => {} }: { beforeAnswer?: () => Promise<void> } = {}) {
    const app = new Hono();
    app.use(async (_context, next) => {
      await beforeAnswer();
      await next();
    });
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ secret: false, consoleToken, inbox: "sqlite::memory:", logger, app });
    server.webhook("inline", () => "done");
    server.webhook("background", { background: true }, () => "done");
    onTestFinished(() => server.close());
    const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
    const client = new ConsoleClient((path, init) => fetch(`${url}/_console/${path}`, init));
    await client.signIn({ token: consoleToken });
    const payload = webhookPayload("repo.content");
    const deliver = (endpoint: string, id: string) =>
      fetch(deliveryRequest({ endpoint, id, payload, secret: undefined, baseUrl: url }));
    return { server, url, client, deliver };
  }

  test("does not delay the shutdown of the server", async () => {
    const { server, client } = await launch();
    const readers = await Promise.all([client.get("stream"), client.get("stream")].map(readerOf));
    const closedAt = performance.now();
    await server.close();
    // By default, a server waits 25 s for requests in progress.
    expect(performance.now() - closedAt).toBeLessThan(5_000);
    expect(await Promise.all(readers.map(({ read }) => read()))).toEqual([undefined, undefined]);
  });

  test("is refused to a request that was waiting while the server closed", async () => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    let isGated = false;
    const { server, client } = await launch({
      beforeAnswer: async () => {
        if (!isGated) return;
        arrived.resolve();
        await gate.promise;
      },
    });
    isGated = true;
    const opening = client.get("stream");
    await arrived.promise;
    const closing = server.close();
    gate.resolve();
    expect(await codeOf(await opening)).toEqual([503, "CLOSING"]);
    // Without the refusal, the server would wait 30 s for the end of the stream.
    await closing;
  });

  test("sends messages again after the server was launched again", async () => {
    const { server, url, client, deliver } = await launch();
    await readerOf(client.get("stream"));
    // The change waits to be sent when the server closes.
    await deliver("inline", "d-1");
    await server.close();
    await server.launch({ port: Number(new URL(url).port), host: "127.0.0.1", handleSignals: false });
    const again = await readerOf(client.get("stream"));
    await deliver("inline", "d-2");
    expect(await again.read()).toContain("data: ");
    await again.cancel();
  });

  test.each(["inline", "background"])("sends the rows of %s deliveries", async (endpoint) => {
    const { client, deliver } = await launch();
    const { read, cancel } = await readerOf(client.get("stream"));
    await deliver(endpoint, "d-1");
    let text = "";
    await waitFor(async () => {
      text += await read();
      expect(text).toContain('"status":"succeeded"');
    });
    const rows = text
      .split("\n\n")
      .flatMap((event) => (event.startsWith("data: ") ? [JSON.parse(event.slice(6))] : []))
      .flatMap(({ deliveries = [] }) => deliveries);
    expect(rows.at(-1)).toMatchObject({
      ...{ endpoint, id: "d-1", status: "succeeded", attempts: 1 },
      storage: endpoint === "inline" ? "memory" : "inbox",
      event: { scope: "repo.content", action: "update" },
    });
    expect(text).toContain('{"type":"changed","features":["endpoints","inbox"]}');
    await cancel();
  });
});

function rowOf({ endpoint, id }: DeliveryKey): DeliverySummary {
  return { endpoint, id, storage: "memory", status: "running", receivedAt: 1, attempts: 1 };
}

/** Opens events with one listener. */
function openEvents({
  readDelivery = vi.fn(async (key: DeliveryKey): Promise<DeliverySummary | undefined> => rowOf(key)),
}: {
  readDelivery?: (key: DeliveryKey) => Promise<DeliverySummary | undefined>;
} = {}) {
  const events = new ConsoleEvents({ readDelivery });
  const messages: StreamMessage[] = [];
  const onClose = vi.fn();
  const unsubscribe = events.subscribe((message) => messages.push(message), { onClose });
  onTestFinished(() => events.close());
  return { events, messages, onClose, unsubscribe, readDelivery };
}

const passTime = () => vi.advanceTimersByTimeAsync(200);
const key = (number: number) => ({ endpoint: "retrain", id: `d-${number}` });

describe("Live messages", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  test("cost nothing while no console is open", async () => {
    const readDelivery = vi.fn(async () => undefined);
    const events = new ConsoleEvents({ readDelivery });
    events.deliveryChanged(key(1));
    events.changed("endpoints");
    expect(vi.getTimerCount()).toBe(0);
    expect(events.subscribers).toBe(0);
    await passTime();
    expect(readDelivery).not.toHaveBeenCalled();
  });

  test("collect the changes of an interval, and send each delivery once", async () => {
    const { events, messages, readDelivery } = openEvents();
    for (const number of [1, 2, 1, 1]) events.deliveryChanged(key(number));
    await vi.advanceTimersByTimeAsync(199);
    expect(messages).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(messages).toEqual([{ type: "deliveries", deliveries: [rowOf(key(1)), rowOf(key(2))] }]);
    expect(readDelivery).toHaveBeenCalledTimes(2);
    events.deliveryChanged(key(1));
    await passTime();
    expect(messages).toHaveLength(2);
  });

  test("end with the last state of each delivery and feature, however long the rows are read", async () => {
    const action = fc.oneof(
      fc.record({ change: fc.nat(2) }),
      fc.record({ feature: fc.constantFrom("endpoints" as const, "jobs" as const) }),
      fc.record({ read: fc.nat(5) }),
      fc.record({ passMs: fc.constantFrom(50, 200) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30, size: "max" }), async (actions) => {
        const attempts = [0, 0, 0];
        const reads: (() => void)[] = [];
        const { events, messages } = openEvents({
          readDelivery: async (given) => {
            const row = { ...rowOf(given), attempts: attempts[Number(given.id.slice(2))] ?? 0 };
            await new Promise<void>((resolve) => reads.push(resolve));
            return row;
          },
        });
        const changedAt = new Map<ConsoleFeature, number>();
        for (const given of actions) {
          if ("feature" in given) {
            changedAt.set(given.feature, messages.length);
            events.changed(given.feature);
          } else if ("change" in given) {
            attempts[given.change] = (attempts[given.change] ?? 0) + 1;
            events.deliveryChanged(key(given.change));
          } else if ("read" in given) reads.splice(given.read % Math.max(1, reads.length), 1)[0]?.();
          await vi.advanceTimersByTimeAsync("passMs" in given ? given.passMs : 0);
        }
        for (let time = 0; time < 5; time += 1) {
          while (reads.length > 0) reads.pop()?.();
          await vi.advanceTimersByTimeAsync(200);
        }
        const rows = messages.flatMap((message) => (message.type === "deliveries" ? message.deliveries : []));
        for (const [number, count] of attempts.entries()) {
          const sent = rows.filter(({ id }) => id === `d-${number}`).map((row) => row.attempts);
          expect(sent).toEqual(sent.toSorted((one, other) => one - other));
          expect(sent.at(-1) ?? 0).toBe(count);
        }
        for (const [feature, count] of changedAt) {
          const later = messages.slice(count);
          expect(later.some((message) => message.type === "changed" && message.features.includes(feature))).toBe(true);
        }
        events.close();
        expect(vi.getTimerCount()).toBe(0);
      }),
      // The example is a feature that changes while the row of the last change is read.
      { numRuns: 30, examples: [[[{ change: 0 }, { passMs: 200 }, { feature: "endpoints" }]]] },
    );
  });

  test("report more than 100 changed deliveries as one change of the list", async () => {
    const { events, messages, readDelivery } = openEvents();
    for (let number = 0; number <= 150; number += 1) events.deliveryChanged(key(number));
    await passTime();
    expect(messages).toEqual([{ type: "changed", features: ["deliveries"] }]);
    expect(readDelivery).not.toHaveBeenCalled();
  });

  test("report deliveries that cannot be read as a change of the list", async () => {
    const readDelivery = vi.fn(async (given: DeliveryKey) => {
      if (given.id === "d-1") throw new Error("down");
      return given.id === "d-2" ? undefined : rowOf(given);
    });
    const { events, messages } = openEvents({ readDelivery });
    for (const number of [1, 2, 3]) events.deliveryChanged(key(number));
    await passTime();
    expect(messages).toEqual([
      { type: "changed", features: ["deliveries"] },
      { type: "deliveries", deliveries: [rowOf(key(3))] },
    ]);
  });

  test("name each changed feature once, and the list if the rows cannot be read at all", async () => {
    const events = new ConsoleEvents();
    const messages: StreamMessage[] = [];
    events.subscribe((message) => messages.push(message), { onClose: () => {} });
    events.changed("endpoints", "jobs");
    events.changed("endpoints");
    events.deliveryChanged(key(1));
    await passTime();
    expect(messages).toEqual([{ type: "changed", features: ["endpoints", "jobs", "deliveries"] }]);
  });

  test("that are published are sent at once, to every console", () => {
    const { events, messages, unsubscribe } = openEvents();
    const others: StreamMessage[] = [];
    events.subscribe((message) => others.push(message), { onClose: () => {} });
    const message: StreamMessage = { type: "changed", features: ["logs"] };
    events.publish(message);
    unsubscribe();
    events.publish(message);
    expect([messages, others, events.subscribers]).toEqual([[message], [message, message], 1]);
  });

  test("end when the console closes", async () => {
    const { events, messages, onClose, unsubscribe } = openEvents();
    const closedBefore = vi.fn();
    events.subscribe(() => {}, { onClose: closedBefore })();
    events.deliveryChanged(key(1));
    events.close();
    expect([onClose.mock.calls.length, closedBefore.mock.calls.length]).toEqual([1, 0]);
    unsubscribe();
    await passTime();
    expect(messages).toEqual([]);
  });
});
