import { describe, expect, test, vi } from "vitest";
import { openListener, openSocket } from "../receiver/node/open-listener.ts";
import { chunk, type RawRequest, requestBytes } from "../support/raw-socket.ts";

const host = { Host: "receiver.example" };
const chunked = { "Transfer-Encoding": "chunked" };
const chunksIn10 = "Transfer-Encoding in HTTP/1.0";

describe.each([
  ["short", "/webhooks/retrain"],
  ["long", "/elsewhere"],
])("On the %s path, a request", (_way, path) => {
  test.each<[string, Partial<RawRequest>, string]>([
    ["of HTTP/2.0", { version: "HTTP/2.0" }, "Unsupported HTTP version"],
    ["of HTTP/0.9", { version: "HTTP/0.9" }, "Unsupported HTTP version"],
    ["with two hosts", { headers: { Host: ["receiver.example", "other.example"] } }, "Multiple Host headers"],
    [
      "with the same host twice",
      { headers: { Host: ["receiver.example", "receiver.example"] } },
      "Multiple Host headers",
    ],
    [
      "with chunks inside gzip",
      { headers: { ...host, "Transfer-Encoding": "gzip, chunked" }, body: chunk("") },
      "Unsupported Transfer-Encoding",
    ],
    [
      "with chunks inside gzip, in two headers",
      { headers: { ...host, "Transfer-Encoding": ["gzip", "chunked"] }, body: chunk("") },
      "Unsupported Transfer-Encoding",
    ],
    ["of HTTP/1.0 with chunks", { version: "HTTP/1.0", headers: { ...host, ...chunked }, body: chunk("") }, chunksIn10],
  ])("%s is answered 400, and the connection is closed", async (_what, request, reason) => {
    const { url, delivered, log } = await openListener();
    const socket = await openSocket(url);
    const answer = await socket.send(requestBytes({ path, ...request })).answer();
    expect([answer.status, answer.headers.get("connection"), answer.text]).toEqual([400, "close", ""]);
    expect(log.lines).toEqual([{ level: "warn", msg: "malformed HTTP request refused", status: 400, reason }]);
    expect(delivered).toEqual([]);
    await socket.ended;
  });

  test.each(["chunked", "Chunked"])("with Transfer-Encoding: %s is accepted", async (coding) => {
    const { ask } = await openListener();
    expect((await ask({ path, headers: { ...host, "Transfer-Encoding": coding }, body: chunk("") })).status).toBe(200);
  });
});

test.each(["127.0.0.1.0.1", "1.2.3.256"])("A request with the invalid host %s is answered 400", async (host) => {
  const fetch = vi.fn((request: Request) => new Response(request.url));
  const { ask, delivered, log } = await openListener({ fetch });
  for (const path of ["/elsewhere", "/webhooks/retrain"]) {
    const answer = await ask({ path, headers: { Host: host } });
    expect([answer.status, answer.headers.get("connection")]).toEqual([400, "close"]);
  }
  const refused = { level: "warn", msg: "malformed HTTP request refused", status: 400, reason: "Invalid host header" };
  expect([log.lines, delivered, fetch.mock.calls]).toEqual([[refused, refused], [], []]);
});

test.each([
  "http://user@receiver.example/webhooks/retrain",
  "http://user:@x/",
  "http://:word@x/",
  "https://user:word@x/",
])("A request to %s is answered 400, and the connection is closed", async (path) => {
  const fetch = vi.fn((request: Request) => new Response(new Request(request).url));
  const { ask, log } = await openListener({ fetch });
  const answer = await ask({ path, headers: host });
  expect([answer.status, answer.headers.get("connection")]).toEqual([400, "close"]);
  expect(log.lines).toMatchObject([{ level: "warn", status: 400, reason: "Credentials in the URL" }]);
  expect(fetch).not.toHaveBeenCalled();
});

test("A request to an absolute URL with an @ in its path is accepted", async () => {
  const { ask } = await openListener();
  expect((await ask({ path: "http://receiver.example/a@b?c@d", headers: host })).status).toBe(200);
});
