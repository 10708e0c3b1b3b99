import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createNetServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { directFetch } from "../../src/core/fetch.ts";
import { isConnectFailure } from "../../src/hub/transport/failures.ts";
import { freePort, listenOnPort } from "../support/free-port.ts";
import { listen } from "../support/listen.ts";

/** Sets a proxy that nothing may use, and counts the calls of the global `fetch`, which would use it. */
function setProxy() {
  vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:9");
  const globalFetch = vi.spyOn(globalThis, "fetch");
  onTestFinished(() => {
    globalFetch.mockRestore();
  });
  return globalFetch;
}

const answers: Readonly<Record<string, RequestListener>> = {
  "a large body": (_request, response) => void response.end("x".repeat(150_000)),
  "no body": (_request, response) => void response.writeHead(204).end(),
  "an unchanged page": (_request, response) => void response.writeHead(304, { etag: "1" }).end(),
  "a redirect": (_request, response) => void response.writeHead(302, { location: "/other" }).end("moved"),
  "an error": (_request, response) => void response.writeHead(500, { "content-type": "application/json" }).end("{}"),
  "repeated fields": (_request, response) =>
    void response.writeHead(200, { "x-a": ["1", "2"], "set-cookie": ["a", "b"] }).end(),
  "bytes that are no text": (_request, response) => void response.end(Buffer.from([0, 255, 128])),
  "the request": async (request, response) => {
    const { method, url, headers } = request;
    const sent = [headers.authorization, headers["content-type"], headers["content-length"], headers.host];
    response.end(JSON.stringify([method, url, sent, Buffer.concat(await request.toArray()).toString("hex")]));
  },
  "half an answer": (_request, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setImmediate(() => response.destroy());
  },
  "no answer": (request) => void request.socket.destroy(),
};

const requests: Readonly<Record<string, RequestInit>> = {
  GET: { headers: { authorization: "Bearer token" } },
  HEAD: { method: "HEAD" },
  POST: { method: "POST", body: JSON.stringify({ ü: 1 }), headers: { "Content-Type": "application/json" } },
  "PUT with bytes": { method: "PUT", body: new Uint8Array([0, 255, 10]) },
  "POST without a body": { method: "POST" },
};

async function describeAnswer(asked: Promise<Response>) {
  try {
    const response = await asked;
    const { status, ok } = response;
    const fields = [...response.headers].filter(([name]) => !["date", "connection", "keep-alive"].includes(name));
    const body = await response.bytes().catch(() => "failed");
    return { status, ok, fields, body };
  } catch (error) {
    return { error: error instanceof Error && error.name, mayBeRepeated: isConnectFailure(error) };
  }
}

describe("With a proxy, a request to this machine", () => {
  test.each(Object.keys(answers))("is the same as without one: %s", async (name) => {
    const { url } = await listen(createServer((request, response) => answers[name]?.(request, response)));
    for (const [kind, init] of Object.entries(requests)) {
      const options = { redirect: "manual", ...init } as const;
      for (const ask of [() => `${url}/path?q=1`, () => new Request(`${url}/path?q=1`, options)]) {
        const expected = await describeAnswer(fetch(ask(), options));
        const globalFetch = setProxy();
        expect([kind, await describeAnswer(directFetch(ask(), options))]).toEqual([kind, expected]);
        expect(globalFetch).not.toHaveBeenCalled();
        globalFetch.mockRestore();
      }
    }
  });

  test("fails as without one if no server listens", async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const expected = await describeAnswer(fetch(url));
    setProxy();
    expect(await describeAnswer(directFetch(url))).toEqual(expected);
    expect(expected).toMatchObject({ mayBeRepeated: true });
  });

  test("fails if the status is too high for a Response", async () => {
    const { url } = await listen(createServer((_request, response) => void response.writeHead(600).end()));
    setProxy();
    expect(await describeAnswer(directFetch(url))).toEqual({ error: "TypeError", mayBeRepeated: false });
  });

  test("ends with the reason of its signal before, during and after the response starts, and closes its connection", async () => {
    setProxy();
    const reason = new Error("enough");
    expect(await directFetch("http://127.0.0.1:9", { signal: AbortSignal.abort(reason) }).catch((error) => error)).toBe(
      reason,
    );
    for (const startsAnswer of [false, true]) {
      const arrived = Promise.withResolvers<{ closed: Promise<unknown> }>();
      const { url } = await listen(
        createServer((request, response) => {
          if (startsAnswer) response.write("start");
          arrived.resolve({ closed: once(request.socket, "close") });
        }),
      );
      const abort = new AbortController();
      const asked = directFetch(url, { signal: abort.signal });
      const { closed } = await arrived.promise;
      const response = startsAnswer ? await asked : undefined;
      const read = (response ? response.text() : asked).catch((error: unknown) => error);
      abort.abort(reason);
      expect(await read).toBeInstanceOf(Error);
      if (!startsAnswer) expect(await read).toBe(reason);
      await closed;
    }
  });

  test("closes its connection when its body is cancelled", async () => {
    setProxy();
    const arrived = Promise.withResolvers<{ closed: Promise<unknown> }>();
    const { url } = await listen(
      createServer((request, response) => {
        response.write("start");
        arrived.resolve({ closed: once(request.socket, "close") });
      }),
    );
    const response = await directFetch(url);
    const { closed } = await arrived.promise;
    const reader = response.body?.getReader();
    await reader?.read();
    const next = reader?.read();
    await reader?.cancel();
    expect(await next).toMatchObject({ done: true });
    await closed;
  });

  test.each([
    ["has no body", "204 No Content\r\n\r\n"],
    ["has a status that is too high for a Response", "600 Unknown\r\nContent-Length: 100\r\n\r\nstart"],
  ])("closes its connection if the response %s, even if the server keeps it open", async (_what, response) => {
    setProxy();
    const closed = Promise.withResolvers<void>();
    const server = createNetServer({ allowHalfOpen: true }, (socket) => {
      socket.once("end", closed.resolve).on("error", () => closed.resolve());
      socket.once("data", () => socket.write(`HTTP/1.1 ${response}`));
      onTestFinished(() => void socket.destroy());
    });
    onTestFinished(() => void server.close());
    const port = await listenOnPort(server);
    await directFetch(`http://127.0.0.1:${port}`).catch(() => {});
    await closed.promise;
  });

  test("is recognized by its host, and other requests use fetch", async () => {
    const globalFetch = setProxy().mockImplementation(async () => new Response("by fetch"));
    const isDirect = async (url: string) => (await directFetch(url).catch(() => undefined)) === undefined;
    for (const host of ["127.0.0.1:9", "localhost:9", "[::1]:9", "a.localhost:9", "127.1:9", "0:9"]) {
      expect([host, await isDirect(`http://${host}/`)]).toEqual([host, true]);
    }
    expect(globalFetch).not.toHaveBeenCalled();
    for (const host of ["hub.example", "10.0.0.1", "127.0.0.1.example", "localhost.example"]) {
      expect([host, await isDirect(`http://${host}/`)]).toEqual([host, false]);
    }
    vi.stubEnv("HTTP_PROXY", undefined);
    expect(await isDirect("http://127.0.0.1:9/")).toBe(false);
  });
});

test("The package calls no other fetch and uses the agent of the process for no request", () => {
  const root = new URL("../../", import.meta.url);
  const files = globSync("src/**/*.ts", { cwd: root }).filter(
    (file) => !file.startsWith("src/console/app/") && file !== "src/core/fetch.ts",
  );
  expect(files.length).toBeGreaterThan(200);
  const code = (file: string) =>
    readFileSync(new URL(file, root), "utf8")
      .split("\n")
      .filter((line) => !/^\s*(?:\*|\/)/.test(line))
      .join("\n");
  // These call the `fetch` of an app or of the options of a client.
  const local = ["src/hub/transport/transport.ts", "src/receiver/node/listen.ts", "src/receiver/node/tunnel.ts"];
  const isDefinition = (line: string) => /^\s*(?:async |get )?fetch\(/.test(line);
  const callers = files.filter((file) =>
    code(file)
      .split("\n")
      .some((line) => /(?<![.\w#])fetch\(/.test(line) && !isDefinition(line)),
  );
  expect(callers.sort()).toEqual(local);
  const requesters = files.filter((file) => /\brequest\b.*from "node:https?"/.test(code(file)));
  expect(requesters.length).toBeGreaterThan(1);
  for (const file of requesters) expect([file, /\bagent[,:]/.test(code(file))]).toEqual([file, true]);
});
