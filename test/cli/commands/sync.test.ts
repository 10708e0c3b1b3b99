// @module-tag slow

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TemporaryWebhooks } from "../../../src/registration/temporary.ts";
import { openTestHub, secret, type TestHub } from "../../registration/test-hub.ts";
import { root } from "../../support/project-folder.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { binPath, CommandProcess, canMakeTerminal, startOnTerminal } from "../command-process.ts";
import { type RunOptions, type RunResult, runCommand, runWithPrompts } from "../run-command.ts";
import { startStandInHub, wireWebhook } from "../stand-in-hub.ts";

const publicUrl = "http://127.0.0.1:7860";

/** A folder with a server file and the installed package. */
class Project {
  readonly folder = createFolder();
  readonly file = join(this.folder, "server.ts");
  readonly state = join(this.folder, "state.json");
  readonly testHub: TestHub;

  constructor(testHub: TestHub) {
    this.testHub = testHub;
    mkdirSync(join(this.folder, "node_modules"));
    symlinkSync(root, join(this.folder, "node_modules", "hub-webhooks"));
    this.write({ retrain: '{ watch: "dataset:me/data", scope: "repo.content" }' });
  }

  /** Writes the server file with these endpoints: options as source code, by name. */
  write(endpoints: Record<string, string>, options = `{ secret: "${secret}" }`): void {
    const lines = Object.entries(endpoints).map(
      ([name, options]) => `server.webhook("${name}", ${options}, () => {});`,
    );
    writeFileSync(
      this.file,
      `import { WebhooksServer } from "hub-webhooks";
       const server = new WebhooksServer(${options});
       ${lines.join("\n")}
       console.log("printed by the file");
       export default server;
       await server.launch();`,
    );
  }

  sync(words: string, options: Omit<RunOptions, "hub"> = {}): Promise<RunResult> {
    const argv = `sync ${this.file} --public-url ${publicUrl} --state ${this.state} ${words}`;
    return runCommand(argv.trim(), { hub: this.testHub.hub, ...options });
  }

  clean(words: string): Promise<RunResult> {
    return runCommand(`sync --clean --state ${this.state} ${words}`, { hub: this.testHub.hub });
  }

  /** Creates a webhook that a killed session would leave behind. */
  async leaveTemporary(): Promise<string> {
    const session = { id: "former", alive: { url: "http://127.0.0.1:9/alive", answer: "it lives" } };
    const webhooks = await TemporaryWebhooks.open({ client: this.testHub.client, state: this.state, session });
    const endpoint = { name: "tried", watch: [{ type: "org" as const, name: "acme" }], domains: ["repo" as const] };
    const { done } = await webhooks.reconcile({ endpoints: [endpoint], publicUrl, secret: null });
    return done[0]?.id ?? "";
  }
}

async function openProject(): Promise<Project> {
  return new Project(await openTestHub());
}

describe("hub-webhooks sync", () => {
  test("creates missing webhooks, and changes nothing the second time", async () => {
    const project = await openProject();
    const first = await project.sync("");
    const [webhook] = await project.testHub.webhooks();
    expect(webhook).toMatchObject({ url: `${publicUrl}/webhooks/retrain`, domains: ["repo"], secret });
    expect(first).toEqual({
      exitCode: 0,
      stdout: [
        `Changed on ${project.testHub.hub.url}, server ${publicUrl}:`,
        `+ retrain  ${webhook?.id}`,
        `    url      ${publicUrl}/webhooks/retrain`,
        "    watched  dataset:me/data",
        "    domains  repo",
        "    secret   set",
        "",
      ].join("\n"),
      stderr: "",
    });
    expect(await project.sync("")).toEqual({
      exitCode: 0,
      stdout: `No changes needed on ${project.testHub.hub.url}, server ${publicUrl}.\n= 1 unchanged\n`,
      stderr: "",
    });
  });

  test("warns about a server without a secret, unless the webhooks get one", async () => {
    const project = await openProject();
    project.write({ retrain: '{ watch: "dataset:me/data" }' }, "{ secret: false }");
    const open = await project.sync("--dry-run --format json");
    expect(open.stderr).toMatch(/^warning: The server has no secret.*WEBHOOK_SECRET.*--secret-stdin/);
    expect(JSON.parse(open.stdout)).toBeDefined();
    const given = await project.sync("--dry-run --secret-stdin", { input: "s3cret\n" });
    expect(given.stderr).toBe("");
  });

  test("keeps the secret on the Hub if the server has none, and removes it on request", async () => {
    const project = await openProject();
    project.write({ retrain: '{ watch: "dataset:me/data" }' });
    await project.sync("");
    project.write({ retrain: '{ watch: "dataset:me/data" }' }, "{ secret: false }");
    const kept = await project.sync("");
    expect(kept).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("--remove-secret") });
    expect(await project.testHub.webhooks()).toMatchObject([{ secret }]);
    const removed = await project.sync("--remove-secret");
    expect(removed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("    secret   removed") });
    expect(await project.testHub.webhooks()).not.toMatchObject([{ secret: expect.anything() }]);
  });

  test("warns about likely mistakes in the options of an endpoint", async () => {
    const project = await openProject();
    project.write({ retrain: '{ watch: "dataset:me/data", scope: "repo.contnt" }' });
    const { stderr } = await project.sync("--dry-run");
    expect(stderr).toContain('warning: Endpoint retrain: Option "scope" is "repo.contnt", which is unknown');
  });

  test("shows the changes as a diff with --dry-run, without making them", async () => {
    const project = await openProject();
    project.write({
      retrain: '{ watch: "dataset:me/data" }',
      paused: '{ watch: "user:me" }',
      old: '{ watch: "user:me" }',
    });
    await project.sync("");
    const before = await project.testHub.webhooks();
    const [retrain, paused, old] = before.map(({ id }) => id);
    await project.testHub.client.webhooks.disable(paused ?? "");
    project.write({
      retrain: '{ watch: ["org:acme", "dataset:me/data"], domains: "discussion" }',
      paused: '{ watch: "user:me" }',
      fresh: '{ watch: "model:me/net" }',
      quiet: "{}",
    });
    const { exitCode, stdout, stderr } = await project.sync("--dry-run --prune");
    expect(stdout.split("\n")).toEqual([
      `To be changed on ${project.testHub.hub.url}, server ${publicUrl}:`,
      `~ retrain  ${retrain}`,
      "    watched  dataset:me/data -> dataset:me/data, org:acme",
      "    domains  discussion, repo -> discussion",
      `! paused  ${paused}`,
      "    enable: the webhook was disabled",
      "+ fresh",
      `    url      ${publicUrl}/webhooks/fresh`,
      "    watched  model:me/net",
      "    domains  repo, discussion",
      "    secret   set",
      `- old  ${old}`,
      "    delete: the endpoint no longer exists",
      "",
    ]);
    expect(stderr).toMatch(/^note: Endpoint "quiet" has no webhook.*\n$/);
    expect(exitCode).toBe(0);
    expect((await project.testHub.webhooks()).map(({ watched }) => watched)).toEqual(
      before.map(({ watched }) => watched),
    );
  });

  test("has colors only on a terminal", async () => {
    const project = await openProject();
    const green = "\u001b[32m+ retrain\u001b[39m";
    expect((await project.sync("--dry-run", { isTerminal: true })).stdout).toContain(green);
    expect((await project.sync("--dry-run")).stdout).toContain("\n+ retrain\n");
  });

  test("prints the report as JSON, or only the IDs", async () => {
    const project = await openProject();
    const planned = await project.sync("--dry-run --format json");
    expect(JSON.parse(planned.stdout)).toMatchObject({
      ...{ hubUrl: project.testHub.hub.url, publicUrl, dryRun: true, done: [], failed: [], skipped: [], unchanged: [] },
      steps: [{ action: "create", endpoint: "retrain", watched: [{ type: "dataset", name: "me/data" }] }],
    });
    const { stdout } = await project.sync("--format quiet");
    const [{ id } = { id: "" }] = await project.testHub.webhooks();
    expect(stdout).toBe(`${id}\n`);
    const nothing = await project.sync("--format json");
    expect(JSON.parse(nothing.stdout)).toMatchObject({
      dryRun: false,
      steps: [],
      unchanged: [{ endpoint: "retrain", id }],
    });
    expect(await project.sync("--format quiet")).toMatchObject({ exitCode: 0, stdout: "" });
  });

  test("reports failures, makes the other changes, and exits with 1", async () => {
    const project = await openProject();
    project.write({ retrain: '{ watch: "dataset:me/data" }', other: '{ watch: "user:me" }' });
    await project.sync("");
    project.write({ retrain: '{ watch: "dataset:me/new" }', other: '{ watch: "user:me" }' });
    const argv = ["sync", project.file, "--public-url", publicUrl, "--state", project.state, "--hub-url"];
    const { exitCode, stdout, stderr } = await runCommand([...argv, project.testHub.hub.url, "--token", "hf_read"]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(":\n= 1 unchanged\n");
    expect(stderr).toMatch(
      /^error: Could not update the webhook of endpoint "retrain"\. .*read access only.*\nTo retry .* run sync again\.\n$/,
    );
  });

  test("lists updates that would lose a hidden secret as errors with --dry-run, and exits with 1", async () => {
    const project = await openProject();
    const hub = await startStandInHub([wireWebhook({ url: `${publicUrl}/webhooks/retrain`, hasSecret: true })]);
    project.write({ retrain: '{ watch: "user:me" }', fresh: '{ watch: "model:me/net" }' }, "{ secret: false }");
    const words = `sync ${project.file} --public-url ${publicUrl} --state ${project.state} --adopt --dry-run`;
    const { exitCode, stdout, stderr } = await runCommand(words, { hub });
    expect(exitCode).toBe(1);
    expect(stdout).toContain("+ fresh\n");
    expect(stdout).not.toContain("~ retrain");
    expect(stderr).toMatch(/^error: Cannot update the webhook of endpoint "retrain"\. .*--secret-stdin.*\n$/m);
  });

  test("never shows a secret", async () => {
    const project = await openProject();
    const runs = [
      await project.sync("--format json"),
      await project.sync("--secret-stdin", { input: "another-5ecret\n" }),
      await project.sync("--dry-run --format json"),
    ];
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(JSON.stringify(runs) + readFileSync(project.state, "utf8")).not.toMatch(/5ecret/);
    expect(await project.testHub.webhooks()).toMatchObject([{ secret: "another-5ecret" }]);
  });

  test("adopts other webhooks with --adopt, and reports them without it", async () => {
    const project = await openProject();
    const { id } = await project.testHub.create({ url: `${publicUrl}/webhooks/retrain` });
    const expected = await project.sync("");
    expect(expected).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^No changes needed/) });
    expect(expected.stderr).toMatch(new RegExp(`^note: Webhook ${id} .*--adopt.*\n$`));
    const { stdout } = await project.sync("--adopt");
    expect(stdout).toContain(`~ retrain  ${id}\n    adopted: the webhook was not created by sync\n`);
    expect(await project.testHub.webhooks()).toMatchObject([{ id, secret }]);
  });

  test("deletes with --prune only after a yes, or with --yes", async () => {
    const project = await openProject();
    await project.sync("");
    project.write({});
    const left = await project.sync("");
    expect(left).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("--prune") });
    expect(left.stderr).toContain("no endpoints");
    const calls = project.testHub.calls.length;
    const stderr = expect.stringMatching(/^error: .*--yes to confirm\.\n$/);
    expect(await project.sync("--prune")).toMatchObject({ exitCode: 2, stdout: "", stderr });
    expect(project.testHub.calls.length).toBe(calls);
    expect(await project.testHub.webhooks()).toHaveLength(1);
    const stdout = expect.stringContaining("\n- retrain");
    expect(await project.sync("--prune --yes")).toMatchObject({ exitCode: 0, stdout });
    expect(await project.testHub.webhooks()).toEqual([]);
  });

  test.each([
    ["PUBLIC_URL", { PUBLIC_URL: "http://127.0.0.1:9000/", SPACE_HOST: "me-bot.hf.space" }, "http://127.0.0.1:9000"],
    [
      "the URL of the Space",
      { PUBLIC_URL: "", SPACE_ID: "me/bot", SPACE_HOST: "me-bot.hf.space" },
      "https://me-bot.hf.space",
    ],
  ])("uses %s if no public URL is given", async (_what, env, address) => {
    const project = await openProject();
    await runCommand(`sync ${project.file} --state ${project.state}`, { hub: project.testHub.hub, env });
    expect(await project.testHub.webhooks()).toMatchObject([{ url: `${address}/webhooks/retrain` }]);
  });

  test("finds server.ts, and keeps its state in .hub-webhooks, in the current folder", async () => {
    const { folder, testHub } = await openProject();
    const words = `cd "${folder}" && "${process.execPath}" "${binPath}" sync --public-url ${publicUrl}`;
    const env = { HF_ENDPOINT: testHub.hub.url, HF_TOKEN: "hf_local" };
    const { exitCode, stderr } = await new CommandProcess("sh", ["-c", words], env).ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await testHub.webhooks()).toHaveLength(1);
    expect(readFileSync(join(folder, ".hub-webhooks", "registrations.json"), "utf8")).toContain(testHub.hub.url);
    expect(readFileSync(join(folder, ".hub-webhooks", ".gitignore"), "utf8")).toBe("*\n");
  });

  test.each([
    [
      "a public URL with a query",
      "FILE --public-url https://bot.example/?a",
      "(--public-url, publicUrl in code) is inv",
    ],
    ["a secret to set and to remove", `FILE --public-url ${publicUrl} --remove-secret`, "removeSecret"],
    ["an empty secret", `FILE --public-url ${publicUrl} --secret-stdin`, "The secret is empty"],
    ["no terminal to ask on", "--clean", "Add --yes"],
  ])("exits with 2 for %s", async (_what, words, expected) => {
    const project = await openProject();
    const given = `sync ${words.replace("FILE", project.file)}`;
    const { exitCode, stdout, stderr } = await runCommand(given, { hub: project.testHub.hub });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toContain(expected);
    expect(project.testHub.calls).toEqual([]);
  });

  test("reports a broken server file, and changes nothing", async () => {
    const project = await openProject();
    project.write({ retrain: '{ watch: "datset:me/data" }' });
    const { exitCode, stderr } = await project.sync("");
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('Did you mean "dataset"?');
    expect(await project.testHub.webhooks()).toEqual([]);
  });

  test("reports an invalid state file", async () => {
    const project = await openProject();
    writeFileSync(project.state, "{}");
    expect(await project.sync("")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--state") });
    expect(await project.testHub.webhooks()).toEqual([]);
  });
});

describe("hub-webhooks sync --clean", () => {
  test("deletes only webhooks that dev has left behind", async () => {
    const project = await openProject();
    await project.sync("");
    const id = await project.leaveTemporary();
    expect(await project.clean("--dry-run")).toEqual({
      exitCode: 0,
      stdout: `id\tendpoint\turl\tstate\n${id}\ttried\t${publicUrl}/webhooks/tried\tto be deleted\n`,
      stderr: "",
    });
    expect(await project.testHub.webhooks()).toHaveLength(2);
    const { exitCode, stdout } = await project.clean("--yes --format json");
    expect({ exitCode, removed: JSON.parse(stdout) }).toEqual({
      exitCode: 0,
      removed: [{ id, endpoint: "tried", url: `${publicUrl}/webhooks/tried`, deleted: true }],
    });
    expect((await project.testHub.webhooks()).map(({ url }) => url)).toEqual([`${publicUrl}/webhooks/retrain`]);
    expect(await project.clean("--yes")).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: expect.stringContaining("No webhooks to delete"),
    });
  });

  test("reports webhooks that cannot be deleted, and exits with 1", async () => {
    const project = await openProject();
    const id = await project.leaveTemporary();
    const readOnly = `--hub-url ${project.testHub.hub.url} --token hf_read`;
    const { exitCode, stderr } = await runCommand(`sync --clean --yes --state ${project.state} ${readOnly}`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(`^error: Could not delete webhook ${id}\\. .*\n$`));
    expect(await project.clean("--yes")).toMatchObject({ exitCode: 0 });
  });
});

describe("hub-webhooks sync on a terminal", () => {
  test.runIf(canMakeTerminal)("deletes webhooks of removed endpoints after yes", async () => {
    const project = await openProject();
    await project.sync("");
    project.write({});
    const words = `sync "${project.file}" --public-url ${publicUrl} --state "${project.state}" --prune`;
    const command = startOnTerminal(words, project.testHub.hub);
    await command.says(/Permanently delete webhook \w+ of retrain/);
    command.stdin.write("y");
    expect(await command.ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("- retrain") });
    expect(await project.testHub.webhooks()).toEqual([]);
  });

  test("keeps webhooks of removed endpoints after no", async () => {
    const project = await openProject();
    await project.sync("");
    project.write({});
    const before = await project.testHub.webhooks();
    const words = `sync ${project.file} --public-url ${publicUrl} --state ${project.state} --prune`;
    const prompts = [["Permanently delete webhook", "n"]] as const;
    const { exitCode, stderr } = await runWithPrompts(words, prompts, { hub: project.testHub.hub });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("Nothing was changed.") });
    expect(await project.testHub.webhooks()).toEqual(before);
  });

  test.each([
    ["y", 0],
    ["n", 1],
  ])("asks before it deletes webhooks that dev left behind: %s", async (key, remaining) => {
    const project = await openProject();
    const id = await project.leaveTemporary();
    const words = `sync --clean --state ${project.state}`;
    const prompts = [[`Permanently delete webhook ${id} of tried`, key]] as const;
    const { exitCode, stderr } = await runWithPrompts(words, prompts, { hub: project.testHub.hub });
    expect(exitCode).toBe(remaining);
    if (key === "n") expect(stderr).toContain("Nothing was changed.");
    expect(await project.testHub.webhooks()).toHaveLength(remaining);
  });
});
