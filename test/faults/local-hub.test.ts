import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { LocalHubOptions } from "../../src/local-hub.ts";
import { openLocalHub, pushed, secret, type TestHub } from "../local-hub/support/hub.ts";
import { neverRespond, openTarget, type Target, type TargetAnswer } from "../local-hub/support/target.ts";
import { listenOnPort } from "../support/free-port.ts";
import { listen } from "../support/listen.ts";
import { type RawAnswer, RawSocket, requestBytes } from "../support/raw-socket.ts";
import { holdsSecret } from "../support/secrets.ts";
import { countRows } from "./rows.ts";

countRows("local-hub");

/** Opens a local Hub with one webhook that has a secret, and a target for its deliveries. */
async function openDelivering(answer: TargetAnswer, options: LocalHubOptions = {}) {
  const target = await openTarget(answer);
  const hub = await openLocalHub({ attempts: 1, ...options });
  const { id } = await hub.create({ url: target.url, secret });
  return { hub, target, id };
}

/** Asserts that the next delivery succeeds and that neither logs nor delivery entries contain the secret. */
async function goesOn({ hub, target, id }: { hub: TestHub; target: Target; id: string }): Promise<void> {
  target.answerWith(200);
  await hub.update(id, { url: target.url, secret });
  expect(await hub.trigger()).toMatchObject([{ webhookId: id, status: 200 }]);
  expect(target.requests.at(-1)?.headers["x-webhook-secret"]).toBe(secret);
  expect(holdsSecret(hub.log.lines, secret)).toBe(false);
  expect(holdsSecret(await hub.entries(id), secret)).toBe(false);
}

/** Returns the reasons that the local Hub logged, one per failed delivery. */
function reasons({ log }: TestHub): unknown[] {
  return log.lines.filter(({ msg }) => msg === "delivery failed").map(({ reason }) => reason);
}

describe("A slow target", () => {
  const slowly =
    (begin: string, part: string): TargetAnswer =>
    ({ socket }) => {
      socket.write(begin);
      const drip = setInterval(() => socket.write(part), 5);
      socket.on("close", () => clearInterval(drip)).on("error", () => {});
    };

  test.each([
    { what: "sends no response", answer: neverRespond },
    { what: "sends only headers", answer: slowly("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "") },
    { what: "sends endless headers slowly", answer: slowly("HTTP/1.1 200 OK\r\nX: ", "x") },
    { what: "sends an endless body slowly", answer: slowly("HTTP/1.1 200 OK\r\n\r\n", "x") },
    {
      what: "sends endless chunks",
      answer: slowly("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    },
    { what: "sends informational responses repeatedly", answer: slowly("", "HTTP/1.1 102 Processing\r\n\r\n") },
  ])("L1: that $what is abandoned after the timeout", async ({ answer }) => {
    const { hub, target, id } = await openDelivering(answer, { timeout: 200 });
    expect(await hub.trigger()).toMatchObject([{ status: null }]);
    const [entry] = await hub.entries(id);
    expect(entry).toMatchObject({ status: null, response: null, error: expect.stringContaining("within 0.2 s") });
    expect(entry?.durationMs).toBeGreaterThanOrEqual(195);
    expect(entry?.durationMs).toBeLessThan(5_000);
    expect(reasons(hub)).toEqual([entry?.error]);
    await goesOn({ hub, target, id });
  });

  test("L1: has a default timeout of 30 s", async () => {
    const timeouts = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timeouts.mockRestore());
    const { hub, target, id } = await openDelivering(200);
    await hub.trigger();
    expect(timeouts.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(30_000);
    await goesOn({ hub, target, id });
  });

  test("L1: that never reads the request is abandoned after the timeout", async () => {
    const server = createServer((socket) => void socket.pause().on("error", () => {}));
    const { url } = await listen(server);
    const { hub, target, id } = await openDelivering(200, { timeout: 300 });
    await hub.update(id, { url, secret });
    expect(await hub.trigger({ ...pushed, note: "x".repeat(8_000_000) })).toMatchObject([{ status: null }]);
    expect(reasons(hub)).toEqual([expect.stringContaining("within 0.3 s")]);
    await goesOn({ hub, target, id });
  });
});

describe("A target with an endless response", () => {
  test("L1: is read up to 64 kB", async () => {
    let written = 0;
    const ended = Promise.withResolvers<void>();
    const { hub, target, id } = await openDelivering((_request, response) => {
      const part = "x".repeat(65_536);
      const more = () => {
        while (!response.destroyed && written < 1_000_000_000) {
          written += part.length;
          if (!response.write(part)) return void response.once("drain", more);
        }
      };
      response.on("close", ended.resolve);
      more();
    });
    expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
    await ended.promise;
    expect(written).toBeLessThan(64 * 1024 * 1024);
    const [entry] = await hub.entries(id);
    expect(entry?.response).toMatchObject({ body: "x".repeat(65_536), truncated: true });
    await goesOn({ hub, target, id });
  });
});

describe("A redirect", () => {
  test.each([300, 301, 302, 303, 305, 307, 308])(
    "L2: is not followed, and the secret is not sent on: %d",
    async (status) => {
      const elsewhere = await openTarget();
      const { hub, target, id } = await openDelivering((_request, response) => {
        response.writeHead(status, { location: elsewhere.url, refresh: `0; url=${elsewhere.url}` }).end();
      });
      expect(await hub.trigger()).toMatchObject([{ status }]);
      expect(reasons(hub)).toEqual([expect.stringContaining("redirect")]);
      await goesOn({ hub, target, id });
      expect(elsewhere.requests).toEqual([]);
    },
  );
});

describe("A target on another machine", () => {
  test.each([
    "http://10.0.0.1/",
    "http://192.168.1.1:8080/hook",
    "http://169.254.169.254/latest/meta-data",
    "http://0.0.0.0:7860/",
    "http://0/",
    "http://0xa.1/",
    "http://167772161/",
    "http://012.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:a00:1]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[64:ff9b::7f00:1]/",
    "https://10.0.0.1/",
    "http://127.0.0.1@10.0.0.1/",
    "http://localhost:80@10.0.0.1/",
  ])("L3: receives no delivery: %s", async (url) => {
    const { hub, target, id } = await openDelivering(200);
    await hub.update(id, { url, secret });
    expect(await hub.trigger()).toMatchObject([{ status: null }]);
    expect(reasons(hub)).toEqual([expect.stringMatching(/is not this machine.*--allow-remote/)]);
    await goesOn({ hub, target, id });
  });

  test("L3: receives deliveries if allowRemote is set", async () => {
    const { hub, target, id } = await openDelivering(200, { allowRemote: true });
    const elsewhere = createServer((socket) => socket.end("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    // 0.0.0.0 is not a loopback address, but it reaches this machine on every system.
    const port = await listenOnPort(elsewhere, { host: "0.0.0.0" });
    onTestFinished(() => void elsewhere.close());
    await hub.update(id, { url: `http://0.0.0.0:${port}/`, secret });
    expect(await hub.trigger()).toMatchObject([{ status: 202 }]);
    await goesOn({ hub, target, id });
  });

  test.each(["localhost", "127.1", "0x7f.1", "2130706433", "127.0.0.1.", "bot:pass@127.0.0.1"])(
    "L3: excludes this machine, also when written as %s",
    async (host) => {
      const { hub, target, id } = await openDelivering(200);
      await hub.update(id, { url: target.url.replace("127.0.0.1", host), secret });
      expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
      await goesOn({ hub, target, id });
    },
  );

  test("L3: cannot connect: the local Hub listens on loopback only", async () => {
    const { hub, target, id } = await openDelivering(200);
    const socket = connect({ host: "127.0.0.2", port: Number(new URL(hub.url).port) });
    onTestFinished(() => void socket.destroy());
    await expect(once(socket, "connect")).rejects.toMatchObject({
      code: expect.stringMatching(/ECONNREFUSED|EADDRNOTAVAIL/),
    });
    await goesOn({ hub, target, id });
  });
});

/** Sends a raw request and returns the answer. */
async function send(
  hub: TestHub,
  line: string,
  headers: Record<string, string | undefined>,
  body = "",
): Promise<RawAnswer> {
  const [method = "", path = ""] = line.split(" ");
  const socket = await RawSocket.open(hub.url);
  const answer = await socket
    .send(requestBytes({ method, path, headers: { Connection: "close", ...headers }, body }))
    .answer();
  socket.close();
  return answer;
}

const authorization = "Bearer hf_local";
const json = "application/json";

const places = [
  ...["GET /_console/", "GET /openapi.json", "GET /api/settings/webhooks", "GET /_local/jobs"].map((line) => ({
    line,
    body: "",
  })),
  { line: "POST /_local/reset", body: "{}" },
  { line: "GET /nowhere", body: "" },
];

describe("A Host header", () => {
  /** Sends a request with this header to each place, and returns the answers. */
  async function ask(hub: TestHub, host: string | undefined) {
    const headers = { ...(host !== undefined && { Host: host }), Authorization: authorization, "Content-Type": json };
    const answers: RawAnswer[] = [];
    for (const { line, body } of places) answers.push(await send(hub, line, headers, body));
    return answers;
  }

  test.each([
    "evil.com",
    "evil.com:5050",
    "localhost.evil.com",
    "127.0.0.1.nip.io",
    "10.0.0.1",
    "0.0.0.0",
    "[::]",
    "192.168.0.7:5050",
    "localhost@evil.com",
    "xlocalhost",
    "",
  ])("L4: that names another host is refused without effect: %j", async (host) => {
    const { hub, target, id } = await openDelivering(200);
    // Node rejects invalid host names before the request reaches the local Hub.
    const allowed = /^[\w.:[\]]+$/.test(host) ? [403] : [400, 403];
    for (const { status, text } of await ask(hub, host)) {
      expect(allowed).toContain(status);
      expect(text).not.toContain(id);
    }
    await goesOn({ hub, target, id });
  });

  test.each(["localhost", "foo.localhost", "127.0.0.1", "127.0.0.9", "[::1]", "LOCALHOST:1"])(
    "L4: that names this machine is served: %s",
    async (host) => {
      const { hub } = await openDelivering(200);
      const answers = await ask(hub, host);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 404]);
    },
  );

  test("L4: that is missing is refused, also with HTTP/1.0", async () => {
    const { hub, target, id } = await openDelivering(200);
    expect(new Set((await ask(hub, undefined)).map(({ status }) => status))).toEqual(new Set([400]));
    for (const { line } of places) {
      const socket = await RawSocket.open(hub.url);
      socket.send(`${line} HTTP/1.0\r\nContent-Type: ${json}\r\nContent-Length: 0\r\n\r\n`);
      expect([400, 403]).toContain((await socket.answer()).status);
      socket.close();
    }
    await goesOn({ hub, target, id });
  });
});

describe("A control request that is not JSON", () => {
  const event = JSON.stringify(pushed);

  test.each([
    undefined,
    "",
    "text/plain",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json-seq",
    "text/json",
    "*/*",
  ])("L4: is refused with 403 without effect: %j", async (type) => {
    const { hub, target, id } = await openDelivering(200);
    const [delivery] = await hub.trigger();
    const host = new URL(hub.url).host;
    for (const [line, body] of [
      ["POST /_local/events", event],
      ["POST /_local/events?wait=true", event],
      [`POST /_local/webhooks/${id}/replay/${delivery?.logId}`, "{}"],
      ["POST /_local/reset", "{}"],
      ["DELETE /_local/reset", ""],
    ] as const) {
      const answer = await send(hub, line, { Host: host, "Content-Type": type }, body);
      expect(answer.status, line).toBe(403);
      expect(JSON.parse(answer.text)).toEqual({ error: expect.stringContaining("application/json") });
      expect(answer.headers.get("x-error-code")).toBe("Forbidden");
    }
    expect(target.requests).toHaveLength(1);
    await goesOn({ hub, target, id });
  });

  test("L4: from another site is refused: no response has CORS headers", async () => {
    const { hub, target, id } = await openDelivering(200);
    const headers = {
      Host: new URL(hub.url).host,
      Origin: "https://evil.com",
      "Access-Control-Request-Method": "POST",
    };
    for (const line of ["OPTIONS /_local/events", "GET /_local/jobs", "OPTIONS /api/settings/webhooks"]) {
      const answer = await send(hub, line, { ...headers, Authorization: authorization });
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    await goesOn({ hub, target, id });
  });
});

describe("A change in the console", () => {
  test("L4: needs a sign-in, also to read: this machine alone is not trusted", async () => {
    const { hub, target, id } = await openDelivering(200);
    for (const path of [
      "webhooks",
      `webhooks/one?id=${id}`,
      "events",
      "repositories",
      "jobs",
      "send/options",
      "stream",
    ]) {
      const answer = await send(hub, `GET /_console/api/${path}`, { Host: new URL(hub.url).host });
      expect(answer.status, path).toBe(401);
      expect(answer.text).not.toContain(id);
    }
    await goesOn({ hub, target, id });
  });
});
