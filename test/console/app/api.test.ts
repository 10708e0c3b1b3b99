import { getEventListeners } from "node:events";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  connection,
  EventStreamParser,
  getJson,
  loadSession,
  runStream,
  sendJson,
  serverNow,
  session,
  sessionFailure,
  signOut,
  subscribe,
} from "../../../src/console/app/api.ts";
import { closeSimulatedConsole, openSimulatedConsole, type SimulatedConsole } from "./simulated-console.ts";

afterEach(closeSimulatedConsole);

describe("A request", () => {
  const signedIn = { signedIn: true, place: "receiver", features: [], csrfToken: "t0ken", version: "1" } as const;
  const signedOut = { signedIn: false, place: "receiver", methods: { token: true, linkFrom: "log" } } as const;
  const answer = vi.fn<typeof fetch>();
  const succeed = (body: unknown) => answer.mockResolvedValueOnce(Response.json(body));
  const fail = (status: number, code: string) =>
    answer.mockResolvedValueOnce(Response.json({ error: code, code }, { status }));

  beforeEach(() => {
    session.value = { ...signedIn };
    vi.stubGlobal("document", { baseURI: "http://localhost/_console/" });
    vi.stubGlobal("fetch", answer.mockReset());
  });

  test.each([
    [404, "DELIVERY_UNKNOWN", { isTemporary: false }],
    [429, "TOO_MANY_FAILURES", { isTemporary: false }],
    [500, "INTERNAL", { isTemporary: true }],
    [503, "INBOX_UNAVAILABLE", { isTemporary: true }],
  ])("with the answer %i fails with its code, and the session goes on", async (status, code, expected) => {
    fail(status, code);
    await expect(getJson("deliveries")).rejects.toMatchObject({ status, code, ...expected });
    expect(session.value).toMatchObject({ signedIn: true });
  });

  test("without an answer is a temporary failure, unless it was aborted", async () => {
    answer.mockRejectedValue(new TypeError("fetch failed"));
    await expect(getJson("deliveries")).rejects.toMatchObject({ code: "UNREACHABLE", status: 0, isTemporary: true });
    await expect(getJson("deliveries", { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(TypeError);
  });

  test("of a session that has ended shows the sign-in page", async () => {
    fail(401, "SIGN_IN_REQUIRED");
    await expect(getJson("deliveries")).rejects.toMatchObject({ status: 401 });
    expect(session.value).toEqual({ signedIn: false, place: "receiver", methods: undefined });
  });

  test("that changes something contains the token of the session, and signing out loads the session again", async () => {
    succeed({});
    succeed(signedOut);
    await signOut();
    expect(answer.mock.calls[0]?.[1]).toMatchObject({ method: "DELETE", headers: { "x-csrf-token": "t0ken" } });
    expect(session.value).toEqual(signedOut);
    succeed({});
    await sendJson("session", { token: "x" });
    expect(answer.mock.calls.at(-1)?.[1]?.headers).not.toHaveProperty("x-csrf-token");
  });

  test("that changes something is sent again if a sign-in in another tab has replaced the session, once", async () => {
    const tokens = () => answer.mock.calls.map(([, init]) => new Headers(init?.headers).get("x-csrf-token"));
    fail(403, "CSRF_TOKEN_INVALID");
    succeed({ ...signedIn, csrfToken: "newer" });
    succeed({ done: true });
    expect(await sendJson("endpoints/pause", {})).toEqual({ done: true });
    expect(tokens()).toEqual(["t0ken", null, "newer"]);
    fail(403, "CSRF_TOKEN_INVALID");
    succeed(signedIn);
    fail(403, "CSRF_TOKEN_INVALID");
    await expect(sendJson("endpoints/pause", {})).rejects.toMatchObject({ code: "CSRF_TOKEN_INVALID" });
  });

  test("that changes something and is refused for another reason is not sent again", async () => {
    fail(403, "CROSS_SITE_REFUSED");
    await expect(sendJson("endpoints/pause", {})).rejects.toMatchObject({ code: "CROSS_SITE_REFUSED" });
    expect(answer).toHaveBeenCalledOnce();
  });

  test("shows how far the clock of the browser is from that of the server", async () => {
    vi.spyOn(Date, "now").mockReturnValue(Date.UTC(2026, 10, 23, 12));
    const read = async (date?: string) => {
      answer.mockResolvedValueOnce(Response.json({}, { ...(date !== undefined && { headers: { date } }) }));
      await getJson("deliveries");
      return new Date(serverNow()).toISOString().slice(11, 19);
    };
    expect(await read("Mon, 23 Nov 2026 10:00:00 GMT")).toBe("10:00:00");
    // A time that moves with each answer would run backwards.
    expect(await read("Mon, 23 Nov 2026 09:59:59 GMT")).toBe("10:00:00");
    expect(await read()).toBe("10:00:00");
    expect(await read("Mon, 23 Nov 2026 12:00:00 GMT")).toBe("12:00:00");
    expect(await read("Mon, 23 Nov 2026 11:59:57 GMT")).toBe("12:00:00");
  });

  test("that loads the session after a failure removes the failure", async () => {
    fail(503, "CLOSING");
    await loadSession();
    expect(sessionFailure.value).toMatchObject({ status: 503 });
    succeed(signedOut);
    await loadSession();
    expect([sessionFailure.value, session.value]).toEqual([undefined, signedOut]);
  });
});

test.each([
  ["complete events", ['data: {"a":1}\n\ndata: {"b', '":2}\n\n'], ['{"a":1}', '{"b":2}']],
  ["events without heartbeats and other fields", [": heartbeat\n\nevent: x\nid: 7\ndata:{}\n\n"], ["{}"]],
  ["the lines of an event as one text", ["data: [1,\r\ndata: 2]\r\n\r\n"], ["[1,\n2]"]],
  ["an event that ends in the middle of a line break", ["data: 1\r\n\r", "\ndata: 2\r\n\r\n"], ["1", "2"]],
])("The parser of the stream returns %s", (_what, parts, expected) => {
  const parser = new EventStreamParser();
  expect(parts.flatMap((part) => parser.push(part))).toEqual(expected);
});

/** Records what a subscriber of the stream receives. Each message has a number. */
function follow(opened: SimulatedConsole) {
  const received: number[] = [];
  const calls: number[] = [];
  let published = 0;
  /** The number of the last message that was published before the connection opened. */
  let openedAfter = 0;
  let opens = 0;
  const unsubscribe = subscribe({
    opened: () => {
      openedAfter = published;
      opens += 1;
    },
    messages: (messages) => {
      calls.push(Date.now());
      received.push(
        ...messages.flatMap((message) => (message.type === "logs" ? message.lines : [])).map((line) => line.sequence),
      );
    },
  });
  const publish = (count: number, text = "line") => {
    for (let index = 0; index < count; index += 1) {
      published += 1;
      opened.events.publish({ type: "logs", lines: [{ sequence: published, at: 1, level: "info", message: text }] });
    }
  };
  return {
    ...{ received, calls, publish, unsubscribe },
    get opens() {
      return opens;
    },
    /** The messages that must have arrived, because no later load makes up for them. */
    get expected() {
      return Array.from({ length: published - openedAfter }, (_, index) => openedAfter + index + 1);
    },
  };
}

type Follower = ReturnType<typeof follow>;

const actions: Readonly<Record<string, (opened: SimulatedConsole, follower: Follower, choice: number) => unknown>> = {
  "a message": (_opened, { publish }) => publish(1),
  "some messages": (_opened, { publish }, choice) => publish(2 + (choice % 100)),
  "more messages than may wait": (_opened, { publish }) => publish(1_100),
  "long messages": (_opened, { publish }, choice) => publish(1 + (choice % 4), "x".repeat(1_500_000)),
  "the network delivers something": (opened, _follower, choice) => opened.deliver(choice),
  "the network delivers the oldest": (opened) => opened.deliver(0),
  "the network delivers much": async (opened) => {
    for (let count = 0; count < 20; count += 1) await opened.deliver(0);
  },
  "a moment passes": () => vi.advanceTimersByTimeAsync(200),
  "seconds pass": () => vi.advanceTimersByTimeAsync(5_000),
  "a minute passes": () => vi.advanceTimersByTimeAsync(60_000),
  "the connection is lost": (opened) => opened.cut(),
  "the connection is back": (opened) => opened.restore(),
};

/** Set `RUNS=2000` and `SEED` for a longer search. */
const numRuns = Number(process.env.RUNS ?? 10);

test("No message is lost unless the connection opens again later, and none arrives twice", {
  timeout: 600_000,
}, async () => {
  const steps = fc.array(fc.tuple(fc.constantFrom(...Object.keys(actions)), fc.nat()), { maxLength: 40, size: "max" });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const opened = openSimulatedConsole();
      const follower = follow(opened);
      try {
        opened.connect();
        for (const [name, choice] of taken) {
          await actions[name]?.(opened, follower, choice);
          expect(opened.streams, "streams of one page").toBeLessThanOrEqual(2);
        }
        await opened.settle();
        const { opens } = follower;
        follower.publish(3);
        await opened.settle();
        expect(connection.value).toBe("live");
        expect(follower.opens, "heartbeats keep the connection open").toBe(opens);
        expect(opened.streams, "open streams").toBe(1);
        const { received, expected, calls } = follower;
        expect(received, "order").toEqual([...new Set(received)].sort((one, other) => one - other));
        expect(received.slice(-expected.length), "messages since the connection opened").toEqual(expected);
        const pauses = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
        expect(Math.min(200, ...pauses), "milliseconds between updates").toBe(200);
      } finally {
        await opened.close();
        follower.unsubscribe();
      }
      expect(opened.streams, "streams after the page was closed").toBe(0);
    }),
    { numRuns, seed: Number(process.env.SEED ?? 1) },
  );
});

/** Opens a page whose stream is connected, and follows it until the test ends. */
async function openConnected() {
  const opened = openSimulatedConsole();
  const follower = follow(opened);
  onTestFinished(follower.unsubscribe);
  opened.connect();
  await opened.settle();
  return { opened, follower };
}

test("A connection that is silent for 45 s is opened again", async () => {
  const { opened, follower } = await openConnected();
  // Heartbeats keep it open.
  await opened.pass(75_000, 15_000);
  expect([connection.value, follower.opens]).toEqual(["live", 1]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([connection.value, follower.opens]).toEqual(["reconnecting", 1]);
  await opened.settle();
  expect([connection.value, follower.opens, opened.streams]).toEqual(["live", 2, 1]);
});

test("A connection that is lost again and again is opened again within a second each time", async () => {
  const { opened, follower } = await openConnected();
  for (let losses = 1; losses <= 8; losses += 1) {
    opened.cut();
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.value).toBe("reconnecting");
    opened.restore();
    await opened.pass(1_000);
    expect([connection.value, follower.opens]).toEqual(["live", 1 + losses]);
  }
});

test("A damaged message closes the connection, and opens another", async () => {
  const { opened, follower } = await openConnected();
  opened.damage();
  follower.publish(1);
  await opened.deliver(0);
  await opened.deliver(0);
  expect([connection.value, opened.streams]).toEqual(["reconnecting", 0]);
  await opened.settle();
  expect([connection.value, opened.streams]).toEqual(["live", 1]);
});

test("A stream of a session that has ended shows the sign-in page", async () => {
  const opened = openSimulatedConsole();
  opened.isSignedIn = false;
  opened.connect();
  await vi.waitFor(async () => {
    await opened.deliver(0);
    expect(session.value?.signedIn).toBe(false);
  });
});

test("While the server is away, the pauses between attempts grow to 15 s, and the end of the session ends the pause", async () => {
  openSimulatedConsole();
  const attempts: number[] = [];
  vi.stubGlobal("fetch", async () => {
    attempts.push(Date.now());
    throw new TypeError("fetch failed");
  });
  const session = new AbortController();
  const ended = runStream(session.signal);
  await vi.advanceTimersByTimeAsync(60_000);
  const pauses = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
  expect(pauses.slice(0, 6)).toEqual([750, 1_500, 3_000, 6_000, 11_250, 11_250]);
  expect(getEventListeners(session.signal, "abort")).toHaveLength(1);
  session.abort();
  await ended;
  expect([vi.getTimerCount(), getEventListeners(session.signal, "abort")]).toEqual([0, []]);
});

test("A page that ends its connection does not look as if it reconnected, and passes on no message of an ended session", async () => {
  const { opened, follower } = await openConnected();
  session.value = { signedIn: false, place: "receiver", methods: undefined };
  follower.publish(1);
  await opened.settle();
  await opened.close();
  expect([connection.value, follower.received]).toEqual(["live", []]);
});

test("A subscriber that is added while others are notified of the open connection is not notified, because it loads anyway", async () => {
  const opened = openSimulatedConsole();
  const late = vi.fn();
  const ends: (() => void)[] = [];
  ends.push(subscribe({ opened: () => void ends.push(subscribe({ opened: late })) }));
  opened.connect();
  await opened.deliverAll();
  expect(connection.value).toBe("live");
  expect(late).not.toHaveBeenCalled();
  for (const end of ends) end();
});
