import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type HttpResult, HttpSender } from "../../../src/local-hub/delivery/http-sender.ts";

/** A receiver, and a sender that posts to it once. Its connections stay open unless one of the two closes them. */
async function openReceiver(listener: RequestListener) {
  const sockets: Socket[] = [];
  const closed: Promise<unknown>[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, listener).listen(0, "127.0.0.1");
  server.on("connection", (socket) => {
    sockets.push(socket);
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
  });
  await once(server, "listening");
  const sender = new HttpSender({ allowRemote: false });
  onTestFinished(async () => {
    sender.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  const url = `http://127.0.0.1:${address.port}/`;
  const post = (): Promise<HttpResult> =>
    sender.send({ url, headers: {}, body: "{}", timeoutMs: 10_000, signal: new AbortController().signal });
  return { sender, post, sockets, closed };
}

describe("The connection of a delivery", () => {
  test("is used for the next one, and closed with the local Hub", async () => {
    const { sender, post, sockets, closed } = await openReceiver((_request, response) => response.end());
    await post();
    await post();
    expect(sockets.map(({ closed: isClosed }) => isClosed)).toEqual([false]);
    sender.close();
    await closed[0];
  });

  test("is closed when it has no answer in time", async () => {
    const { post, sockets, closed } = await openReceiver(() => {});
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const posted = post();
    // The time is not over before there is a connection, however busy the machine is.
    await expect.poll(() => sockets.length).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(await posted).toEqual({ failure: expect.stringContaining("within 10 s") });
    await closed[0];
  });

  test("is closed when it asks for another protocol", async () => {
    const { post, closed } = await openReceiver((_request, response) =>
      response.writeHead(101, { connection: "upgrade", upgrade: "other" }).flushHeaders(),
    );
    expect(await post()).toEqual({ failure: expect.stringContaining("another protocol") });
    await closed[0];
  });

  test("is closed when the answer is longer than what is kept of it", async () => {
    const { post, closed } = await openReceiver((_request, response) => {
      response.write("x".repeat(64 * 1024 + 1));
    });
    expect(await post()).toMatchObject({ response: { truncated: true, body: "x".repeat(64 * 1024) } });
    await closed[0];
  });

  test("is kept when the answer is as long as what is kept of it", async () => {
    const { post, sockets } = await openReceiver((_request, response) => {
      response.end("x".repeat(64 * 1024));
    });
    expect(await post()).toMatchObject({ response: { truncated: false, body: "x".repeat(64 * 1024) } });
    expect(sockets.map(({ closed }) => closed)).toEqual([false]);
  });
});
