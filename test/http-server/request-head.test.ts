import { describe, expect, test } from "vitest";
import { openListener } from "../receiver/node/open-listener.ts";
import { chunk, type RawRequest, RawSocket, requestBytes } from "../support/raw-socket.ts";

const host = { Host: "receiver.example" };

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
  ])("%s is answered 400, and the connection is closed", async (_what, request, reason) => {
    const { url, delivered, log } = await openListener();
    const socket = await RawSocket.open(url);
    const answer = await socket.send(requestBytes({ path, ...request })).answer();
    expect([answer.status, answer.headers.get("connection"), answer.text]).toEqual([400, "close", ""]);
    expect(log.lines).toEqual([{ level: "warn", msg: "malformed HTTP request refused", status: 400, reason }]);
    expect(delivered).toEqual([]);
    await socket.ended;
    socket.close();
  });

  test.each(["chunked", "Chunked"])("with Transfer-Encoding: %s is accepted", async (coding) => {
    const { ask } = await openListener();
    expect((await ask({ path, headers: { ...host, "Transfer-Encoding": coding }, body: chunk("") })).status).toBe(200);
  });
});
