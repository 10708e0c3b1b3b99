import { mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { DevInfo } from "../../../src/console/protocol/session.ts";
import { DevConsole } from "../../../src/dev/console/dev-console.ts";
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
  test("lists the deliveries, endpoints, and inbox of the server", async () => {
    const { call, deliver } = await openConsole();
    await deliver();
    const { deliveries } = await (await call("deliveries")).json();
    expect(deliveries).toMatchObject([{ endpoint: "hello", status: "succeeded" }]);
    expect(await (await call("endpoints")).json()).toMatchObject({ endpoints: [{ name: "hello" }] });
    expect(await (await call("inbox")).json()).toMatchObject({ state: "unused" });
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
