import { describe, expect, test } from "vitest";
import { type WebhookErrorCode, WebhooksServer } from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { chunk } from "../support/raw-socket.ts";
import { openReceiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("body");
const valid = JSON.stringify(webhookPayload("repo.content"));

function refused(status: number, code: WebhookErrorCode) {
  return { status, code, logged: { level: "warn", status, code } };
}

describe("A body that is not JSON", () => {
  test.each([
    { what: "nothing", body: "" },
    { what: "white space", body: " \r\n\t" },
    { what: "half a payload", body: valid.slice(0, -1) },
    { what: "a NUL behind it", body: `${valid}\0` },
    { what: "a byte order mark", body: `\ufeff${valid}` },
    { what: "UTF-16", body: Buffer.from(valid, "utf16le") },
    { what: "UTF-16 with its mark", body: Buffer.from(`\ufeff${valid}`, "utf16le") },
    { what: "more closing brackets than opening ones", body: "]".repeat(10_000) },
  ])("P1: $what is answered 400", async ({ body }) => {
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
  test("P3: is answered 415 before any of it arrives", async () => {
    const receiver = await openReceiver();
    const headers = { "Content-Encoding": "gzip", "Content-Length": "1000000" };
    await receiver.survives(() => receiver.post({ headers, body: "" }), refused(415, "ENCODING_UNSUPPORTED"));
  });
});

describe("A deeply nested body", () => {
  const levels = 7_000;

  test("P4: is answered 400, also in a field that is not read", async () => {
    const receiver = await openReceiver();
    const value = "[".repeat(levels) + "]".repeat(levels);
    for (const body of [value, valid.replace(/}$/, `,"extra":${value}}`)]) {
      await receiver.survives(() => receiver.post({ body }), refused(400, "BODY_TOO_DEEP"));
    }
  });
});
