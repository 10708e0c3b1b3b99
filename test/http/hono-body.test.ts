import { once } from "node:events";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { readIncoming } from "../../src/http/body.ts";
import { WebhooksServer, type WebhooksServerOptions } from "../../src/index.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { RawSocket } from "../support/raw-socket.ts";

interface Sent {
  path: string;
  headers?: Record<string, string>;
  /** The chunks of the body, in order. */
  chunks: readonly Uint8Array[];
}

interface Answered {
  status: number;
  body: unknown;
}

const json = { "content-type": "application/json" };
const encode = (text: string) => new TextEncoder().encode(text);

/** Splits between all bytes, also inside multi-byte characters. */
const bytewise = (text: string) => [...encode(text)].map((byte) => Uint8Array.of(byte));

function streamed(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

function streamedRequest(path: string, headers: Record<string, string>, body: ReadableStream<Uint8Array>): Request {
  const halfDuplex = { duplex: "half" };
  return new Request(`http://localhost${path}`, { method: "POST", headers, body, ...halfDuplex });
}

async function sendInMemory(server: WebhooksServer, { path, headers, chunks }: Sent): Promise<Answered> {
  const response = await server.fetch(streamedRequest(path, { ...json, ...headers }, streamed(chunks)));
  return { status: response.status, body: await response.json() };
}

async function sendOverSocket(server: WebhooksServer, { path, headers, chunks }: Sent): Promise<Answered> {
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  const socket = await RawSocket.open(url);
  try {
    const allHeaders = { host: "localhost", "transfer-encoding": "chunked", ...json, ...headers };
    socket.send(
      `POST ${path} HTTP/1.1\r\n`,
      ...Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`),
    );
    socket.send("\r\n");
    for (const chunk of chunks) if (chunk.length > 0) socket.send(`${chunk.length.toString(16)}\r\n`, chunk, "\r\n");
    const { status, text } = await socket.send("0\r\n\r\n").answer();
    return { status, body: JSON.parse(text) };
  } finally {
    socket.close();
    await server.close();
  }
}

/** Creates a receiver that responds with the body its handler receives: any body, or only JSON. */
function createEcho(options: WebhooksServerOptions = {}) {
  const server = new WebhooksServer({ logger: createMemoryLogger(), ...options });
  const handled = vi.fn();
  server.webhook("any", { schema: null }, (_payload, { delivery }) => {
    handled();
    return { text: delivery.body };
  });
  const anything = { "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) } };
  server.webhook("json", { schema: anything }, (payload) => {
    handled();
    return { payload };
  });
  return { server, handled };
}

describe.each([
  ["in memory", sendInMemory],
  ["over a socket", sendOverSocket],
])("A body in chunks, %s", (_transport, send) => {
  test("is joined", async () => {
    const chunks = ['{"a":', "[1,", "2]", "}"].map(encode);
    expect(await send(createEcho().server, { path: "/webhooks/json", chunks })).toEqual({
      status: 200,
      body: { payload: { a: [1, 2] } },
    });
  });

  test("may be split inside a character", async () => {
    const text = "h\u00e9llo \u2603 \u{1f917} \u{1d11e}";
    const { server } = createEcho();
    expect(await send(server, { path: "/webhooks/any", chunks: bytewise(text) })).toEqual({
      status: 200,
      body: { text },
    });
  });

  test("may be empty with `schema: null`, and is invalid JSON otherwise", async () => {
    expect(await send(createEcho().server, { path: "/webhooks/any", chunks: [] })).toEqual({
      status: 200,
      body: { text: "" },
    });
    expect(await send(createEcho().server, { path: "/webhooks/json", chunks: [] })).toEqual({
      status: 400,
      body: { error: "The body is not valid JSON. Send the payload as JSON.", code: "BODY_NOT_JSON" },
    });
  });

  test.each([
    ["two bytes that begin nothing", Uint8Array.of(0xc3, 0x28)],
    ["a character cut off at the end", Uint8Array.of(0x22, 0xe2, 0x98)],
    ["an encoded surrogate", Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ["an overlong slash", Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ["UTF-16", Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00)],
  ])("is refused with 400 if it is not UTF-8: %s", async (_what, bytes) => {
    const { server, handled } = createEcho();
    for (const path of ["/webhooks/any", "/webhooks/json"]) {
      expect(await send(server, { path, chunks: [...bytes].map((byte) => Uint8Array.of(byte)) })).toEqual({
        status: 400,
        body: { error: "The body is not UTF-8. Send JSON in UTF-8.", code: "BODY_NOT_JSON" },
      });
    }
    expect(handled).not.toHaveBeenCalled();
  });

  test("keeps a byte order mark, which is invalid JSON", async () => {
    expect(await send(createEcho().server, { path: "/webhooks/any", chunks: [encode("\ufeff{}")] })).toEqual({
      status: 200,
      body: { text: "\ufeff{}" },
    });
    expect(await send(createEcho().server, { path: "/webhooks/json", chunks: [encode("\ufeff{}")] })).toMatchObject({
      status: 400,
      body: { code: "BODY_NOT_JSON" },
    });
  });

  test("may be as large as the limit in bytes, and not one byte larger", async () => {
    const { server, handled } = createEcho({ bodyLimit: 12 });
    const four = encode("\u2603x");
    expect(await send(server, { path: "/webhooks/any", chunks: [four, four, four] })).toMatchObject({ status: 200 });
    expect(handled).toHaveBeenCalledOnce();
    expect(await send(server, { path: "/webhooks/any", chunks: [four, four, four, encode("x")] })).toEqual({
      status: 413,
      body: {
        error: "The body is larger than 12 bytes. Send a smaller body, or raise the limit on the server.",
        code: "BODY_TOO_LARGE",
      },
    });
    expect(handled).toHaveBeenCalledOnce();
  });

  test.each(["gzip", "br", "deflate", "identity", "x-unknown"])(
    "is refused with 415 if it is encoded: %s",
    async (encoding) => {
      const { server, handled } = createEcho();
      for (const path of ["/webhooks/any", "/webhooks/json"]) {
        expect(await send(server, { path, headers: { "content-encoding": encoding }, chunks: [encode("{}")] })).toEqual(
          {
            status: 415,
            body: {
              error: `Content-Encoding "${encoding}" is not supported. Send the body uncompressed.`,
              code: "ENCODING_UNSUPPORTED",
            },
          },
        );
      }
      expect(handled).not.toHaveBeenCalled();
    },
  );

  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const tooDeep = {
    status: 400,
    body: { error: "The body is nested more than 100 levels deep. Send a flatter payload.", code: "BODY_TOO_DEEP" },
  };

  test.each([
    ["7,000 lists", nested(7_000)],
    ["7,000 lists that never end", "[".repeat(7_000)],
    ["7,000 objects", '{"a":'.repeat(7_000)],
    ["101 lists", nested(101)],
    ["lists and objects in turn", `${'[{"a":'.repeat(51)}1${"}]".repeat(51)}`],
    ["101 lists behind others that have ended", `[${"[],".repeat(50)}${nested(100)}]`],
    ["lists behind a string that ends in a backslash", `["\\\\",${nested(100)}]`],
  ])("is refused with 400 if it is nested too deeply: %s", async (_what, text) => {
    const { server, handled } = createEcho();
    expect(await send(server, { path: "/webhooks/json", chunks: [encode(text)] })).toEqual(tooDeep);
    expect(handled).not.toHaveBeenCalled();
  });

  test.each([
    ["100 lists", nested(100)],
    ["100 nested lists and one next to them", `[${nested(99)},[]]`],
    ["a thousand lists side by side", `[${Array(1_000).fill("[]").join()}]`],
    ["a thousand brackets inside a string", JSON.stringify({ text: '["{'.repeat(1_000) })],
    ["a thousand brackets inside a name", JSON.stringify({ ["[".repeat(1_000)]: 1 })],
    ["brackets behind an escaped quote", `["\\"${"[".repeat(200)}"]`],
  ])("is fine where it only looks deep: %s", async (_what, text) => {
    expect(await send(createEcho().server, { path: "/webhooks/json", chunks: [encode(text)] })).toEqual({
      status: 200,
      body: { payload: JSON.parse(text) },
    });
  });
});

describe("The Content-Length of a request", () => {
  test("is checked before the body is read", async () => {
    const { server } = createEcho({ bodyLimit: 100 });
    const pull = vi.fn();
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const response = await server.fetch(streamedRequest("/webhooks/any", { "content-length": "101" }, body));
    expect(response.status).toBe(413);
    expect(pull).not.toHaveBeenCalled();
  });

  test("is not trusted if it is too small", async () => {
    const { server } = createEcho({ bodyLimit: 100 });
    const response = await server.fetch(
      streamedRequest("/webhooks/any", { "content-length": "5" }, streamed([encode("x".repeat(101))])),
    );
    expect(response.status).toBe(413);
  });
});

test("An endless body is read up to the limit, then cancelled", async () => {
  const { server } = createEcho({ bodyLimit: 10_000 });
  let pulls = 0;
  const cancelled = vi.fn();
  const endless = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulls += 1;
        controller.enqueue(new Uint8Array(1_000));
      },
      cancel: cancelled,
    },
    { highWaterMark: 0 },
  );
  const response = await server.fetch(streamedRequest("/webhooks/any", {}, endless));
  expect([response.status, pulls]).toEqual([413, 11]);
  expect(cancelled).toHaveBeenCalledOnce();
});

test("A truncated body is answered with 400, and the handler is not run", async () => {
  const { server, handled } = createEcho();
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encode('{"a":'));
      controller.error(new Error("connection reset"));
    },
  });
  const response = await server.fetch(streamedRequest("/webhooks/json", json, broken));
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: "The connection ended before the body was complete. Send the request again.", code: "BODY_INCOMPLETE" },
  ]);
  expect(handled).not.toHaveBeenCalled();
});

test.each([
  ["the secret is missing", "POST", "/webhooks/json", json, 401],
  ["the secret is missing, for an endpoint that takes any body", "POST", "/webhooks/any", {}, 401],
  ["the secret is wrong", "POST", "/webhooks/json", { ...json, "x-webhook-secret": "other" }, 403],
  ["the endpoint is unknown", "POST", "/webhooks/none", json, 404],
  ["the method is wrong", "PUT", "/webhooks/json", json, 405],
  ["the media type is wrong", "POST", "/webhooks/json", { "x-webhook-secret": "s3cret" }, 415],
] as const)("A body is not read if %s", async (_why, method, path, headers, status) => {
  const { server } = createEcho({ secret: "s3cret" });
  const pull = vi.fn();
  const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
  const init = { method, headers: { ...headers }, body, duplex: "half" };
  expect((await server.fetch(new Request(`http://localhost${path}`, init))).status).toBe(status);
  expect(pull).not.toHaveBeenCalled();
});

test("A request that is destroyed before it is read is incomplete", async () => {
  const incoming = new IncomingMessage(new Socket()).on("error", () => {});
  incoming.destroy();
  await once(incoming, "close");
  await expect(readIncoming(incoming, 1_000)).rejects.toMatchObject({ code: "BODY_INCOMPLETE", status: 400 });
});

test("A request whose body exceeds the limit is paused, and no more chunks are collected", async () => {
  const incoming = new IncomingMessage(new Socket());
  const reading = readIncoming(incoming, 10);
  incoming.push(Buffer.alloc(11));
  await expect(reading).rejects.toMatchObject({ code: "BODY_TOO_LARGE", status: 413 });
  expect([incoming.isPaused(), incoming.listenerCount("data")]).toEqual([true, 0]);
});

describe("The option bodyLimit", () => {
  test("is 10 MiB by default", async () => {
    const { server } = createEcho();
    const length = 10 * 1024 * 1024;
    const post = (claimed: number) =>
      server.fetch(streamedRequest("/webhooks/any", { "content-length": String(claimed) }, streamed([encode("{}")])));
    expect((await post(length)).status).toBe(200);
    expect((await post(length + 1)).status).toBe(413);
  });

  test("may be one byte", async () => {
    const { server } = createEcho({ bodyLimit: 1 });
    const post = (text: string) => server.fetch(streamedRequest("/webhooks/any", {}, streamed([encode(text)])));
    expect([(await post("1")).status, (await post("12")).status]).toEqual([200, 413]);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("may not be %d", (bodyLimit) => {
    expect(() => new WebhooksServer({ bodyLimit })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

test("A request that was read to its end has no listener for its close", async () => {
  const incoming = new IncomingMessage(new Socket());
  const before = incoming.listenerCount("close");
  const reading = readIncoming(incoming, 10);
  incoming.push("{}");
  incoming.push(null);
  expect(await reading).toBe("{}");
  expect(incoming.listenerCount("close")).toBe(before);
});
