import { statSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { PassThrough } from "node:stream";
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { recordKey, recordNumber, recordPrefix } from "../../../../src/inbox/bucket/log.ts";
import type { Inbox } from "../../../../src/inbox/inbox.ts";
import { openInbox as openNamedInbox } from "../../../../src/inbox/open-inbox.ts";
import { migrations } from "../../../../src/inbox/sqlite/schema.ts";
import { WebhooksServer } from "../../../../src/index.ts";
import { LocalHub } from "../../../../src/local-hub.ts";
import { deliveryRequest, webhookPayload } from "../../../../src/testing.ts";
import { inboxFile } from "../../../inbox/inbox-file.ts";
import { openTestBucket } from "../../../inbox/openers.ts";
import { incoming, openInbox, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { freePort } from "../../../support/free-port.ts";
import { listen } from "../../../support/listen.ts";
import { createMemoryLogger } from "../../../support/memory-logger.ts";
import { keys, runCommand, runWithPrompts } from "../../run-command.ts";
import { filledInbox, hour, livelyInbox, received, settled, slowPoll } from "./filled-inbox.ts";

const replayDead = "deliveries replay --dead --endpoint retrain";

describe("hub-webhooks deliveries replay", () => {
  test("queues deliveries of any status again, and lists them", async () => {
    const { env, inbox } = await filledInbox();
    const soon = "by the running server, or at its next start";
    expect(await runCommand("deliveries replay good bad good", { env })).toEqual({
      exitCode: 0,
      stdout: `id\tendpoint\twas\treplayed\ngood\tretrain\tsucceeded\t${soon}\nbad\tretrain\tdead\t${soon}\n`,
      stderr: "",
    });
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 2, succeeded: 0, dead: 0 } });
  });

  test.each([
    ["deliveries replay bad --format json", [{ id: "bad", endpoint: "retrain", was: "dead" }]],
    ["deliveries replay bad --format quiet", "bad\n"],
    [`${replayDead} -y`, "endpoint\treplayed\nretrain\t1\n"],
    [`${replayDead} -y --format json`, { endpoint: "retrain", replayed: 1 }],
    [`${replayDead} -y --format quiet`, "1\n"],
  ])("prints the replayed deliveries, and replays no others: %s", async (words, expected) => {
    const { env, inbox } = await filledInbox();
    const stdout = typeof expected === "string" ? expected : `${JSON.stringify(expected, null, 2)}\n`;
    expect(await runCommand(words, { env })).toEqual({ exitCode: 0, stdout, stderr: "" });
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 1, succeeded: 1, dead: 0 } });
  });

  test("replays the others if one is unknown, and exits with 1", async () => {
    const { env, inbox } = await filledInbox();
    const result = await runCommand("deliveries replay gone bad lost --format quiet", { env });
    const stderr = expect.stringMatching(/^error: .*"gone".*\nerror: .*"lost".*\n$/);
    expect(result).toEqual({ exitCode: 1, stdout: "bad\n", stderr });
    expect(await inbox.get({ id: "bad", endpoint: "retrain" })).toMatchObject({ status: "queued" });
  });

  test("runs a running delivery again after its attempt", async () => {
    const { inbox, env } = livelyInbox();
    const first = Promise.withResolvers<void>();
    await inbox.accept(incoming("slow"));
    const runs = work(inbox, async ({ attempt }) => {
      if (attempt === 1) await first.promise;
      return succeeded;
    });
    await expect.poll(() => runs.length, slowPoll).toBe(1);
    expect(await runCommand("deliveries replay slow", { env })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("slow\tretrain\trunning\tafter the running attempt\n"),
    });
    expect(runs).toHaveLength(1);
    first.resolve();
    await expect.poll(() => runs.length, slowPoll).toBe(2);
    await settled(inbox, ["slow"]);
    expect(runs).toHaveLength(2);
  });

  test("replays the delivery of the given endpoint if two have the same id", async () => {
    const { env, inbox } = await filledInbox();
    await inbox.accept(received("bad", { endpoint: "audit" }));
    const { stdout } = await runCommand("deliveries replay bad --endpoint retrain", { env });
    expect(stdout).toContain("bad\tretrain\tdead");
    expect(await inbox.get({ id: "bad", endpoint: "retrain" })).toMatchObject({ status: "queued" });
  });

  test("exits with the reason if the inbox cannot be written", async () => {
    const { env, file } = await filledInbox();
    const database = new DatabaseSync(file);
    database.exec("CREATE TRIGGER broken BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'broken'); END");
    database.close();
    expect(await runCommand("deliveries replay bad --endpoint retrain --format quiet", { env })).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "error: The inbox could not be written (broken). Try again.\n",
    });
  });

  test("with --dead for an unknown endpoint replays no deliveries, and lists the known endpoints", async () => {
    const { env } = await filledInbox();
    const result = await runCommand("deliveries replay --dead --endpoint retrian -y --format quiet", { env });
    const stderr = expect.stringContaining("Endpoints with deliveries: notify, retrain.");
    expect(result).toEqual({ exitCode: 0, stdout: "0\n", stderr });
  });

  test.each([
    ["no terminal", { input: "y\n", isTerminal: true }],
    ["no terminal for the prompt", { input: Object.assign(new PassThrough(), { isTTY: true }) }],
  ])("with --dead requires --yes where there is %s, and replays nothing", async (_name, shell) => {
    const { env, inbox } = await filledInbox();
    const stderr = expect.stringMatching(/^error: .*--yes to confirm\.\n$/);
    expect(await runCommand(replayDead, { env, ...shell })).toEqual({ exitCode: 2, stdout: "", stderr });
    expect(await inbox.counts()).toMatchObject({ retrain: { dead: 1 } });
  });

  test.each([
    ["replays after yes", "y", { exitCode: 0 }, { dead: 0, queued: 1 }],
    ["does not replay after no", "n", { exitCode: 1, stdout: "" }, { dead: 1 }],
    ["does not replay after the default answer", keys.enter, { exitCode: 1, stdout: "" }, { dead: 1 }],
    ["does not replay after Ctrl+C", keys.interrupt, { exitCode: 1, stdout: "" }, { dead: 1 }],
  ])("with --dead asks with the number of deliveries, and %s", async (_name, key, result, counts) => {
    const { env, inbox } = await filledInbox();
    const question = 'Replay the dead delivery of endpoint "retrain"?';
    expect(await runWithPrompts(replayDead, [[question, key]], { env })).toMatchObject(result);
    expect(await inbox.counts()).toMatchObject({ retrain: counts });
  });

  describe("with --failed-since", () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(hour) + 3_600_000 });
      return () => void vi.useRealTimers();
    });

    test.each<[words: string, counts: object, message: string]>([
      ["--failed-since 1h -y", { queued: 1, succeeded: 1, dead: 0 }, ""],
      ["--failed-since 1h --endpoint retrain -y", { queued: 1, dead: 0 }, ""],
      ["--failed-since 1h --endpoint notify -y", { queued: 0, dead: 1 }, "still dead"],
      ["--failed-since 59m -y", { queued: 0, dead: 1 }, "still dead"],
    ])("replays what has died since and is still dead: %s", async (words, counts, message) => {
      const { env, inbox } = await filledInbox();
      const result = await runCommand(`deliveries replay ${words} --format quiet`, { env });
      const replayed = message === "" ? "bad\n" : "";
      expect(result).toEqual({ exitCode: 0, stdout: replayed, stderr: expect.stringContaining(message) });
      expect(await inbox.counts()).toMatchObject({ retrain: counts });
    });

    test.each([
      "--failed-since soon",
      "--failed-since 1h --dead --endpoint retrain",
      "--failed-since 1h bad",
      "--failed-since 1h",
    ])("replays nothing without a valid choice and confirmation: %s", async (words) => {
      const { env, inbox } = await filledInbox();
      expect(await runCommand(`deliveries replay ${words}`, { env })).toMatchObject({ exitCode: 2, stdout: "" });
      expect(await inbox.counts()).toMatchObject({ retrain: { dead: 1 } });
    });
  });

  test("with --dead does not ask if no delivery is dead", async () => {
    const { env } = await filledInbox();
    const { exitCode, stderr } = await runWithPrompts("deliveries replay --dead --endpoint notify", [], { env });
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain("Replay ");
  });
});

/** Creates a file of an older release with mostly deleted content. */
function oldFile(): { file: string; env: Record<string, string> } {
  const file = inboxFile();
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA journal_mode = WAL; ${migrations[0]}; PRAGMA application_id = 0x6877696e; PRAGMA user_version = 1`,
  );
  database.exec(`
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 200)
    INSERT INTO deliveries (endpoint, id, body, received_at, set_at, status, due_at)
      SELECT 'retrain', 'd' || number, hex(zeroblob(10000)), 1, 1, 'queued', 1 FROM numbers;
    DELETE FROM deliveries WHERE sequence > 3;
  `);
  database.close();
  return { file, env: { INBOX_URL: `sqlite:${file}`, NO_COLOR: "1" } };
}

describe("hub-webhooks deliveries compact", () => {
  test("frees unused space, and keeps the deliveries", async () => {
    const { file, env } = oldFile();
    expect(statSync(file).size).toBeGreaterThan(3_000_000);
    const { exitCode, stdout, stderr } = await runCommand("deliveries compact --format json", { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { bytesBefore, bytesAfter } = JSON.parse(stdout);
    expect(bytesBefore).toBeGreaterThan(3_000_000);
    expect(bytesAfter).toBe(statSync(file).size);
    expect(bytesAfter).toBeLessThan(300_000);
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA auto_vacuum").get()).toEqual({ auto_vacuum: 2 });
    database.close();
    const { inbox } = openInbox({ file });
    expect((await inbox.list()).deliveries.map(({ id }) => id)).toEqual(["d3", "d2", "d1"]);
  });

  test("shows both sizes", async () => {
    const { stdout } = await runCommand("deliveries compact", { env: oldFile().env, isTerminal: true });
    expect(stdout).toMatch(/Before\s+4\.\d MB\nAfter\s+0\.\d MB\n/);
  });

  test("refuses while a receiver has the inbox open, and changes nothing", async () => {
    const { file, env } = oldFile();
    const { inbox } = openInbox({ file });
    const before = statSync(file).size;
    const stderr = expect.stringMatching(/in use by another process\. Stop the server/);
    expect(await runCommand("deliveries compact", { env })).toEqual({ exitCode: 1, stdout: "", stderr });
    expect(statSync(file).size).toBe(before);
    expect((await inbox.list()).deliveries).toHaveLength(3);
  });

  test.each([
    ["redis://localhost:1", 2, "SQLite"],
    ["postgres://localhost:1/x", 2, "SQLite"],
    ["sqlite:FILE", 1, "There is no inbox"],
  ])("refuses an inbox that is not a file, and creates none: %s", async (url, exitCode, expected) => {
    const file = inboxFile();
    const stderr = expect.stringContaining(expected);
    const words = `deliveries compact --inbox ${url.replace("FILE", file)}`;
    expect(await runCommand(words)).toMatchObject({ exitCode, stderr });
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe("hub-webhooks deliveries with an inbox in a bucket", async () => {
  const hub = await LocalHub.launch();
  afterAll(() => hub.close());
  let buckets = 0;
  let env: Record<string, string> = {};

  beforeEach(() => {
    buckets += 1;
    env = { ...hub.createBucket(`local-user/inbox-${buckets}`), NO_COLOR: "1" };
  });

  /** Opens the inbox as a server does. */
  function openAsServer(): Promise<Inbox> {
    const readVariable = (name: string) => env[name];
    return openNamedInbox({ url: env.INBOX_URL, log: createMemoryLogger(), now: Date.now, readVariable });
  }

  test("lists, shows and counts deliveries while a server owns the inbox", async () => {
    const server = await openAsServer();
    await server.accept(incoming("a"));
    const stdout = expect.stringContaining("retrain");
    for (const words of ["list", "show a", "counts"]) {
      const result = await runCommand(`deliveries ${words} --format json`, { env });
      expect(result).toEqual({ exitCode: 0, stdout, stderr: "" });
    }
    expect(await server.accept(incoming("b"))).toEqual({ duplicate: false });
    await server.close(0);
  });

  test("replays only if no server owns the inbox, or on request", { tags: "slow" }, async () => {
    const server = await openAsServer();
    await server.accept(incoming("a"));
    const stderr = expect.stringContaining("--take-over");
    expect(await runCommand("deliveries replay a", { env })).toEqual({ exitCode: 1, stdout: "", stderr });
    expect(await server.accept(incoming("b"))).toEqual({ duplicate: false });
    expect(await runCommand("deliveries replay a --take-over", { env })).toMatchObject({ exitCode: 0 });
    await expect(server.accept(incoming("c"))).rejects.toMatchObject({ status: 503 });
    await server.close(0);
    expect(await runCommand("deliveries replay b", { env })).toMatchObject({ exitCode: 0 });
  });

  test("repairs damaged records", { tags: "slow" }, async () => {
    const server = await openAsServer();
    for (const id of ["a", "b"]) await server.accept(incoming(id));
    await server.close(0);
    const store = await openTestBucket(JSON.stringify(env));
    const numbers = (await store.list(recordPrefix)).map(({ key }) => recordNumber(key) ?? 0);
    const [, damaged = 0] = numbers;
    await store.put(recordKey(damaged), new TextEncoder().encode("torn"));
    const { exitCode, stdout } = await runCommand("deliveries repair --format json", { env });
    const repaired = [{ record: damaged, isReadable: false, recovered: 0 }];
    expect({ exitCode, repaired: JSON.parse(stdout) }).toEqual({ exitCode: 0, repaired });
    const again = await runCommand("deliveries repair", { env });
    expect(again).toMatchObject({ exitCode: 0, stderr: "The inbox has no damaged records.\n" });
  });

  test("reports an empty bucket and other kinds of inboxes", async () => {
    const stderr = expect.stringContaining(`There is no inbox at ${env.INBOX_URL}`);
    expect(await runCommand("deliveries list", { env })).toEqual({ exitCode: 1, stdout: "", stderr });
    const repair = await runCommand("deliveries repair --inbox sqlite:./none.db", { env });
    expect(repair.stderr).toContain("Only an inbox in a bucket");
  });
});

const consoleToken = "t0ken-of-the-owner";
const secret = "Planted-5ecret-77aa";
const variables = { CONSOLE_TOKEN: consoleToken, WEBHOOK_SECRET: secret };
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
      env: variables,
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
  ])(
    "refuses what it cannot copy, and delivers nothing: %s",
    async (words, exitCode, message, settings = variables) => {
      const { laptop, copy } = await openBoth();
      const result = await copy(words, { env: settings });
      expect(result).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(message) });
      expect(laptop.ran).toEqual([]);
    },
  );

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
    const { exitCode, stderr } = await runCommand(words, { env: variables, stopped: neverStopped });
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
      env: variables,
      stopped: neverStopped,
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(message) });
  });

  test("says what is missing if no server listens, at the source or on this machine", async () => {
    const { deployed } = await openBoth();
    const closed = `http://127.0.0.1:${await freePort()}`;
    const run = (from: string, to: string) =>
      runCommand(`deliveries replay d-1 --from ${from} --to ${to}`, { env: variables, stopped: neverStopped });
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
