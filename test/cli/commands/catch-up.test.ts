import { type EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/client.ts";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { webhookPayload } from "../../../src/payload/samples.ts";
import { changeFile } from "../../support/bucket-files.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { makeProject } from "../../support/project-folder.ts";
import { runCommand } from "../run-command.ts";

const repo = { type: "dataset", name: "local-user/data" } as const;

let hub: LocalHub;
let client: HubClient;
let folder: string;

/** A server whose handler fails if `BOT_IS_BROKEN` is set. */
const serverFile = `
import { WebhooksServer } from "hub-webhooks";
const server = new WebhooksServer({ secret: "a-secret-of-the-test" });
server.webhook("bot", { scope: "repo.content", watch: "dataset:local-user/data", background: true, catchUp: true }, () => {
  if (process.env.BOT_IS_BROKEN) throw new Error("broken");
});
export default server;
await server.launch();
`;

beforeEach(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const project = await makeProject({ "server.ts": serverFile });
  onTestFinished(() => project.remove(""));
  folder = project.path;
  vi.stubEnv("HF_ENDPOINT", hub.url);
  vi.stubEnv("HF_TOKEN", "hf_local");
  vi.stubEnv("LOG_LEVEL", "silent");
  vi.stubEnv("INBOX_URL", `sqlite:${join(folder, "inbox.db")}`);
  await hub.push(repo);
});

afterEach(() => hub.close());

function catchUp(...argv: readonly string[]): ReturnType<typeof runCommand> {
  return runCommand(["catch-up", join(folder, "server.ts"), ...argv], { stopped: new Promise(() => {}) });
}

/** Returns the exit code, and the number of deliveries in each status. */
async function statuses(): Promise<unknown[]> {
  const { exitCode, stdout } = await catchUp("--format", "json");
  return [exitCode, JSON.parse(stdout).statuses];
}

async function changeInbox(change: (inbox: Inbox) => Promise<unknown> | undefined): Promise<void> {
  const url = `sqlite:${join(folder, "inbox.db")}`;
  const inbox = await openInbox({ url, log: createMemoryLogger(), now: Date.now });
  await change(inbox);
  await inbox.close(0);
}

/** Ends the wait before the next attempt of each delivery. */
function makeDue(): void {
  const database = new DatabaseSync(join(folder, "inbox.db"));
  database.exec("UPDATE deliveries SET due_at = 0 WHERE status = 'queued'");
  database.close();
}

async function push(content: string): Promise<void> {
  await client.repo(repo).commit({ message: "Change data", files: { "data.csv": content } });
}

describe("hub-webhooks catch-up", () => {
  test("shows with --dry-run what is missing, then delivers it once", { tags: "slow" }, async () => {
    expect(await catchUp("--dry-run")).toMatchObject({ exitCode: 0, stdout: "" });
    await catchUp();
    await push("1");
    const row = /^bot\tdataset:local-user\/data\trepo\.content update\trefs\/heads\/main [\da-f]{7}\.\.[\da-f]{7}\n$/m;
    for (const argv of [["--dry-run"], []]) {
      expect(await catchUp(...argv)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(row) });
    }
    const { stdout } = await catchUp("--format", "json");
    expect(JSON.parse(stdout)).toEqual({
      endpoints: { bot: { isElsewhere: false, repositories: 1, total: 1, failed: 0, calls: 2, derived: [] } },
      statuses: {},
    });
  });

  test("shows some of the files of a bucket", async () => {
    hub.createBucket("me/store");
    writeFileSync(join(folder, "server.ts"), serverFile.replace("dataset:local-user/data", "bucket:me/store"));
    await changeFile(hub, "store/old", { body: "1" });
    await catchUp();
    for (const path of ["a", "b", "c"]) await changeFile(hub, `store/${path}`, { body: "1" });
    await changeFile(hub, "store/old", { method: "DELETE" });
    const { stdout } = await catchUp("--dry-run");
    expect(stdout).toContain("bot\tbucket:me/store\trepo.content update\tadd a, add b, add c, and 1 more\n");
    await catchUp();
    await changeFile(hub, "store/a", { method: "DELETE" });
    expect((await catchUp()).stdout).toContain("\tdelete a\n");
  });

  test("leaves a failed delivery in the inbox, runs it again when it is due, and exits with 1 if it fails", async () => {
    await catchUp();
    await push("1");
    vi.stubEnv("BOT_IS_BROKEN", "1");
    expect(await statuses()).toEqual([1, { queued: 1 }]);
    expect(await statuses()).toEqual([0, {}]);
    makeDue();
    expect(await statuses()).toEqual([1, { queued: 1 }]);
    makeDue();
    vi.stubEnv("BOT_IS_BROKEN", undefined);
    expect(await statuses()).toEqual([0, { succeeded: 1 }]);
  });

  test("does not wait for the deliveries of a paused endpoint", async () => {
    await catchUp();
    await push("1");
    await changeInbox((inbox) => inbox.pause("bot"));
    expect(await statuses()).toEqual([0, {}]);
  });

  test("does not wait for the deliveries of an endpoint that is paused meanwhile", async () => {
    const body = JSON.stringify(webhookPayload("repo.content"));
    for (const id of ["1", "2"]) {
      await changeInbox((inbox) => inbox.accept({ id, endpoint: "bot", body, receivedAt: new Date() }));
    }
    const pausing = serverFile
      .replace("() => {", '() => {\n  return server.inbox.pause("bot");')
      .replace("catchUp:", "concurrency: 1, catchUp:");
    writeFileSync(join(folder, "server.ts"), pausing);
    expect(await statuses()).toEqual([0, { succeeded: 1 }]);
  });

  test("does not wait for the deliveries of an endpoint that no longer runs in the background", async () => {
    const body = JSON.stringify(webhookPayload("repo.content"));
    await changeInbox((inbox) => inbox.accept({ id: "1", endpoint: "other", body, receivedAt: new Date() }));
    const other = 'server.webhook("other", {}, () => {});\nexport default server;';
    writeFileSync(join(folder, "server.ts"), serverFile.replace("export default server;", other));
    expect(await statuses()).toEqual([0, {}]);
  });

  test("reports another process that compares, and what to do if that has crashed", async () => {
    await catchUp();
    await changeInbox((inbox) => inbox.cursors?.claim({ key: "bot", holder: "another process", forMs: 60_000 }));
    expect(await catchUp()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("run the command again") });
  });

  test("starts with --since earlier than the last run, without what has run", { tags: "slow" }, async () => {
    await catchUp();
    await push("1");
    await catchUp();
    const pushes = async (since: string) => {
      const { stdout } = await catchUp("--since", since, "--dry-run", "--format", "json");
      return JSON.parse(stdout).endpoints.bot.derived.length;
    };
    expect([await pushes("all"), await pushes("1h")]).toEqual([1, 1]);
    await catchUp("--since", "all");
    expect(await pushes("all")).toBe(0);
  });

  test("refuses options for the Hub, which the server would not use", async () => {
    const { exitCode, stderr } = await catchUp("--hub-url", "http://127.0.0.1:1");
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("HF_ENDPOINT") });
  });

  test("exits with 1 if it is stopped", async () => {
    const stopped = Promise.resolve();
    const { exitCode, stderr } = await runCommand(["catch-up", join(folder, "server.ts")], { stopped });
    expect([exitCode, stderr]).toEqual([1, "Stopped. The next run continues.\n"]);
  });

  test("exits with 1 if it is stopped while the file loads", async () => {
    const slow = `
const released = new Promise((resolve) => process.once("test:release", resolve));
process.emit("test:loading");
await released;
process.emit("test:loaded");`;
    writeFileSync(join(folder, "server.ts"), `${serverFile}${slow}`);
    const [loaded, stopped] = [once(process, "test:loaded"), once(process, "test:loading").then(() => {})];
    const { exitCode, stderr } = await runCommand(["catch-up", join(folder, "server.ts")], { stopped });
    expect([exitCode, stderr]).toEqual([1, "Stopped. The next run continues.\n"]);
    (process as EventEmitter).emit("test:release");
    await loaded;
  });

  test.each([
    ["an unknown file", ["nothing.ts"], 1],
    ["an unknown option", ["--once-more"], 2],
    ["an unknown time", ["--since", "yesterday"], 2],
    ["a mere number", ["--since", "2"], 2],
    ["a future time", ["--since", "2999-01-01"], 2],
  ])("refuses %s", async (_name, argv, exitCode) => {
    expect((await runCommand(["catch-up", ...argv])).exitCode).toBe(exitCode);
  });
});
