import { describe, expect, test } from "vitest";
import { type WebhookErrorCode, WebhooksServer } from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { chunk } from "../support/raw-socket.ts";
import { openReceiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("body");

const accepted = { status: 200, logged: { msg: "delivery succeeded" }, runs: 1 } as const;
const valid = JSON.stringify(webhookPayload("repo.content"));

function refused(status: number, code: WebhookErrorCode) {
  return { status, code, logged: { level: "warn", status, code } };
}

describe("A body that is not JSON", () => {
  test.each([
    { what: "nothing", body: "" },
    { what: "white space", body: " \r\n\t" },
    { what: "a word", body: "hello" },
    { what: "half a payload", body: valid.slice(0, -1) },
    { what: "a payload and a brace", body: `${valid}}` },
    { what: "two payloads", body: valid + valid },
    { what: "two lines of JSON", body: `${valid}\n${valid}` },
    { what: "a comment", body: `/* hub */ ${valid}` },
    { what: "a trailing comma", body: valid.replace(/}$/, ",}") },
    { what: "single quotes", body: valid.replaceAll('"', "'") },
    { what: "NaN", body: valid.replace('"num":7', '"num":NaN').replace('"version":3', '"version":NaN') },
    { what: "a prefix against script inclusion", body: `)]}'\n${valid}` },
    { what: "a NUL behind it", body: `${valid}\0` },
    { what: "a line break in a string", body: valid.replace("acme", "ac\nme") },
    { what: "a byte order mark", body: `\ufeff${valid}` },
    { what: "UTF-16", body: Buffer.from(valid, "utf16le") },
    { what: "UTF-16 with its mark", body: Buffer.from(`\ufeff${valid}`, "utf16le") },
    { what: "form fields", body: `payload=${encodeURIComponent(valid)}` },
    { what: "more closing brackets than opening ones", body: "]".repeat(10_000) },
  ])("P1: $what is answered 400", async ({ body }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body }), refused(400, "BODY_NOT_JSON"));
  });

  test.each([
    { what: "bytes that are no UTF-8", bytes: [0xff, 0xfe] },
    { what: "half a letter", bytes: [0xc3] },
    { what: "a slash written too long", bytes: [0xc0, 0xaf] },
    { what: "a surrogate", bytes: [0xed, 0xa0, 0x80] },
    { what: "Latin-1", bytes: [0xe9] },
  ])("P1: $what in a string are answered 400", async ({ bytes }) => {
    const inName = valid.indexOf("acme");
    const body = Buffer.concat([
      Buffer.from(valid.slice(0, inName)),
      Buffer.from(bytes),
      Buffer.from(valid.slice(inName)),
    ]);
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body }), refused(400, "BODY_NOT_JSON"));
  });
});

describe("A body that is too large", () => {
  const bodyLimit = 100_000;
  const tooLarge = refused(413, "BODY_TOO_LARGE");
  /** The system's socket buffers hold several megabytes. Anything beyond that was read by the server. */
  const systemBuffers = 16 * 1024 * 1024;

  test("P2: with a large Content-Length is answered 413 before any of it arrives", async () => {
    const receiver = await openReceiver({ bodyLimit });
    const headers = { "Content-Length": String(bodyLimit + 1) };
    await receiver.survives(() => receiver.post({ headers, body: "" }), tooLarge);
  });

  test("P2: in endless chunks is answered 413, and reading stops", async () => {
    const receiver = await openReceiver({ bodyLimit });
    const socket = await receiver.connect();
    await receiver.survives(async () => {
      socket.send(receiver.delivery({ headers: { "Transfer-Encoding": "chunked" }, body: "" }));
      const sent = socket.sendUntilEnded(chunk(" ".repeat(65_536)));
      const answer = await socket.answer();
      expect(await sent).toBeLessThan(systemBuffers);
      return answer;
    }, tooLarge);
  });

  test("P2: and already being sent is answered 413, and reading stops", async () => {
    const receiver = await openReceiver({ bodyLimit });
    const socket = await receiver.connect();
    await receiver.survives(async () => {
      socket.send(receiver.delivery({ headers: { "Content-Length": "1000000000" }, body: "" }));
      const sent = socket.sendUntilEnded(Buffer.alloc(65_536, " "));
      const answer = await socket.answer();
      expect(await sent).toBeLessThan(systemBuffers);
      return answer;
    }, tooLarge);
  });

  test("P2: sent in chunks and one byte above the limit is answered 413", async () => {
    const receiver = await openReceiver({ bodyLimit: valid.length });
    const body = Buffer.concat([chunk(valid), chunk(" "), chunk("")]);
    await receiver.survives(() => receiver.post({ headers: { "Transfer-Encoding": "chunked" }, body }), tooLarge);
  });

  test.each(["whole", "in chunks"])("P2: of exactly the maximum size is accepted %s", async (way) => {
    const receiver = await openReceiver({ bodyLimit: valid.length });
    const chunked = { headers: { "Transfer-Encoding": "chunked" }, body: Buffer.concat([chunk(valid), chunk("")]) };
    await receiver.survives(() => receiver.post(way === "whole" ? {} : chunked), accepted);
  });

  test("P2: in memory, with a false Content-Length, is answered 413, and reading stops", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ secret, bodyLimit, logger });
    server.webhook("target", () => {});
    let pulled = 0;
    const long = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(10_000));
        if (pulled === 1_000) controller.close();
      },
    });
    const headers = { "content-type": "application/json", "x-webhook-secret": secret, "content-length": "10" };
    const init = { method: "POST", headers, body: long, duplex: "half" };
    const response = await server.request("/webhooks/target", init);
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(15);
    expect(logger.lines.filter(({ level }) => level === "warn")).toMatchObject([{ code: "BODY_TOO_LARGE" }]);
    expect((await server.request("/webhooks/target", { method: "POST", headers, body: valid })).status).toBe(200);
  });

  test.each(["1e9", "Infinity"])(
    "P2: in memory, with a Content-Length of %s, is measured while it is read",
    async (length) => {
      const server = new WebhooksServer({ secret, bodyLimit, logger: createMemoryLogger() });
      server.webhook("target", () => {});
      const headers = { "content-type": "application/json", "x-webhook-secret": secret, "content-length": length };
      const body = " ".repeat(bodyLimit + 1);
      expect((await server.request("/webhooks/target", { method: "POST", headers, body })).status).toBe(413);
    },
  );
});

describe("A body with a Content-Encoding", () => {
  test.each(["gzip", "deflate", "br", "zstd", "identity", "GZIP", "gzip, gzip", "rot13", ""])(
    "P3: %j is answered 415",
    async (encoding) => {
      const receiver = await openReceiver();
      await receiver.survives(
        () => receiver.post({ headers: { "Content-Encoding": encoding } }),
        refused(415, "ENCODING_UNSUPPORTED"),
      );
    },
  );

  test("P3: is answered 415 before any of it arrives", async () => {
    const receiver = await openReceiver();
    const headers = { "Content-Encoding": "gzip", "Content-Length": "1000000" };
    await receiver.survives(() => receiver.post({ headers, body: "" }), refused(415, "ENCODING_UNSUPPORTED"));
  });
});

describe("A deeply nested body", () => {
  const levels = 7_000;
  const inExtraField = (value: string) => valid.replace(/}$/, `,"extra":${value}}`);

  test.each([
    { what: "lists", value: "[".repeat(levels) + "]".repeat(levels) },
    { what: "objects", value: `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}` },
    { what: "both", value: `${'[{"a":'.repeat(levels / 2)}1${"}]".repeat(levels / 2)}` },
    { what: "unclosed lists", value: "[".repeat(levels) },
    { what: "lists behind a quote in a string", value: `["\\"",${"[".repeat(levels)}${"]".repeat(levels)}]` },
    { what: "lists behind a backslash in a string", value: `["\\\\",${"[".repeat(levels)}${"]".repeat(levels)}]` },
  ])("P4: $what is answered 400", async ({ value }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body: inExtraField(value) }), refused(400, "BODY_TOO_DEEP"));
    await receiver.survives(() => receiver.post({ body: value }), refused(400, "BODY_TOO_DEEP"));
  });

  test.each([
    { what: "that are brackets in a string", value: JSON.stringify("[{".repeat(levels)) },
    { what: "that are brackets and quotes in a string", value: JSON.stringify('"[\\{'.repeat(levels)) },
    { what: "next to each other, not nested", value: `[${"[],{},".repeat(levels)}0]` },
    { what: "of which there are 99", value: "[".repeat(99) + "]".repeat(99) },
  ])("P4: $what is accepted", async ({ value }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body: inExtraField(value) }), accepted);
  });
});
