// @module-tag slow

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { toCopiedTest, toStateQuery } from "../../../src/console/app/delivery/copies.ts";
import { formatQuery } from "../../../src/console/app/state.ts";
import type { TestState } from "../../../src/console/protocol/send.ts";
import { webhookPayload } from "../../../src/testing.ts";
import { ConsoleClient } from "../../local-hub/support/console-client.ts";
import { data, openLocalHub, pushed, type TestHub } from "../../local-hub/support/hub.ts";
import { openTarget } from "../../local-hub/support/target.ts";
import { createFolder } from "../../support/temporary-folder.ts";

const packageRoot = fileURLToPath(new URL("../../../", import.meta.url));

/** A bot that reads what changed: the added file, the removed one before the change, or the discussion. */
const bot = `import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer({ secret: "s3cret" });
server.webhook("check", { paths: ["data/**"] }, async ({ repo, updatedRefs }, { hub }) => {
  const { newSha, oldSha } = updatedRefs[0];
  const files = await hub.repo(repo).changedFiles({ from: oldSha ?? repo.headSha, to: newSha });
  const text = await hub.repo(repo).readText("data/train.csv", { revision: newSha });
  if (text !== "id;text\\n1;\\u00e9 $x\\n" || !files.some(({ path }) => path === "data/train.csv")) throw new Error(text);
});
server.webhook("reply", async ({ repo, discussion }, { hub }) => {
  await hub.repo(repo).comment(discussion.num, "Hello.");
  const { title } = await hub.repo(repo).discussion(discussion.num);
  if (title !== "Where is it from?") throw new Error(title);
});
server.webhook("broken", () => {
  throw new Error("No GPU is left");
});
export default server;
`;

/** Returns the test that the console copies for a delivery. */
async function copy(hub: TestHub, { endpoint, body }: { endpoint: string; body: string }): Promise<string> {
  const client = await ConsoleClient.signIn(hub.hub.createConsoleLink());
  const answer = await client.get(`recording/state?${formatQuery(toStateQuery(body) ?? {})}`);
  const { events, notes }: TestState = Object(answer.body);
  return toCopiedTest({ endpoint, status: "dead", body, state: { events, notes } }) ?? "";
}

/** Runs tests with vitest in a project of their own. Returns its report. */
async function runTests(
  tests: readonly string[],
): Promise<{ numPassedTests: number; numFailedTests: number; text: string }> {
  const folder = createFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(packageRoot, join(folder, "node_modules/hub-webhooks"));
  symlinkSync(join(packageRoot, "node_modules/vitest"), join(folder, "node_modules/vitest"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "server.ts"), bot);
  for (const [index, source] of tests.entries()) writeFileSync(join(folder, `copied-${index}.test.ts`), source);
  const vitest = join(packageRoot, "node_modules/vitest/vitest.mjs");
  const report = join(folder, "report.json");
  const options = ["run", "--root", folder, "--reporter=default", "--reporter=json", `--outputFile=${report}`];
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [vitest, ...options], { cwd: folder }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
  return { ...JSON.parse(readFileSync(report, "utf8")), text };
}

test("A copied test creates what its handler reads on a local Hub, and passes", { timeout: 60_000 }, async () => {
  const hub = await openLocalHub();
  const target = await openTarget();
  await hub.trigger({
    ...pushed,
    files: { "data/train.csv": "old", "data/old.csv": "", "logo.png": { base64: "AP8=" } },
  });
  await hub.create({ url: target.url, domains: ["repo", "discussion"] });
  const files = { "data/train.csv": "id;text\n1;\u00e9 $x\n", "data/old.csv": null };
  const title = "Where is it from?";
  const discussion = { isPullRequest: true, title };
  await hub.trigger({ repo: data, event: { scope: "discussion", action: "create" }, discussion, files });
  await hub.trigger({ ...pushed, files });
  await hub.trigger({ repo: data, event: { scope: "discussion", action: "create" }, discussion: { title } });
  const bodies = target.requests.map(({ body }) => body);
  expect(bodies).toHaveLength(4);
  const endpoints = ["reply", "check", "check", "reply"];
  const tests = await Promise.all(bodies.map((body, index) => copy(hub, { endpoint: endpoints[index] ?? "", body })));
  expect(tests[2]).toMatch(/logo\.png": \{ base64: "AP8=" \}/);
  const { numPassedTests, numFailedTests, text } = await runTests(tests);
  expect({ numPassedTests, numFailedTests }, text).toEqual({ numPassedTests: 4, numFailedTests: 0 });
});

test("A copied test that fails shows the error of the handler and its line", { timeout: 60_000 }, async () => {
  const body = JSON.stringify(webhookPayload("repo.content"));
  const { numFailedTests, text } = await runTests([toCopiedTest({ endpoint: "broken", status: "dead", body }) ?? ""]);
  expect({ numFailedTests, text: stripVTControlCharacters(text) }).toEqual({
    numFailedTests: 1,
    text: expect.stringMatching(/Error: No GPU is left\n.*server\.ts:\d+/),
  });
});

test("A copied test of an unknown repository, or of a commit of another Hub, needs no Hub", async () => {
  const hub = await openLocalHub();
  const target = await openTarget();
  await hub.create({ url: target.url });
  await hub.trigger();
  const body = target.requests[0]?.body ?? "";
  const other = await openLocalHub();
  await other.trigger({ ...pushed, files: { other: "" } });
  for (const source of [
    await copy(other, { endpoint: "e", body }),
    await copy(hub, { endpoint: "e", body: body.replaceAll("me/data", "me/none") }),
  ]) {
    expect(source).toContain('import server from "./server.ts"');
    expect(source).not.toContain("LocalHub");
  }
});

test("A copied test names what it could not contain", async () => {
  const hub = await openLocalHub();
  const target = await openTarget();
  await hub.create({ url: target.url });
  const copyOf = async (files: Record<string, string>) => {
    await hub.trigger({ ...pushed, files });
    return copy(hub, { endpoint: "e", body: target.requests.at(-1)?.body ?? "" });
  };
  expect(await copyOf({ "large.bin": "x".repeat(1_048_577), small: "" })).toContain("// large.bin was not recorded");
  expect(await copyOf({ long: "x".repeat(50_000) })).toContain(
    "// The files of the repository are too large for a test.",
  );
});
