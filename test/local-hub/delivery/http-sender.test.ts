import { createServer, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isLoopbackAddress } from "../../../src/core/urls.ts";
import { type HttpResult, HttpSender, type Lookup, loopbackOnly } from "../../../src/local-hub/delivery/http-sender.ts";
import { listen } from "../../support/listen.ts";
import { openTarget } from "../support/target.ts";

/** Opens a receiver and a sender that posts to it once. The connection stays open unless either side closes it. */
async function openReceiver(listener: RequestListener) {
  const sockets: Socket[] = [];
  const closed: Promise<unknown>[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  server.on("connection", (socket) => {
    sockets.push(socket);
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
  });
  const { url } = await listen(server);
  const sender = new HttpSender({ allowRemote: false });
  onTestFinished(() => sender.close());
  const post = (): Promise<HttpResult> =>
    sender.send({ url, headers: {}, body: "{}", timeoutMs: 10_000, signal: new AbortController().signal });
  return { sender, post, sockets, closed };
}

test("A request that Node does not send is a failure", async () => {
  const sender = new HttpSender({ allowRemote: false });
  onTestFinished(() => sender.close());
  const { signal } = new AbortController();
  const headers = { "x-bad": "two\nlines" };
  const sent = sender.send({ url: "http://127.0.0.1:1/", headers, body: "{}", timeoutMs: 10_000, signal });
  expect(await sent).toEqual({ failure: expect.stringContaining("Invalid character in header") });
});

describe("The connection of a delivery", () => {
  test("is reused for the next one, and closes with the local Hub", async () => {
    const { sender, post, sockets, closed } = await openReceiver((_request, response) => response.end());
    await post();
    await post();
    expect(sockets.map(({ closed: isClosed }) => isClosed)).toEqual([false]);
    sender.close();
    await closed[0];
  });

  test("closes if the response does not arrive in time", async () => {
    const { post, sockets, closed } = await openReceiver(() => {});
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const posted = post();
    // The timeout must not expire before the connection is open, even on a busy machine.
    await expect.poll(() => sockets.length).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(await posted).toEqual({ failure: expect.stringContaining("within 10 s") });
    await closed[0];
  });

  test("closes if the receiver switches to another protocol", async () => {
    const { post, closed } = await openReceiver((_request, response) =>
      response.writeHead(101, { connection: "upgrade", upgrade: "other" }).flushHeaders(),
    );
    expect(await post()).toEqual({ failure: expect.stringContaining("another protocol") });
    await closed[0];
  });

  test("closes if the response is longer than the part that is stored", async () => {
    const { post, closed } = await openReceiver((_request, response) => {
      response.write("x".repeat(64 * 1024 + 1));
    });
    expect(await post()).toMatchObject({ response: { truncated: true, body: "x".repeat(64 * 1024) } });
    await closed[0];
  });

  test("stays open if the response is as long as the part that is stored", async () => {
    const { post, sockets } = await openReceiver((_request, response) => {
      response.end("x".repeat(64 * 1024));
    });
    expect(await post()).toMatchObject({ response: { truncated: false, body: "x".repeat(64 * 1024) } });
    expect(sockets.map(({ closed }) => closed)).toEqual([false]);
  });
});

function looked(name: string, options: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    loopbackOnly()(name, options, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

describe("The host name lookup", () => {
  test("returns loopback addresses", async () => {
    expect(isLoopbackAddress(String(await looked("localhost")))).toBe(true);
    expect(await looked("localhost", { all: true })).toContainEqual({
      address: expect.any(String),
      family: expect.any(Number),
    });
    expect(await looked("127.0.0.5", { family: 4 })).toBe("127.0.0.5");
  });

  test.each(["10.0.0.1", "0.0.0.0", "::ffff:10.0.0.1", "fe80::1"])(
    "fails for an address of another machine: %s",
    async (address) => {
      for (const options of [{}, { all: true }]) {
        await expect(looked(address, options)).rejects.toThrow(/not this machine.*allow-remote/);
      }
    },
  );

  test("fails like node:dns for an unknown name", async () => {
    await expect(looked("nobody.invalid")).rejects.toMatchObject({ syscall: "getaddrinfo" });
  });
});

describe("A delivery to a host name", () => {
  const post = { headers: {}, body: "{}", timeoutMs: 5_000, signal: new AbortController().signal };

  test("is not sent if the name now resolves to another machine", async () => {
    const rebound: Lookup = (_name, options, callback) => {
      if (options.all) callback(null, [{ address: "10.0.0.1", family: 4 }]);
      else callback(null, "10.0.0.1", 4);
    };
    const sender = new HttpSender({ allowRemote: false, lookup: rebound });
    onTestFinished(() => sender.close());
    const result = await sender.send({ ...post, url: "http://receiver.example/hook" });
    expect(result).toEqual({ failure: expect.stringMatching(/receiver\.example.*allowRemote/) });
  });

  test("is sent if the name resolves to this machine", async () => {
    const target = await openTarget();
    const here: Lookup = (_name, options, callback) => {
      if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
      else callback(null, "127.0.0.1", 4);
    };
    const sender = new HttpSender({ allowRemote: false, lookup: here });
    onTestFinished(() => sender.close());
    const url = target.url.replace("127.0.0.1", "receiver.example");
    expect(await sender.send({ ...post, url })).toMatchObject({ response: { status: 200 } });
  });
});
