// @module-tag slow

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { findingKinds } from "../../../src/receiver/checks/checks.ts";
import { openTestHub } from "../../registration/test-hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { root } from "../../support/project-folder.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { runCommand, runWithPrompts } from "../run-command.ts";

const secret = "Planted-5ecret-60ad2c";
const consoleToken = "Planted-console-t0ken";
const serverFile = `
import { WebhooksServer } from ${JSON.stringify(join(root, "dist/index.js"))};
const server = new WebhooksServer();
server.webhook("retrain", { watch: "dataset:local-user/data" }, () => "done");
export default server;
`;

/** The folder of a project whose server runs, but is not registered. */
async function openProject() {
  const testHub = await openTestHub();
  const folder = createFolder();
  await writeFile(join(folder, "server.ts"), serverFile);
  await writeFile(join(folder, ".env"), `WEBHOOK_SECRET=${secret}\nCONSOLE_TOKEN=${consoleToken}\n`);
  const hub = { hubUrl: testHub.hub.url, token: "hf_local" };
  const server = new WebhooksServer({ secret, consoleToken, hub, logger: createMemoryLogger() });
  server.webhook("retrain", () => "done");
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  return { testHub, folder, words: ["doctor", "--url", url, "--folder", folder] };
}

describe("hub-webhooks doctor", () => {
  test("shows each check, the problems with their commands, and with --fix a healthy server", async () => {
    const { testHub, words, folder } = await openProject();
    const found = await runCommand(words, testHub);
    expect(found.exitCode).toBe(1);
    expect(found.stdout).toContain("✓ Test delivery           Each endpoint proved address, routing, and secret");
    expect(found.stdout).toContain("✗ Webhooks                WEBHOOK_MISSING An endpoint has no webhook");
    expect(found.stdout).toContain(`\n${" ".repeat(26)}$ cd ${folder} && npx hub-webhooks sync --public-url http://`);
    expect(found.stdout).toContain(` --adopt --hub-url ${testHub.hub.url}\n`);
    expect(found.stdout).toContain("11 passed, 0 fixed, 2 skipped, 1 problem");
    const fixed = await runCommand([...words, "--fix", "--yes", "--format", "json"], testHub);
    const results = fixed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results.find(({ check }) => check === "webhooks")).toMatchObject({
      status: "fixed",
      code: "WEBHOOK_MISSING",
    });
    expect(fixed.exitCode).toBe(0);
    expect(await testHub.webhooks()).toMatchObject([{ secret }]);
    expect(await readFile(join(folder, ".hub-webhooks/registrations.json"), "utf8")).toContain("retrain");
    expect(JSON.stringify([found, fixed])).not.toContain("Planted");
  });

  test("asks before each repair", async () => {
    const { testHub, words } = await openProject();
    const declined = await runWithPrompts([...words, "--fix"], [["Reconcile the webhooks", "n"]], testHub);
    expect([declined.exitCode, await testHub.webhooks()]).toEqual([1, []]);
    const accepted = await runWithPrompts([...words, "--fix"], [["Reconcile the webhooks", "y"]], testHub);
    expect([accepted.exitCode, await testHub.webhooks()]).toEqual([0, [expect.anything()]]);
  });

  test("checks the Space of the last deployment by default", async () => {
    const { testHub, folder } = await openProject();
    await mkdir(join(folder, ".hub-webhooks"), { mode: 0o700 });
    await writeFile(join(folder, ".hub-webhooks/deploy.json"), '{"space":"local-user/deleted"}');
    const { exitCode, stdout } = await runCommand(["doctor", "--folder", folder], testHub);
    expect(exitCode).toBe(1);
    expect(stdout).toContain("SPACE_NOT_FOUND");
    expect(stdout).toContain("npx hub-webhooks deploy local-user/deleted --hub-url ");
  });

  test.each([
    ["no server", []],
    ["two servers", ["--url", "https://bot.example", "--space", "me/bot"]],
    ["an invalid URL", ["--url", "ftp://bot.example"]],
    ["an invalid Space", ["--space", "bot"]],
    ["--fix without a terminal", ["--space", "me/bot", "--fix"]],
  ])("refuses %s", async (_what, words) => {
    const { exitCode, stdout, stderr } = await runCommand(["doctor", "--folder", createFolder(), ...words]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^error: .+\n$/);
  });

  test("documents which codes --fix repairs", async () => {
    const page = await readFile(new URL("../../../docs/troubleshooting.md", import.meta.url), "utf8");
    const [, ...lists] = /`--fix` repairs ([^.]+)\. It only\s+reports ([^.]+)\./.exec(page) ?? [];
    const documented = lists.map((list) => [...list.matchAll(/`(\w+)`/g)].map(([, code]) => code).sort());
    const codes = Object.entries(findingKinds);
    expect(documented).toEqual(
      [true, false].map((isFixable) =>
        codes.flatMap(([code, kind]) => ("isFixable" in kind === isFixable ? [code] : [])).sort(),
      ),
    );
  });
});
