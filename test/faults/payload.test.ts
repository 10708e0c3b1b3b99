import { describe, expect, test } from "vitest";
import { type WebhookErrorCode, WebhooksServer } from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { chunk } from "../support/raw-socket.ts";
import { openReceiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("payload");

const accepted = { status: 200, logged: { msg: "delivery succeeded" }, runs: 1 } as const;
const invalid = refused(422, "PAYLOAD_INVALID");
const payload = webhookPayload("repo.content");
const valid = JSON.stringify(payload);

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

describe("A list of broken items", () => {
  const many = 100_000;
  const ref = { ref: "refs/heads/main", oldSha: null, newSha: null };
  const bucket = webhookPayload("repo.content", { repo: { type: "bucket" } });

  test.each([
    { what: "updatedRefs", body: { ...payload, updatedRefs: Array(many).fill({ ref: 7 }) } },
    {
      what: "updatedRefs, of which only the last are broken",
      body: { ...payload, updatedRefs: [...Array(many).fill(ref), 1, 2, 3, 4] },
    },
    { what: "updatedRefs that are no objects", body: { ...payload, updatedRefs: Array(many).fill(null) } },
    { what: "updatedFiles", body: { ...bucket, updatedFiles: Array(many).fill({ path: 7 }) } },
    { what: "tags", body: { ...payload, repo: { ...payload.repo, tags: Array(many).fill(7) } } },
    { what: "events", body: { ...payload, event: Array(many).fill(payload.event) } },
    { what: "payloads", body: Array(many).fill({}) },
  ])("P5: 100,000 $what are refused with only the first problems", async ({ body }) => {
    const receiver = await openReceiver();
    const broken = JSON.stringify(body);
    const answer = await receiver.survives(() => receiver.post({ body: broken }), invalid);
    expect(answer?.text.length).toBeLessThan(700);
    const line = receiver.log.find(({ code }) => code === "PAYLOAD_INVALID");
    expect(JSON.stringify(line).length).toBeLessThan(700);
  });

  test("P5: a key of 1 MB is truncated in the response", async () => {
    const receiver = await openReceiver();
    const body = valid.replace('"event":{', `"event":{"${"k".repeat(1_000_000)}":1,`).replace('"scope"', '"scape"');
    const answer = await receiver.survives(() => receiver.post({ body }), invalid);
    expect(answer?.text.length).toBeLessThan(700);
  });
});

describe("Keys that objects inherit", () => {
  test.each([
    { what: "at the top", body: valid.replace("{", '{"__proto__":{"polluted":true},') },
    { what: "in the event", body: valid.replace('"event":{', '"event":{"__proto__":{"polluted":true},') },
    { what: "in the repository", body: valid.replace('"repo":{', '"repo":{"__proto__":{"polluted":true},') },
    { what: "in a ref", body: valid.replace('[{"ref"', '[{"__proto__":{"polluted":true},"ref"') },
    { what: "in an unknown field", body: valid.replace("{", '{"extra":{"__proto__":{"polluted":true}},') },
    { what: "by way of the constructor", body: valid.replace("{", '{"constructor":{"prototype":{"polluted":true}},') },
    { what: "that convert", body: valid.replace("{", '{"toString":1,"valueOf":1,"toJSON":1,"then":1,') },
  ])("P6: $what do not change prototypes", async ({ body }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body }), accepted);
    const given = receiver.received[0]?.payload;
    for (const value of [given, given?.event, given?.repo, given?.updatedRefs?.[0], {}]) {
      expect(value).toBeDefined();
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Reflect.get(Object(value), "polluted")).toBeUndefined();
    }
  });

  test.each([
    { what: "everything", body: `{"__proto__":${valid}}` },
    {
      what: "the event",
      body: valid
        .replace('"event":', '"__proto__":{},"extra":')
        .replace("}", '},"__proto__":{"event":{"action":"update","scope":"repo"}}'),
    },
  ])("P6: $what in __proto__ counts as missing", async ({ body }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body }), invalid);
  });
});

describe("JSON that parsing cannot represent exactly", () => {
  test.each([
    { what: "big integers", body: valid.replace("{", '{"count":9007199254740993123456789,') },
    { what: "exact decimals", body: valid.replace("{", '{"price":0.1000000000000000055511151231257827,') },
    { what: "numbers beyond all numbers", body: valid.replace("{", '{"far":1e400,"zero":-0.0,') },
    { what: "duplicate keys", body: valid.replace("{", '{"extra":1,"extra":2,"event":{"action":"x","scope":"y"},') },
    { what: "white space", body: JSON.stringify(payload, null, "\t").replaceAll("\n", "\r\n") },
    { what: "white space around it", body: ` \n${valid}\r\n ` },
    { what: "escapes", body: valid.replaceAll("/", "\\/").replace("acme", "\\u0061cme") },
    { what: "a lone surrogate as an escape", body: valid.replace("acme", "ac\\ud83dme") },
    { what: "letters of the whole world", body: valid.replace("acme", "acmé/數據-🤗-\u2028-\u202e") },
    { what: "a NUL as an escape", body: valid.replace("acme", "ac\\u0000me") },
  ])("P7: $what are accepted, and the text is unchanged", async ({ body }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body }), accepted);
    expect(Buffer.from(receiver.received[0]?.body ?? "")).toEqual(Buffer.from(body));
  });

  test("P7: a character split over two packets is unchanged", async () => {
    const body = Buffer.from(valid.replace("acme", "🤗"));
    const middle = body.indexOf(0xf0) + 2;
    const receiver = await openReceiver();
    await receiver.survives(
      () =>
        receiver.post({
          headers: { "Transfer-Encoding": "chunked" },
          body: Buffer.concat([chunk(body.subarray(0, middle)), chunk(body.subarray(middle)), chunk("")]),
        }),
      accepted,
    );
    expect(receiver.received[0]?.body).toBe(body.toString());
  });
});

describe("An unknown value or field from the Hub", () => {
  test("P8: unknown fields of every object are passed to the handler", async () => {
    const extended = extend(webhookPayload("discussion.comment"));
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body: JSON.stringify(extended) }), accepted);
    expect(receiver.received[0]?.payload).toEqual(extended);
  });

  /** Adds an unknown field to an object and to all objects inside it. */
  function extend(value: unknown): unknown {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const extended = Object.entries(value).map(([key, item]) => [key, extend(item)]);
    return { ...Object.fromEntries(extended), somethingNew: { deep: [1, null] } };
  }
});

describe("A payload without the fields of its scope", () => {
  test.each(["null", "true", "7", '"text"', "[]", "{}", `[${valid}]`])("P9: %j is answered 422", async (body) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ body }), invalid);
  });
});
