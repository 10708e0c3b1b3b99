import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { LocalHub } from "../../../src/local-hub.ts";
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

async function push(content: string): Promise<void> {
  await client.repo(repo).commit({ message: "Change data", files: { "data.csv": content } });
}

describe("hub-webhooks catch-up", () => {
  test("shows with --dry-run what is missing, then delivers it once", async () => {
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

  test("exits with 1 if a handler fails, and leaves the delivery in the inbox", async () => {
    await catchUp();
    await push("1");
    vi.stubEnv("BOT_IS_BROKEN", "1");
    const { exitCode, stdout } = await catchUp("--format", "json");
    expect([exitCode, JSON.parse(stdout).statuses]).toEqual([1, { queued: 1 }]);
  });

  test("starts with --since earlier than the last run, without what has run", async () => {
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

  test("exits with 1 if it is stopped", async () => {
    const stopped = Promise.resolve();
    const { exitCode, stderr } = await runCommand(["catch-up", join(folder, "server.ts")], { stopped });
    expect([exitCode, stderr]).toEqual([1, "Stopped. The next run continues.\n"]);
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
