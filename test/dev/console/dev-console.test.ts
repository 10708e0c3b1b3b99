import { mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { DevInfo, LogLine, StreamMessage } from "../../../src/console/protocol/session.ts";
import { DevConsole, relayStream } from "../../../src/dev/console/dev-console.ts";
import { examplesOf, repositoriesOf } from "../../../src/dev/console/hub-parts.ts";
import { LogBuffer } from "../../../src/dev/console/log-buffer.ts";
import { WebhookError, WebhooksServer } from "../../../src/index.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

const info: DevInfo = {
  file: "server.ts",
  state: "serving",
  url: "http://127.0.0.1:1",
  publicUrl: "http://127.0.0.1:1",
  hub: { kind: "real", url: "https://huggingface.co" },
  endpoints: [],
};

/** Opens the console of a session whose server is a real receiver. */
async function openConsole({
  serverPort,
  folder = process.cwd(),
}: {
  serverPort?: () => Promise<number>;
  folder?: string;
} = {}) {
  const state = { info };
  const problems: unknown[] = [];
  let port = 0;
  const console = new DevConsole({
    describe: () => state.info,
    serverPort: serverPort ?? (async () => port),
    folder,
    onProblem: (problem) => problems.push(problem),
  });
  const server = new WebhooksServer({ secret: false, logger: createMemoryLogger() });
  server.webhook("hello", () => ({ done: true }));
  server[serverControl].useConsoleToken(console.serverToken);
  const launched = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
  port = launched.port;
  console.open({ features: [], resources: [] });
  console.relay(port);
  const { url: base } = await listen(createServer((incoming, outgoing) => void console.handle(incoming, outgoing)));
  onTestFinished(async () => {
    await console.close();
    await server.close();
  });
  const headers = await signIn(console.createSignInLink(base), base);
  const call = (path: string, init: RequestInit = {}) => fetch(`${base}/_console/api/${path}`, { headers, ...init });
  return { console, server, base, call, headers, state, problems, deliver: () => deliver(launched.url) };
}

async function deliver(baseUrl: string): Promise<void> {
  await fetch(deliveryRequest({ endpoint: "hello", payload: webhookPayload("repo.content"), baseUrl }));
}

async function signIn(link: string, base: string): Promise<Record<string, string>> {
  const code = link.slice(link.lastIndexOf("/") + 1);
  const response = await fetch(`${base}/_console/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const { csrfToken } = await response.json();
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { cookie, "x-csrf-token": csrfToken, "content-type": "application/json" };
}

describe("The console of a dev session", () => {
  test("lists the deliveries, endpoints, inbox, and checks of the server", async () => {
    const { call, deliver } = await openConsole();
    await deliver();
    const { deliveries } = await (await call("deliveries")).json();
    expect(deliveries).toMatchObject([{ endpoint: "hello", status: "succeeded" }]);
    expect(await (await call("endpoints")).json()).toMatchObject({ endpoints: [{ name: "hello" }] });
    expect(await (await call("inbox")).json()).toMatchObject({ state: "unused" });
    const results = await (await call("checks", { method: "POST", body: "{}" })).json();
    expect(results).toContainEqual(expect.objectContaining({ check: "inbox", status: "ok" }));
    expect(await (await call("session")).json()).toMatchObject({
      features: expect.arrayContaining(["deliveries", "endpoints", "inbox", "logs"]),
    });
  });

  test("replays a delivery through the server", async () => {
    const { call, deliver } = await openConsole();
    await deliver();
    const { deliveries } = await (await call("deliveries")).json();
    const { endpoint, id } = deliveries[0];
    const replayed = await call("deliveries/replay", { method: "POST", body: JSON.stringify({ endpoint, id }) });
    expect(replayed.status).toBe(200);
    await waitFor(async () => expect((await (await call("deliveries")).json()).deliveries).toHaveLength(2));
  });

  test("passes on the errors of the server's API", async () => {
    const { call } = await openConsole();
    const response = await call("deliveries/one?endpoint=hello&id=unknown");
    expect([response.status, await response.json()]).toMatchObject([404, { code: "DELIVERY_UNKNOWN" }]);
  });

  test("passes on live deliveries, log lines, and the state of the session", async () => {
    const { console, call, deliver, state } = await openConsole();
    const response = await call("stream");
    let text = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    })();
    await waitFor(() => expect(text).toContain(": open"));
    await deliver();
    console.addOutput({ stream: "stdout", text: "printed" });
    state.info = { ...info, state: "broken", problem: { message: "Unexpected token", isRestarted: false } };
    console.stateChanged();
    await waitFor(() => {
      for (const part of ['"type":"deliveries"', '"type":"logs"', '"type":"dev"']) expect(text).toContain(part);
    });
    expect(text).toContain("Unexpected token");
    await console.close();
    await reading;
  });

  test("ends the relay of a server process when another one starts, and the last one when the session closes", async () => {
    const { console } = await openConsole();
    const streams: IncomingMessage[] = [];
    const openServer = () =>
      listen(
        createServer((incoming, outgoing) => {
          streams.push(incoming);
          outgoing.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        }),
      );
    const [previous, next] = [await openServer(), await openServer()];
    console.relay(Number(new URL(previous.url).port));
    await waitFor(() => expect(streams).toHaveLength(1));
    console.relay(Number(new URL(next.url).port));
    await waitFor(() => expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, false]));
    await console.close();
    await waitFor(() => expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true]));
  });

  test("answers 503 with the reason while the server file does not load", async () => {
    const broken = async () => {
      throw new WebhookError("server.ts failed to load.", { code: "SERVER_FILE_INVALID" });
    };
    const { call } = await openConsole({ serverPort: broken });
    const response = await call("deliveries");
    expect([response.status, await response.json()]).toMatchObject([503, { code: "SERVER_FILE_INVALID" }]);
    expect(await (await call("dev")).json()).toMatchObject({ state: "serving" });
  });

  test("stays signed in if the server does not accept the session", async () => {
    const { url } = await listen(
      createServer((_incoming, outgoing) => {
        outgoing.writeHead(401, { "content-type": "application/json" }).end('{"code":"SIGN_IN_REQUIRED"}');
      }),
    );
    const { call } = await openConsole({ serverPort: async () => Number(new URL(url).port) });
    const response = await call("deliveries");
    expect([response.status, await response.json()]).toMatchObject([502, { code: "NO_RESPONSE" }]);
  });

  test("requires a sign-in for everything, also from this machine", async () => {
    const { base } = await openConsole();
    for (const path of ["deliveries", "endpoints", "inbox", "dev", "logs", "stream"]) {
      expect((await fetch(`${base}/_console/api/${path}`)).status).toBe(401);
    }
  });

  test("opens files of the project only, at a valid position", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "open-editor-")));
    const file = join(folder, "server.ts");
    const link = join(folder, "link.ts");
    const opened = join(folder, "opened");
    writeFileSync(file, "first\nsecond");
    symlinkSync("/etc/hostname", link);
    const editor = join(folder, "editor.sh");
    writeFileSync(editor, `#!/bin/sh\necho "$@" >> "${opened}"\n`, { mode: 0o755 });
    vi.stubEnv("LAUNCH_EDITOR", editor);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { call } = await openConsole({ folder });
    const open = (body: object) => call("dev/open-editor", { method: "POST", body: JSON.stringify(body) });
    const position = { line: 2, column: 3 };
    for (const body of [
      ...["/etc/hostname", link, folder, `${folder}/../etc/hostname`, "server.ts"].map((path) => ({ file: path })),
      ...[`file://${file}`, `file:///etc/hostname`, `${file}\0`].map((path) => ({ file: path, ...position })),
      ...[0, -1, 1.5, 1e21, "2", null, [2]].flatMap((wrong) => [
        { ...{ file, ...position }, line: wrong },
        { ...{ file, ...position }, column: wrong },
      ]),
    ]) {
      const response = await open(body);
      expect([body, response.status, (await response.json()).code]).toEqual([body, 400, "ARGUMENT_INVALID"]);
    }
    expect((await open({ file, ...position })).status).toBe(200);
    await waitFor(() => expect(readFileSync(opened, "utf8")).toBe(`${file} 2 3\n`));
  });
});

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

function openBuffer() {
  const published: (readonly LogLine[])[] = [];
  const buffer = new LogBuffer({ now: () => 1_000, onLines: (lines) => published.push(lines) });
  return { buffer, published };
}

const logged = (fields: object) => ({ stream: "stdout" as const, text: JSON.stringify(fields) });

describe("A line of the logger", () => {
  test("keeps its level, message, delivery, and other fields", () => {
    const { buffer } = openBuffer();
    buffer.add(
      logged({ level: 40, time: 5, pid: 1, hostname: "h", msg: "slow", endpoint: "retrain", deliveryId: "7", ms: 12 }),
    );
    expect(buffer.after(0)).toEqual([
      { sequence: 1, at: 5, level: "warn", message: "slow", endpoint: "retrain", deliveryId: "7", fields: '{"ms":12}' },
    ]);
  });

  test.for([
    [10, "debug"],
    [20, "debug"],
    [30, "info"],
    [50, "error"],
    [60, "error"],
    [35, "info"],
    ["info", "info"],
  ] as const)("with level %s is shown as %s", ([level, shown]) => {
    const { buffer } = openBuffer();
    buffer.add(logged({ level, time: 5, msg: "" }));
    expect(buffer.after(0)[0]?.level).toBe(shown);
  });

  test("whose time is in nanoseconds has the time at which it arrived", () => {
    const { buffer } = openBuffer();
    buffer.add(logged({ level: 30, time: 1.7e18, msg: "" }));
    expect(buffer.after(0)[0]?.at).toBe(1_000);
  });
});

describe("Any other line", () => {
  test.for([
    ["stdout", "hello", "output"],
    ["stderr", "Error: boom", "error"],
    ["stdout", "{not json", "output"],
    ["stdout", '{"level":30,"msg":"no time"}', "output"],
    ["stdout", '{"time":1}', "output"],
    ["stdout", "[1]", "output"],
    ["stdout", "null", "output"],
  ] as const)("on %s is shown as it is: %s", ([stream, text, level]) => {
    const { buffer } = openBuffer();
    buffer.add({ stream, text });
    expect(buffer.after(0)).toEqual([{ sequence: 1, at: 1_000, level, message: text }]);
  });

  test("is text if it is nested too deeply to be written again", () => {
    const { buffer } = openBuffer();
    buffer.add({ stream: "stdout", text: `{"level":30,"time":1,"x":${"[".repeat(9_000)}${"]".repeat(9_000)}}` });
    expect(buffer.after(0)[0]?.level).toBe("output");
  });

  test("is cut if it is very long", () => {
    const { buffer } = openBuffer();
    buffer.add({ stream: "stdout", text: "x".repeat(100_000) });
    expect(buffer.after(0)[0]?.message).toHaveLength(8_192);
  });
});

test("Long lines do not stay in memory", { tags: "slow" }, () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const usedBytes = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const { buffer } = openBuffer();
  const before = usedBytes();
  for (let line = 0; line < 40; line += 1) {
    const text = Buffer.alloc(1_000_000, `${line} `).toString("latin1");
    buffer.add({ stream: "stdout", text });
    buffer.add(logged({ level: 30, time: 5, msg: text, data: text }));
  }
  expect(usedBytes() - before).toBeLessThan(20_000_000);
  expect(buffer.after(0)).toHaveLength(80);
});

test("The newest 2,000 lines are kept", () => {
  const { buffer } = openBuffer();
  for (let line = 1; line <= 5_000; line += 1) buffer.add({ stream: "stdout", text: String(line) });
  const lines = buffer.after(0);
  expect([lines.length, lines[0]?.message, lines.at(-1)?.message]).toEqual([2_000, "3001", "5000"]);
  expect(buffer.after(4_998).map(({ message }) => message)).toEqual(["4999", "5000"]);
});

test("New lines are published together, and each line once", () => {
  vi.useFakeTimers();
  try {
    const { buffer, published } = openBuffer();
    buffer.add({ stream: "stdout", text: "one" });
    buffer.add({ stream: "stdout", text: "two" });
    vi.runAllTimers();
    buffer.add({ stream: "stdout", text: "three" });
    vi.runAllTimers();
    expect(published.map((lines) => lines.map(({ message }) => message))).toEqual([["one", "two"], ["three"]]);
  } finally {
    vi.useRealTimers();
  }
});

describe("The repositories of an endpoint", () => {
  test("are those that it watches and those that its filter names, without owners and patterns", () => {
    const endpoint = {
      watch: [
        { type: "dataset", name: "me/data" },
        { type: "org", name: "acme" },
      ] as const,
      repos: ["model:me/net", "dataset:me/*", "*:me/x"],
    };
    expect(repositoriesOf(endpoint)).toEqual(["dataset:me/data", "model:me/net"]);
    expect(examplesOf(endpoint)).toEqual(["dataset:acme/data"]);
  });
});
