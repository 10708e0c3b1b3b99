// @module-tag slow

import { createServer, type IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import type { DevEvent } from "../../src/dev/dev-event.ts";
import { webhookPayload } from "../../src/testing.ts";
import { freePort, listenOnPort } from "../support/free-port.ts";
import { openProject, push, startIn } from "./dev-project.ts";

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

test.each(["ftp://localhost/hook", "localhost:8000", ""])(
  "A session refuses to pass deliveries on to %j",
  async (forward) => {
    const project = await openProject();
    await expect(startIn(project, { file: undefined, forward })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  },
);
