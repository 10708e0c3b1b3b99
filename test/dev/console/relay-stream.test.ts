import { createServer, type ServerResponse } from "node:http";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { StreamMessage } from "../../../src/console/protocol/session.ts";
import { relayStream } from "../../../src/dev/console/dev-console.ts";
import { listen } from "../../support/listen.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** Relays the stream of a server that writes what the test writes. */
async function openRelay() {
  const connected = Promise.withResolvers<ServerResponse>();
  const { url } = await listen(
    createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      connected.resolve(response);
    }),
  );
  const messages: StreamMessage[] = [];
  const opened = Promise.withResolvers<void>();
  const received = Promise.withResolvers<void>();
  const ending = new AbortController();
  const relaying = relayStream({
    port: Number(new URL(url).port),
    token: "token",
    publish: (message) => {
      messages.push(message);
      if (message.type === "changed" && message.features.includes("endpoints")) received.resolve();
    },
    onConnected: opened.resolve,
    signal: ending.signal,
  });
  onTestFinished(async () => {
    ending.abort();
    await relaying;
  });
  const response = await connected.promise;
  await opened.promise;
  const send = (message: unknown) => response.write(`data: ${JSON.stringify(message)}\n\n`);
  /** Sends the last message, and returns all messages that were relayed. */
  const end = async () => {
    send({ type: "changed", features: ["endpoints"] });
    await received.promise;
    return messages.slice(0, -1);
  };
  return { response, send, end };
}

describe("The relay of the server's live messages", () => {
  test("passes on deliveries and changed features, and ignores everything else", async () => {
    const { response, send, end } = await openRelay();
    const row = { id: "1", endpoint: "hello", status: "running" };
    response.write(": heartbeat\n\ndata: {damaged\n\n");
    send({ type: "logs", lines: [] });
    send({ type: "changed", features: ["deliveries"] });
    send({ type: "deliveries", deliveries: [{ id: "1" }] });
    send({ type: "deliveries", deliveries: [row] });
    expect(await end()).toEqual([
      { type: "changed", features: ["deliveries"] },
      { type: "deliveries", deliveries: [row] },
    ]);
  });

  test("passes on a message of more than 1 MB", async () => {
    const { send, end } = await openRelay();
    const error = { code: "HANDLER_FAILED", message: "x".repeat(1_200_000) };
    const deliveries = [{ id: "1", endpoint: "hello", status: "failed", error }];
    send({ type: "deliveries", deliveries });
    expect(await end()).toEqual([{ type: "deliveries", deliveries }]);
  });

  test("closes the connection of a response that is not a stream of messages before it tries again", async () => {
    const events: string[] = [];
    const second = Promise.withResolvers<void>();
    const record = (event: string) => {
      events.push(event);
      if (events.length === 2) second.resolve();
    };
    const { url } = await listen(
      createServer((_request, response) => {
        record("request");
        response.once("close", () => record("closed")).writeHead(503);
        response.write("The rest of this page never arrives.");
      }),
    );
    const ending = new AbortController();
    const port = Number(new URL(url).port);
    const relaying = relayStream({ port, token: "", publish() {}, onConnected() {}, signal: ending.signal });
    await second.promise;
    expect(events).toEqual(["request", "closed"]);
    ending.abort();
    await relaying;
  });

  test("opens a stream that has ended again, until the relay ends, and reports each connection", async () => {
    const { url } = await listen(
      createServer((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).end(": open\n\n");
      }),
    );
    const ending = new AbortController();
    let connections = 0;
    const onConnected = () => {
      connections += 1;
      if (connections === 3) ending.abort();
    };
    const port = Number(new URL(url).port);
    await relayStream({ port, token: "", publish() {}, onConnected, signal: ending.signal, retryMs: 1 });
    expect(connections).toBe(3);
  });

  test("closes a stream that sends nothing for 45 s, not even a heartbeat", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { response } = await openRelay();
    const closed = new Promise((resolve) => response.once("close", resolve));
    await vi.advanceTimersByTimeAsync(45_000);
    await closed;
  });
});
