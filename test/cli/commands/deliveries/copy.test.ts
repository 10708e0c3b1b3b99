import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebhooksServer } from "../../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../../src/testing.ts";
import { freePort } from "../../../support/free-port.ts";
import { listen } from "../../../support/listen.ts";
import { createMemoryLogger } from "../../../support/memory-logger.ts";
import { runCommand } from "../../run-command.ts";

const consoleToken = "t0ken-of-the-owner";
const secret = "Planted-5ecret-77aa";
const env = { CONSOLE_TOKEN: consoleToken, WEBHOOK_SECRET: secret };
const neverStopped = new Promise<void>(() => {});

/** Launches a receiver whose endpoints note the deliveries that they run. */
async function launch(endpoints: readonly string[]) {
  const ran: { endpoint: string; id: string; body: string }[] = [];
  const server = new WebhooksServer({ secret, consoleToken, logger: createMemoryLogger() });
  for (const endpoint of endpoints) {
    server.webhook(endpoint, (_payload, { delivery: { id, body } }) => {
      ran.push({ endpoint, id, body });
      if (endpoint === "fails") throw new Error("It fails.");
    });
  }
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  return { server, url, ran };
}

function cut(response: ServerResponse): void {
  response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy());
}

async function openBoth(endpoints: readonly string[] = ["retrain"]) {
  const [deployed, laptop] = [await launch(endpoints), await launch(endpoints)];
  const payload = webhookPayload("repo.content", { repo: { name: "me/data" } });
  for (const endpoint of endpoints) {
    await deployed.server.fetch(deliveryRequest({ endpoint, payload, secret, id: "d-1" }));
  }
  const copy = (words: string, options: { env?: Record<string, string> } = {}) =>
    runCommand(`deliveries replay ${words} --from ${deployed.url} --to ${laptop.url}`, {
      env,
      stopped: neverStopped,
      ...options,
    });
  return { deployed, laptop, copy };
}

describe("hub-webhooks deliveries replay --from", () => {
  test("delivers a copy to a server on this machine, and changes nothing at the source", async () => {
    const { deployed, laptop, copy } = await openBoth();
    const result = await copy("d-1");
    expect(result).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringContaining("\t200\t") });
    expect(laptop.ran).toEqual([
      { endpoint: "retrain", id: expect.not.stringMatching("d-1"), body: deployed.ran[0]?.body },
    ]);
    expect(deployed.ran).toHaveLength(1);
  });

  test("exits with 1 if the copy fails, and prints of which delivery it is", async () => {
    const { copy } = await openBoth(["fails"]);
    const { exitCode, stdout } = await copy("d-1 --format json");
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ copyOf: { endpoint: "fails", id: "d-1" }, status: 500 });
  });

  test("needs the endpoint if several have a delivery with this ID", async () => {
    const { laptop, copy } = await openBoth(["retrain", "audit"]);
    expect(await copy("d-1")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--endpoint NAME") });
    expect(await copy("d-1 --endpoint audit")).toMatchObject({ exitCode: 0 });
    expect(laptop.ran).toMatchObject([{ endpoint: "audit" }]);
  });

  test.each<[words: string, exitCode: number, message: string, settings?: Record<string, string>]>([
    ["gone", 1, 'has no delivery "gone"'],
    ["gone --endpoint retrain", 1, 'has no delivery "gone"'],
    ["d-1", 2, "Set CONSOLE_TOKEN", {}],
    ["d-1", 1, "does not accept CONSOLE_TOKEN", { CONSOLE_TOKEN: "another-token-1234" }],
    ["d-1 d-2", 2, "one delivery"],
    ["d-1 --dead --endpoint retrain", 2, "one delivery"],
  ])("refuses what it cannot copy, and delivers nothing: %s", async (words, exitCode, message, settings = env) => {
    const { laptop, copy } = await openBoth();
    const result = await copy(words, { env: settings });
    expect(result).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(message) });
    expect(laptop.ran).toEqual([]);
  });

  test("refuses a body that the console cuts, and delivers nothing", async () => {
    const { deployed, laptop, copy } = await openBoth();
    const payload = { ...webhookPayload("repo.content"), padding: "x".repeat(1_100_000) };
    await deployed.server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret, id: "large" }));
    expect(await copy("large")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("1 MiB") });
    expect(laptop.ran).toEqual([]);
  });

  test("exits with 1 if the source does not run, and does not ask for another version", async () => {
    const source = await listen(createServer((_request, response) => response.writeHead(503).end("<html>")));
    const words = `deliveries replay d-1 --from ${source.url}`;
    const { exitCode, stderr } = await runCommand(words, { env, stopped: neverStopped });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("503. Try again later") });
  });

  test.each<[what: string, answer: RequestListener, message: RegExp]>([
    ["a page", (_request, response) => response.end("<html>"), /does not respond with JSON \(status 200\)/],
    ["nothing", (_request, response) => response.end(), /does not respond with JSON \(status 200\)/],
    ["a redirect", (_request, response) => response.writeHead(302, { location: "/login" }).end(), /redirects .*302/],
    ["half of an answer", (_request, response) => cut(response), /did not respond \(.+\)/],
    ["other JSON", (_request, response) => response.end("{}"), /has no console of this version/],
  ])("exits with 1 if the source answers with %s", async (_what, answer, message) => {
    const { url } = await listen(createServer(answer));
    const { exitCode, stderr } = await runCommand(`deliveries replay d-1 --from ${url}`, {
      env,
      stopped: neverStopped,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(message) });
  });

  test("says what is missing if no server listens, at the source or on this machine", async () => {
    const { deployed } = await openBoth();
    const closed = `http://127.0.0.1:${await freePort()}`;
    const run = (from: string, to: string) =>
      runCommand(`deliveries replay d-1 --from ${from} --to ${to}`, { env, stopped: neverStopped });
    expect(await run(deployed.url, closed)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("No server listens at"),
    });
    expect(await run(closed, deployed.url)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/did not respond \(.*ECONNREFUSED/),
    });
    expect(await run("bot.example", closed)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--from") });
  });
});
