import { afterEach, describe, expect, test, vi } from "vitest";
import { type Handler, WebhookError } from "../../src/index.ts";
import { hostileValues } from "../support/hostile-values.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { shortenProbes } from "../support/timers.ts";
import { inner } from "./declared-endpoints.ts";
import { createFaultyProcess } from "./faulty-process.ts";
import { type LocalReceiver, openReceiver } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("handler");

afterEach(() => void vi.restoreAllMocks());

function openWith(handler: Handler, options: { timeout?: number } = {}): Promise<LocalReceiver> {
  return openReceiver({ declare: (server) => server.webhook("broken", options, handler) });
}

const toBroken = { path: "/webhooks/broken" };
const failed = { status: 500, code: "HANDLER_FAILED", logged: { level: "error", code: "HANDLER_FAILED" } } as const;

describe("A handler that throws", () => {
  const thrown: readonly { what: string; value: unknown }[] = [
    { what: "an Error", value: new Error(inner) },
    { what: "a string", value: inner },
    { what: "undefined", value: undefined },
    { what: "null", value: null },
    { what: "an object", value: { message: inner, toJSON: () => inner } },
    { what: "an object without a prototype", value: Object.assign(Object.create(null), { message: inner }) },
    { what: "an error with causes", value: new Error(inner, { cause: new AggregateError([new Error(inner)], inner) }) },
    { what: "an error that claims a status", value: Object.assign(new Error(inner), { status: 200, expose: true }) },
    { what: "an error of this package", value: new WebhookError(inner, { code: "PAYLOAD_INVALID", status: 422 }) },
    { what: "a Response", value: new Response(inner, { status: 200 }) },
    { what: "an error with a circular cause", value: circular() },
  ];

  test.each(thrown)("R1: $what, also as a promise, is answered 500 without its message", async ({ value }) => {
    const throwing = () => {
      throw value;
    };
    for (const handler of [throwing, () => Promise.reject(value)]) {
      const receiver = await openWith(handler);
      const answer = await receiver.survives(() => receiver.post(toBroken), failed);
      expect(answer?.text).not.toContain("inner");
    }
  });

  test.each([
    { what: "when it is read", respond: () => new Response(new ReadableStream({ pull: fail })) },
    { what: "after a first part", respond: () => new Response(failingLater()) },
    // Like a response of `fetch`, the clone is not an instance of the server adapter's `Response` class.
    {
      what: "when it is read, of another make,",
      respond: () => new Response(new ReadableStream({ pull: fail })).clone(),
    },
    { what: "after a first part, of another make,", respond: () => new Response(failingLater()).clone() },
  ])("R1: a Response whose body fails $what does not send the message out", async ({ respond }) => {
    const receiver = await openWith(() => respond());
    const onConsole = vi.spyOn(console, "error").mockImplementation(() => {});
    const socket = (await receiver.connect()).send(receiver.delivery(toBroken));
    const answer = await socket.answer().catch(() => undefined);
    expect(socket.rest + answer?.text).not.toContain("inner");
    expect((await receiver.post()).status).toBe(200);
    expect(onConsole).not.toHaveBeenCalled();
    expect(receiver.log.filter(({ level }) => level === "error")).toMatchObject([{ endpoint: "broken" }]);
  });

  function fail(): never {
    throw new Error(inner);
  }

  function circular(): Error {
    const error: Error & { self?: Error } = new Error(inner);
    error.self = error;
    return error;
  }

  function failingLater() {
    let parts = 0;
    return new ReadableStream({
      pull(controller) {
        parts += 1;
        if (parts > 3) fail();
        controller.enqueue(new TextEncoder().encode(`part ${parts}`));
      },
    });
  }
});

describe("A handler that returns a result", () => {
  const succeeded = { status: 200, logged: { msg: "delivery succeeded", status: 200 } } as const;

  test("R2: is answered 200 with an empty body without a result", async () => {
    const receiver = await openWith(() => undefined);
    const answer = await receiver.survives(() => receiver.post(toBroken), succeeded);
    expect(answer?.text).toBe("");
  });
});

describe("A handler that never settles", () => {
  const timedOut = {
    status: 504,
    code: "HANDLER_TIMED_OUT",
    logged: { level: "error", code: "HANDLER_TIMED_OUT" },
  } as const;

  test("R3: is answered 504 after its timeout, and its signal aborts", async () => {
    const aborted = Promise.withResolvers<unknown>();
    const receiver = await openWith(
      (_payload, { signal }) => {
        signal.addEventListener("abort", () => aborted.resolve(signal.reason));
        return new Promise(() => {});
      },
      { timeout: 50 },
    );
    await receiver.survives(() => receiver.post(toBroken), timedOut);
    expect(await aborted.promise).toMatchObject({ code: "HANDLER_TIMED_OUT" });
  });

  test("R3: does not block other deliveries, even a hundred times", async () => {
    const receiver = await openWith(() => new Promise(() => {}), { timeout: 150 });
    const stuck = Array.from({ length: 100 }, () => receiver.post(toBroken));
    expect((await receiver.post()).status).toBe(200);
    expect(new Set((await Promise.all(stuck)).map(({ status }) => status))).toEqual(new Set([504]));
    await receiver.survives(() => receiver.post(toBroken), timedOut);
  });
});

describe("A client that disconnects while the handler runs", () => {
  test.each([
    { what: "with a reset", hangUp: "reset" },
    { what: "by letting go", hangUp: "close" },
  ] as const)("R4: $what aborts the signal of the handler", async ({ hangUp }) => {
    shortenProbes();
    const started = Promise.withResolvers<void>();
    const receiver = await openWith(async (_payload, { signal }) => {
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
        started.resolve();
      });
      signal.throwIfAborted();
    });
    await receiver.survives(
      async () => {
        const socket = (await receiver.connect()).send(receiver.delivery(toBroken));
        await started.promise;
        socket[hangUp]();
        return undefined;
      },
      { logged: { level: "error", code: "HANDLER_FAILED", err: /connection|aborted/i } },
    );
  });

  test("R4: the signal does not abort after the response was sent", async () => {
    const signals: AbortSignal[] = [];
    const receiver = await openWith(async (_payload, { signal }) => {
      signals.push(signal);
    });
    await receiver.survives(() => receiver.post(toBroken), { status: 200, logged: { msg: "delivery succeeded" } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

describe("A handler with an unhandled rejection", () => {
  test.each(["leaves-rejection", "leaves-late-rejection", "leaves-rejection-of-nothing"])(
    "R6: %s: is logged, and the server keeps running",
    async (endpoint) => {
      const { receiver, child } = await createFaultyProcess();
      await receiver.survives(() => receiver.post({ path: `/webhooks/${endpoint}` }), {
        status: 200,
        logged: { level: "error", msg: /^Unhandled promise rejection/ },
      });
      expect(child.errorOutput).toBe("");
    },
  );
});

describe("A thrown value that cannot be inspected", () => {
  const values = Object.keys(hostileValues());
  const request = (endpoint: string, body: string) => ({ path: `/webhooks/${endpoint}`, body });

  test("R7: is answered 500 and logged if the handler rejects with it", async () => {
    const { receiver, child } = await createFaultyProcess();
    for (const [index, value] of values.entries()) {
      await receiver.survives(() => receiver.post(request("rejects", value)), failed);
      await child.says("target ran", index + 1);
    }
    expect(child.errorOutput).toBe("");
  });

  test("R7: is answered and logged if the handler resolves with it", async () => {
    const { receiver, child } = await createFaultyProcess();
    for (const [index, value] of values.entries()) {
      const answer = await receiver.post(request("resolves", value));
      expect([200, 500], value).toContain(answer.status);
      expect(await child.says(/^delivery (?:succeeded|failed)/, index + 1)).toMatchObject({ status: answer.status });
    }
    expect(child.errorOutput).toBe("");
  });

  test("R7: is logged and does not end the process if it is rejected after the response", async () => {
    const { receiver, child } = await createFaultyProcess();
    for (const [index, value] of values.entries()) {
      await receiver.survives(() => receiver.post(request("leaves-behind", value)), {
        status: 200,
        logged: { level: "error", msg: /^Unhandled promise rejection/ },
      });
      await child.says("target ran", index + 1);
    }
    expect(child.errorOutput).toBe("");
  });

  test("R7: is retried in the background like any other failure", async () => {
    const folder = createFolder();
    const { receiver, child } = await createFaultyProcess({ INBOX_URL: `sqlite:${folder}/inbox.db` });
    for (const value of values) expect((await receiver.post(request("background", value))).status).toBe(202);
    const lastDead = await child.says(/^delivery is dead/, values.length);
    expect(lastDead).toMatchObject({ attempt: 3, code: "HANDLER_FAILED" });
    expect(child.lines.filter(({ outcome }) => outcome === "retrying")).toHaveLength(2 * values.length);
    expect((await receiver.post()).status).toBe(200);
  });
});
