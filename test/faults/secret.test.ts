import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhooksServer } from "../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { startCommand } from "../cli/command-process.ts";
import { inboxFile } from "../inbox/inbox-file.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { chunk, requestBytes } from "../support/raw-socket.ts";
import { errorsWithSecret, holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { createFaultyProcess, startFaultyProcess } from "./faulty-process.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { openReceiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("secret");

const missing = { status: 401, code: "SECRET_MISSING", logged: { code: "SECRET_MISSING", status: 401 } } as const;
const invalid = { status: 403, code: "SECRET_INVALID", logged: { code: "SECRET_INVALID", status: 403 } } as const;
const accepted = { status: 200, logged: { msg: "delivery succeeded", status: 200 }, runs: 1 } as const;

describe("No secret", () => {
  const headers = { "X-Webhook-Secret": undefined };

  test("S1: is answered 401 before any of the body arrives", async () => {
    const receiver = await openReceiver();
    const announced = { ...headers, "Content-Length": "1000000" };
    await receiver.survives(() => receiver.post({ headers: announced, body: "" }), missing);
  });

  test("S1: is answered 401 during an endless body, and reading stops", async () => {
    const receiver = await openReceiver();
    const socket = await receiver.connect();
    await receiver.survives(async () => {
      socket.send(receiver.delivery({ headers: { ...headers, "Transfer-Encoding": "chunked" }, body: "" }));
      const answer = await socket.answer();
      expect(await socket.sendUntilEnded(chunk("x".repeat(65_536)))).toBeLessThan(32 * 1024 * 1024);
      return answer;
    }, missing);
  });
});

describe("A wrong secret", () => {
  test.each([
    { what: "only spaces", presented: "   " },
    { what: "the secret in quotes", presented: `"${secret}"` },
    { what: "the secret as a bearer token", presented: `Bearer ${secret}` },
    { what: "14,000 characters", presented: "x".repeat(14_000) },
    { what: "non-ASCII letters", presented: "Gehéimnis" },
    { what: "bytes that are no UTF-8", presented: "\xff\xfe\x80" },
    { what: "a repeated header, right the first time", presented: [secret, "another"] },
    { what: "a repeated header, right the second time", presented: ["another", secret] },
    { what: "a repeated header, right both times", presented: [secret, secret] },
    { what: "the name of something that objects have", presented: "constructor" },
  ])("S2: $what is answered 403", async ({ presented }) => {
    const receiver = await openReceiver();
    await receiver.survives(() => receiver.post({ headers: { "X-Webhook-Secret": presented } }), invalid);
  });

  test("S2: a body that arrives after the 403 does not break the connection", async () => {
    const receiver = await openReceiver();
    const socket = await receiver.connect();
    const headers = { "X-Webhook-Secret": "another", "Content-Length": "2000" };
    const sendLate = async () => {
      const refused = await socket.send(receiver.delivery({ headers, body: "" })).answer();
      // At once, because the connection only stays open for 500 ms.
      expect((await socket.send("x".repeat(2_000), receiver.delivery()).answer()).status).toBe(200);
      await expect.poll(() => receiver.received.length).toBe(1);
      return refused;
    };
    await receiver.survives(sendLate, { ...invalid, runs: 1 });
  });

  test("S2: compares all characters, regardless of where the first wrong one is", async () => {
    const long = "s".repeat(2_000);
    const server = new WebhooksServer({ secret: long, logger: createMemoryLogger() });
    server.webhook("target", () => {});
    const read = vi.spyOn(String.prototype, "charCodeAt");
    onTestFinished(() => read.mockRestore());
    const readsOf = async (presented: string) => {
      const request = deliveryRequest({ endpoint: "target", payload: webhookPayload("repo"), secret: presented });
      read.mockClear();
      const { status } = await server.fetch(request);
      const reads = read.mock.contexts.filter((text) => String(text) === long).length;
      expect(status).toBe(403);
      return reads;
    };
    expect(await readsOf(`${long.slice(1)}x`)).toBeGreaterThanOrEqual(long.length);
    expect(await readsOf(`x${long.slice(1)}`)).toBeGreaterThanOrEqual(long.length);
  });
});

describe("No secret configured", () => {
  test("S3: leaves the receiver open, with a warning at the start", async () => {
    vi.stubEnv("WEBHOOK_SECRET", undefined);
    vi.stubEnv("WEBHOOK_SECRET_PREVIOUS", undefined);
    const receiver = await openReceiver({ secret: undefined });
    const warnings = receiver.log.filter(({ level }) => level === "warn");
    expect(warnings).toMatchObject([{ msg: expect.stringMatching(/open to everyone.*WEBHOOK_SECRET/) }]);
    await receiver.survives(() => receiver.post({ headers: { "X-Webhook-Secret": undefined } }), accepted);
  });
});

describe("An invalid configured secret", () => {
  test("S9: an empty WEBHOOK_SECRET logs one clear line, and exits with 1", async () => {
    const child = startFaultyProcess({ WEBHOOK_SECRET: "" });
    expect(await child.exited).toEqual({ code: 1, signal: null });
    const complaints = child.lines.filter(({ level }) => level === "warn" || level === "error");
    expect(complaints).toMatchObject([
      { level: "error", code: "OPTION_INVALID", msg: expect.stringMatching(/^WEBHOOK_SECRET is empty/) },
    ]);
    expect(child.errorOutput).toBe("");
  });
});

describe("Two secrets while one replaces the other", () => {
  const previous = "Planted-5ecret-of-before";

  test.each([secret, previous])("S4: %s is accepted", async (presented) => {
    const receiver = await openReceiver({ secret: [secret, previous] });
    await receiver.survives(() => receiver.post({ headers: { "X-Webhook-Secret": presented } }), accepted);
    expect(holdsSecret(receiver.log, previous)).toBe(false);
  });
});

describe("A secret in the URL", () => {
  const headers = { "X-Webhook-Secret": undefined };
  const path = `/webhooks/target?secret=${secret}`;

  test("S5: is accepted with secretInQuery", async () => {
    const receiver = await openReceiver({ secretInQuery: true });
    await receiver.survives(() => receiver.post({ path, headers }), accepted);
  });

  test.each([
    { what: "an unknown endpoint", changes: { path: `/webhooks/nobody?secret=${secret}` }, status: 404 },
    { what: "another method", changes: { path, method: "PUT" }, status: 405 },
    { what: "another media type", changes: { path, headers: { ...headers, "Content-Type": "a/b" } }, status: 415 },
    { what: "a body that is not JSON", changes: { path, body: "{" }, status: 400 },
    { what: "an invalid payload", changes: { path, body: "{}" }, status: 422 },
    { what: "an unsupported HTTP version", changes: { path, version: "HTTP/2.0" }, status: 400 },
    { what: "an invalid host", changes: { path, headers: { ...headers, Host: "a b" } }, status: 400 },
  ])("S5: is in no log line and no response next to $what", async ({ changes, status }) => {
    const receiver = await openReceiver({ secretInQuery: true });
    await receiver.survives(() => receiver.post({ headers, ...changes }), {
      status,
      logged: { level: "warn", status },
    });
  });
});

describe("Brute force", () => {
  const start = Date.UTC(2026, 0, 1);

  async function openAttacked() {
    const clock = { now: start };
    const receiver = await openReceiver({ now: () => clock.now });
    const socket = await receiver.connect();
    const guess = async (presented = "guess") =>
      socket.send(receiver.delivery({ headers: { "X-Webhook-Secret": presented } })).answer();
    /** Guesses slowly enough that the server logs each refusal. */
    const guessMore = async (times: number) => {
      for (let guesses = 0; guesses < times; guesses += 1) {
        clock.now += 100;
        expect((await guess()).status).toBe(403);
      }
    };
    await guessMore(100);
    return { clock, receiver, guess, guessMore, startedAt: start + 100 };
  }

  const limited = {
    status: 429,
    code: "TOO_MANY_FAILURES",
    logged: { code: "TOO_MANY_FAILURES", status: 429 },
  } as const;

  test("S6: is answered 429 with Retry-After, and the valid secret with 200", async () => {
    const { receiver, guess, clock, startedAt } = await openAttacked();
    clock.now = startedAt + 15_000;
    const answer = await receiver.survives(() => guess(), limited);
    expect(answer?.headers.get("retry-after")).toBe("45");
    for (let more = 0; more < 20; more += 1) {
      expect((await guess()).status).toBe(429);
      expect((await guess(secret)).status).toBe(200);
    }
  });

  test("S6: is logged with at most ten lines per second and the count of suppressed lines", async () => {
    const receiver = await openReceiver();
    const socket = await receiver.connect();
    const total = 150;
    for (let guesses = 0; guesses < total; guesses += 1) {
      await socket.send(receiver.delivery({ headers: { "X-Webhook-Secret": "guess" } })).answer();
    }
    const logged = () => receiver.log.filter(({ status }) => status === 403 || status === 429);
    await waitFor(() => expect(logged().reduce((sum, { count = 1 }) => sum + Number(count), 0)).toBe(total), {
      interval: 20,
    });
    expect(logged().length).toBeLessThan(total);
    expect(logged().find(({ count }) => count !== undefined)?.msg).toMatch(/^\d+ further deliveries refused: /);
    await receiver.keepsSecret();
  });
});

describe("The secret itself", () => {
  test("S8: stays out of the log when a handler logs the request", async () => {
    const receiver = await openReceiver({
      secretInQuery: true,
      declare: (server) =>
        server.webhook("chatty", (_payload, { request, log }) => {
          log.info({ url: request?.url, headers: [...(request?.headers ?? [])] }, "got it");
        }),
    });
    await receiver.survives(() => receiver.post({ path: `/webhooks/chatty?secret=${secret}` }), {
      status: 200,
      logged: { msg: "delivery succeeded" },
    });
  });

  test("S8: stays out of the response when a handler returns the request", async () => {
    const receiver = await openReceiver({
      secretInQuery: true,
      declare: (server) =>
        server.webhook("echo", (_payload, { request }) => ({
          url: request?.url,
          headers: [...(request?.headers ?? [])],
        })),
    });
    const answer = await receiver.survives(() => receiver.post({ path: `/webhooks/echo?secret=${secret}&page=2` }), {
      status: 200,
      logged: { msg: "delivery succeeded" },
    });
    expect(answer?.text).toContain("page=2");
    expect(answer?.text).toContain("webhook-id");
  });

  test("S8: stays out of the log when the configured secret is not valid in a header", async () => {
    const receiver = await openReceiver({ secret: [secret, ` ${secret}-with-spaces `, `${secret}-with-\x7f`] });
    expect(receiver.log.filter(({ level }) => level === "warn")).toHaveLength(2);
    await receiver.survives(() => receiver.post({ headers: { "X-Webhook-Secret": "another" } }), invalid);
  });
});

describe("An error of a handler that contains a secret", () => {
  const thrown = Object.entries(errorsWithSecret(secret)).map(([where, error]) => ({ where, error }));

  test("S10: is redacted in the log, the inbox, the console and the command line", async () => {
    const INBOX_URL = `sqlite:${inboxFile()}`;
    const { child, receiver } = await createFaultyProcess({ INBOX_URL, CONSOLE_TOKEN: "Planted-0wner-token" });
    for (const [index, { where }] of thrown.entries()) {
      const send = (endpoint: string, id: string) =>
        receiver.post({ path: `/webhooks/${endpoint}`, headers: { "Webhook-Id": id }, body: where });
      expect((await send("leaks-secret", `inline-${index}`)).status).toBe(500);
      expect((await send("leaks-secret-later", `later-${index}`)).status).toBe(202);
    }
    await child.says(/^delivery is dead/, thrown.length);
    const headers = {
      Host: new URL(receiver.url).host,
      Authorization: "Bearer Planted-0wner-token",
      Connection: "close",
    };
    const queries = thrown.flatMap((_thrown, index) => [
      `/one?endpoint=leaks-secret&id=inline-${index}`,
      `/one?endpoint=leaks-secret-later&id=later-${index}`,
    ]);
    const shown = await Promise.all(
      ["", ...queries].map((query) =>
        receiver.send(requestBytes({ method: "GET", path: `/_console/api/deliveries${query}`, headers })),
      ),
    );
    expect(new Set(shown.map(({ status }) => status))).toEqual(new Set([200]));
    await receiver.keepsSecret(...shown);
    expect(shown.some(({ text }) => text.includes("The API refused [redacted]."))).toBe(true);
    expect(holdsSecret([child.lines, child.errorOutput], secret)).toBe(false);
    expect(child.lines.filter(({ msg }) => msg === "The secret is [redacted].")).toHaveLength(thrown.length);

    const show = startCommand(["deliveries", "show", "later-0"], { ...packageEnvironment, INBOX_URL });
    const { exitCode, stdout, stderr } = await show.ended;
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("The API refused [redacted].");
    expect(holdsSecret([stdout], secret)).toBe(false);
    expect((await receiver.post()).status).toBe(200);
  });
});

describe("A page of another site", () => {
  test.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json-seq",
    "text/json",
    "json",
    "",
    undefined,
  ])("S7: is answered 415 for Content-Type %s", async (type) => {
    const receiver = await openReceiver();
    await receiver.survives(
      () => receiver.post({ headers: { "Content-Type": type, Origin: "https://other.example" } }),
      { status: 415, code: "MEDIA_TYPE_UNSUPPORTED", logged: { code: "MEDIA_TYPE_UNSUPPORTED", status: 415 } },
    );
  });
});
