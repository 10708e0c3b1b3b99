// @module-tag slow

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { DevEvent } from "../../src/dev/dev-event.ts";
import { startDev } from "../../src/dev/dev-session.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { freePort, listenOnPort } from "../support/free-port.ts";
import { isRunning } from "../support/program.ts";
import {
  openFailingHub,
  openProject,
  openRealHub,
  optionsIn,
  push,
  secret,
  serverFile,
  startIn,
  stateOf,
  watchingFile,
} from "./dev-project.ts";

describe("A session with the real Hub", () => {
  test("creates webhooks with its own secret, and deletes only these at the end", async () => {
    const project = await openProject({
      "server.ts": serverFile({ retrain: { options: '{ watch: "dataset:me/data" }' }, unwatched: {} }),
    });
    const { client, urls, options, push } = await openRealHub();
    const own = await client.webhooks.create({
      ...{ url: "http://127.0.0.1:9/mine", watched: [{ type: "model", name: "me/net" }], domains: ["repo"] },
    });
    const { session, events, until } = await startIn(project, options);
    const url = `${options.publicUrl}/webhooks/retrain`;
    expect(await until("ready")).toMatchObject({ hub: { kind: "real", url: options.hubUrl } });
    expect(session.state.endpoints).toEqual([
      { name: "retrain", url, watch: ["dataset:me/data"] },
      { name: "unwatched", url: `${options.publicUrl}/webhooks/unwatched`, watch: [] },
    ]);
    expect((await urls()).sort()).toEqual([url, own.url].sort());
    expect(await push()).toMatchObject([{ status: 200 }]);
    // The user chose this URL, so it may also receive deliveries of other webhooks.
    const statusWith = async (carried: string) =>
      (
        await fetch(
          deliveryRequest({
            ...{ endpoint: "retrain", baseUrl: options.publicUrl },
            secret: carried,
            payload: webhookPayload("repo"),
          }),
        )
      ).status;
    expect(await Promise.all([secret, "forged"].map(statusWith))).toEqual([200, 403]);
    // Clients of the public URL can reach the whole server, but not read the owner's data.
    expect((await fetch(`${options.publicUrl}/_console/api/deliveries`)).status).toBe(401);
    expect(`${JSON.stringify(events)}${readFileSync(stateOf(project), "utf8")}`).not.toContain(secret);
    await session.close();
    expect(await urls()).toEqual([own.url]);
  });

  test("has a different secret each time, which appears in no event", async () => {
    const project = await openProject();
    const { hub, options } = await openRealHub();
    const secrets: string[] = [];
    const endpoint = await openFailingHub(hub.url, ({ method, body }) => {
      if (method === "POST") secrets.push(JSON.parse(body).secret);
      return undefined;
    });
    for (const time of [1, 2]) {
      const { session, events } = await startIn(project, { ...options, hubUrl: endpoint });
      const used = secrets[time - 1] ?? "";
      expect(used).toMatch(/^[0-9a-f]{64}$/);
      expect(`${JSON.stringify(events)}${readFileSync(stateOf(project), "utf8")}`).not.toContain(used);
      await session.close();
    }
    expect(new Set(secrets).size).toBe(2);
  });

  test("re-enables a suspended webhook, and creates a deleted one again", async () => {
    const project = await openProject({
      "server.ts": serverFile({
        retrain: {
          options: '{ watch: "dataset:me/data" }',
          handler: "() => { if (!globalThis.failed) { globalThis.failed = true; throw new Error('once'); } }",
        },
      }),
    });
    const { client, webhooks, options, push } = await openRealHub();
    const { until } = await startIn(project, { ...options, repairInterval: "100ms" });
    expect(await push()).toMatchObject([{ status: 500 }]);
    const { steps } = await until("webhooks");
    expect(steps).toEqual([expect.stringContaining("suspended")]);
    const [enabled] = await webhooks();
    expect(enabled?.disabled).toBe(false);
    await client.webhooks.delete(enabled?.id ?? "");
    await until("webhooks", 2);
    expect(await webhooks()).toMatchObject([{ url: `${options.publicUrl}/webhooks/retrain` }]);
    expect(await push()).toMatchObject([{ status: 200 }]);
  });

  test("deletes the webhooks of a killed session", async () => {
    const project = await openProject({ "server.ts": `${watchingFile}\nconsole.log("pid " + process.pid);` });
    const { urls, options, push } = await openRealHub();
    const killed = spawn(process.execPath, [fileURLToPath(new URL("session-process.ts", import.meta.url))], {
      env: {
        ...process.env,
        ...{ FILE: join(project.path, "server.ts"), STATE: stateOf(project), HUB: options.hubUrl },
        PORT: String(options.port),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void killed.kill("SIGKILL"));
    const lines: string[] = [];
    for await (const line of createInterface({ input: killed.stdout })) {
      lines.push(line);
      if (line.startsWith("ready ")) break;
    }
    const pid = Number(lines.find((line) => line.startsWith("pid "))?.slice(4));
    expect(await push()).toMatchObject([{ status: 200 }]);

    // A session that runs at the same time does not delete its webhooks.
    const port = await freePort();
    const beside = { ...options, port, publicUrl: `http://127.0.0.1:${port}` };
    const { session } = await startIn(project, beside);
    expect(await urls()).toHaveLength(2);
    await session.close();
    expect(await urls()).toEqual([`${options.publicUrl}/webhooks/retrain`]);

    killed.kill("SIGKILL");
    await once(killed, "exit");
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await urls()).toEqual([`${options.publicUrl}/webhooks/retrain`]);
    const { until } = await startIn(project, beside);
    expect((await until("webhooks")).steps).toEqual([expect.stringMatching(/^deleted webhook .* of retrain/)]);
    expect(await urls()).toEqual([`${beside.publicUrl}/webhooks/retrain`]);
  });

  test("leaves no webhooks and no resources if it is aborted while it starts", async () => {
    const project = await openProject();
    const { hub, urls, options } = await openRealHub();
    const making = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const endpoint = await openFailingHub(hub.url, async ({ method }) => {
      if (method !== "POST") return undefined;
      making.resolve();
      await goOn.promise;
      return undefined;
    });
    const stopping = new AbortController();
    const intervals = vi.spyOn(globalThis, "setInterval");
    onTestFinished(() => intervals.mockRestore());
    const started = startDev({
      ...{ ...optionsIn(project), ...options, hubUrl: endpoint },
      ...{ repairInterval: 12_345, signal: stopping.signal },
    });
    await making.promise;
    stopping.abort(new Error("no longer wanted"));
    goOn.resolve();
    await expect(started).rejects.toThrow("no longer wanted");
    expect(await urls()).toEqual([]);
    expect(intervals).not.toHaveBeenCalledWith(expect.anything(), 12_345);
    await expect(fetch(options.publicUrl)).rejects.toThrow();
    const again = startDev({ ...optionsIn(project), ...options, signal: stopping.signal });
    await expect(again).rejects.toThrow("no longer wanted");
  });

  test("rejects with the error of the Hub, and leaves nothing open", async () => {
    const project = await openProject();
    const { options } = await openRealHub();
    const wrong = startDev({ ...optionsIn(project), ...options, token: "hf_wrong" });
    await expect(wrong).rejects.toMatchObject({ code: "HUB_UNAUTHORIZED" });
    await expect(fetch(options.publicUrl)).rejects.toThrow();
  });

  test("reports webhooks that it could not delete, and the next session deletes them", async () => {
    const project = await openProject();
    const { hub, urls, options } = await openRealHub();
    let refuses = true;
    const endpoint = await openFailingHub(hub.url, ({ method }) => (refuses && method === "DELETE" ? 403 : undefined));
    const first = await startIn(project, { ...options, hubUrl: endpoint });
    await first.session.close();
    expect(await first.until("problem")).toMatchObject({ message: expect.stringContaining("sync --clean") });
    expect(await urls()).toHaveLength(1);
    refuses = false;
    const second = await startIn(project, { ...options, hubUrl: endpoint });
    await second.until("webhooks");
    expect(await urls()).toHaveLength(1);
    await second.session.close();
    expect(await urls()).toEqual([]);
  });
});

/** A program that receives deliveries without this package, such as one in Python. */
function createProgram(answer: { status: number }) {
  const received: { headers: IncomingHttpHeaders; body: unknown }[] = [];
  const program = createServer(async (request, response) => {
    const chunks = await request.toArray();
    received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(answer.status).end("noted");
  });
  return { program, received };
}

async function openForward(port: number) {
  const project = await openProject();
  vi.stubEnv("WEBHOOK_SECRET", "shared-5ecret");
  onTestFinished(() => void vi.unstubAllEnvs());
  return startIn(project, {
    file: undefined,
    forward: `http://127.0.0.1:${port}/hook?a=1`,
    watch: ["dataset:me/data"],
  });
}

test("A session passes deliveries on to a program, and keeps what arrives while it does not run", async () => {
  const port = await freePort();
  const { session } = await openForward(port);
  for (let count = 0; count < 3; count += 1) {
    expect(await push(session)).toMatchObject([{ status: 202 }]);
  }
  const { program, received } = createProgram({ status: 200 });
  await listenOnPort(program, { port });
  onTestFinished(() => void program.close());
  await expect.poll(() => received.length, { timeout: 20_000 }).toBe(3);
  expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
  for (const { headers, body } of received) {
    expect(headers).toMatchObject({ "content-type": "application/json", "x-webhook-secret": "shared-5ecret" });
    expect(body).toMatchObject({ repo: { name: "me/data" }, event: webhookPayload("repo.content").event });
  }
});

/** Returns the outcomes that the server logged. */
const outcomesIn = (events: readonly DevEvent[]) =>
  events.flatMap((event) => (event.event === "output" ? (/"outcome":"(\w+)"/.exec(event.text)?.[1] ?? []) : []));

test.each([500, 302])(
  "A session does not send a delivery again after the program responded with %i",
  async (status) => {
    const { program, received } = createProgram({ status });
    const port = await listenOnPort(program);
    onTestFinished(() => void program.close());
    const { session, events } = await openForward(port);
    await push(session);
    await expect.poll(() => outcomesIn(events), { timeout: 20_000 }).toEqual(["dead"]);
    expect(received).toHaveLength(1);
  },
);

test("A session does not wait for the end of an endless answer of the program", async () => {
  const answer = function* () {
    for (;;) yield "x".repeat(1_024);
  };
  const program = createServer((_request, response) => void Readable.from(answer()).pipe(response));
  const port = await listenOnPort(program);
  onTestFinished(() => void program.close());
  const { session, events } = await openForward(port);
  await push(session);
  await expect.poll(() => outcomesIn(events), { timeout: 20_000 }).toEqual(["succeeded"]);
});
