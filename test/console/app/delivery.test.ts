import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { toCopiedTest, toCurl, toStateQuery } from "../../../src/console/app/delivery/copies.ts";
import { subjectOf } from "../../../src/console/app/delivery/delivery-pane.tsx";
import { listSteps } from "../../../src/console/app/delivery/timeline.tsx";
import { formatQuery } from "../../../src/console/app/state.ts";
import type { AttemptInfo } from "../../../src/console/protocol/deliveries.ts";
import type { TestState } from "../../../src/console/protocol/send.ts";
import { type Outcome, WebhooksServer } from "../../../src/index.ts";
import { webhookPayload } from "../../../src/testing.ts";
import { ConsoleClient } from "../../local-hub/support/console-client.ts";
import { data, openLocalHub, pushed, type TestHub } from "../../local-hub/support/hub.ts";
import { openTarget } from "../../local-hub/support/target.ts";
import { createFolder } from "../../support/temporary-folder.ts";

/** Runs a copied test with a real server. Returns the payload that the handler received. */
async function run(source: string, endpoint: string): Promise<unknown> {
  let received: unknown;
  const server = new WebhooksServer({ secret: "s3cret" });
  server.webhook(endpoint, (_payload, { delivery }) => {
    received = JSON.parse(delivery.body);
  });
  const body = source.replace(/^import .*\n/gm, "");
  const runTest = new Function("webhookPayload", "server", "test", "expect", body);
  let finished: Promise<void> | undefined;
  runTest(
    webhookPayload,
    server,
    (_title: string, callback: () => Promise<void>) => {
      finished = callback();
    },
    (status: Outcome["status"]) => expect(status),
  );
  await finished;
  return received;
}

function copy(payload: unknown, endpoint = "retrain"): string {
  return toCopiedTest({ endpoint, status: "dead", body: JSON.stringify(payload) }) ?? "";
}

describe("The subject of a delivery", () => {
  const sha = "a".repeat(40);
  test.each<[payload: unknown, label: string | undefined]>([
    [webhookPayload("discussion", { discussion: { num: 3, isPullRequest: false } }), "discussion #3"],
    [webhookPayload("discussion.comment", { discussion: { num: 4, isPullRequest: true } }), "pull request #4"],
    [
      webhookPayload("repo.content", { updatedRefs: [{ ref: "refs/pr/1", oldSha: null, newSha: sha }] }),
      "commit aaaaaaa",
    ],
    [webhookPayload("repo.content", { updatedRefs: [{ ref: "refs/pr/1", oldSha: sha, newSha: null }] }), undefined],
    [webhookPayload("repo.config"), undefined],
    [null, undefined],
    [[], undefined],
    [{ discussion: null }, undefined],
    [{ discussion: { num: "1" } }, undefined],
    [{ updatedRefs: {} }, undefined],
    [{ updatedRefs: [null] }, undefined],
  ])("of %j is %s", (payload, label) => {
    expect(subjectOf(JSON.stringify(payload))?.label).toBe(label);
  });

  test("is unknown if the body is not JSON", () => {
    expect(subjectOf("{")).toBeUndefined();
  });
});

describe("Copy as test", () => {
  test("writes a payload as changes to the sample of its scope", () => {
    expect(
      copy(webhookPayload("repo.config", { repo: { type: "model", name: "acme/net" } })),
    ).toBe(`import { webhookPayload } from "hub-webhooks/testing";
import { expect, test } from "vitest";
import server from "./server.ts";

test("retrain handles repo.config update of acme/net", async () => {
  const payload = webhookPayload("repo.config", { repo: { type: "model", name: "acme/net" } });
  const outcome = await server.receive(payload, { endpoint: "retrain" });
  if (outcome.status === "failed") throw outcome.error;
  expect(outcome.status).toBe("succeeded");
});
`);
  });

  test.each([
    webhookPayload("repo.content"),
    webhookPayload("repo.content", { repo: { type: "bucket", name: "acme/files" } }),
    webhookPayload("repo.config", { updatedConfig: { private: undefined } }),
    {
      ...webhookPayload("discussion.comment", { comment: { content: "a\u2028b \u202e \u0024{x} `y` \\" } }),
      extra: [1, { a: null }],
    },
    webhookPayload("repo.content", { repo: { headSha: undefined, tags: [] }, updatedRefs: [] }),
  ])("runs with the same payload", async (payload) => {
    const expected: unknown = JSON.parse(JSON.stringify(payload));
    expect(await run(copy(payload, "acme/retrain"), "acme/retrain")).toEqual(expected);
  });

  test("writes the whole payload of an unknown scope", () => {
    const source = copy({ ...webhookPayload("repo"), event: { scope: "repo.new", action: "update" } });
    expect(source).not.toContain("webhookPayload");
    expect(source).toContain('scope: "repo.new"');
  });

  test("expects an ignored delivery to be ignored", () => {
    const body = JSON.stringify(webhookPayload("repo"));
    expect(toCopiedTest({ endpoint: "e", status: "ignored", body })).toContain('toBe("ignored")');
  });

  test("expects what the current filter decides, and comments what it does not", () => {
    const body = JSON.stringify(webhookPayload("repo"));
    const ignoring = toCopiedTest({ endpoint: "e", status: "queued", body, prediction: { ignored: "action update" } });
    expect(ignoring).toContain('toBe("ignored")');
    expect(ignoring).toContain("e ignores repo");
    const prediction = { condition: "if a changed file matches a\nb" };
    const depending = toCopiedTest({ endpoint: "e", status: "queued", body, prediction });
    expect(depending).toContain(
      "// The handler runs if a changed file matches a b. The Hub lists the changed files.\n",
    );
    expect(depending).toContain('toBe("succeeded")');
  });

  test.each(["", "[1]", "null", "{"])("has nothing to write for the body %j", (body) => {
    expect(toCopiedTest({ endpoint: "e", status: "dead", body })).toBeUndefined();
  });
});

test("Copy as curl quotes the body and leaves the secret to the shell", () => {
  expect(toCurl({ url: "https://h.example/webhooks/e", body: `{"a":"it's $HOME"}` })).toBe(
    [
      "curl https://h.example/webhooks/e",
      "--header 'Content-Type: application/json'",
      '--header "X-Webhook-Secret: $WEBHOOK_SECRET"',
      String.raw`--data-raw '{"a":"it'\''s $HOME"}'`,
    ].join(" \\\n  "),
  );
});

describe("The timeline", () => {
  const failed = (number: number, startedAt: number, message: string): AttemptInfo => ({
    ...{ number, startedAt, durationMs: 200, outcome: "failed" },
    error: { code: "HANDLER_FAILED", message },
  });

  test("has the next attempt and the newest one first, and the waits between them", () => {
    const timeline = [failed(1, 1_000, "a"), failed(2, 1_250, "b"), failed(3, 31_450, "c")];
    const [first, second, third] = timeline;
    expect(listSteps({ timeline, status: "retrying", nextAttemptAt: 99_000 })).toEqual([
      { type: "next", number: 4, at: 99_000 },
      { type: "attempt", attempt: third, isNewest: true, same: [] },
      { type: "wait", before: 3, ms: 30_000 },
      { type: "attempt", attempt: second, isNewest: false, same: [] },
      { type: "attempt", attempt: first, isNewest: false, same: [] },
    ]);
    expect(listSteps({ timeline: timeline.slice(0, 1), status: "dead" })).toHaveLength(1);
  });

  test("folds consecutive failures with the same error into one", () => {
    const timeline = ["a", "b", "b", "b", "a"].map((message, index) => failed(index + 1, index * 1_200, message));
    const steps = listSteps({ timeline, status: "dead" });
    const texts = (from: readonly (typeof steps)[number][]): unknown[] =>
      from.map((step) =>
        step.type === "attempt"
          ? [step.attempt.number, ...texts(step.same)]
          : `${step.type} ${"ms" in step && step.ms}`,
      );
    const wait = "wait 1000";
    expect(texts(steps)).toEqual([[5], wait, [4, wait, [3], wait, [2]], wait, [1]]);
  });

  test.each<[string, Partial<AttemptInfo>]>([
    ["another outcome", { outcome: "abandoned" }],
    ["another code", { error: { code: "HANDLER_TIMED_OUT", message: "a" } }],
    ["a stack of another place", { stack: "Error: a\n    at train (/app/server.ts:9:1)" }],
    ["no error", { error: undefined }],
  ])("does not fold an attempt with %s", (_what, changes) => {
    const timeline = [{ ...failed(1, 0, "a"), ...changes }, failed(2, 200, "a")];
    expect(listSteps({ timeline, status: "dead" })).toHaveLength(2);
  });
});

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
async function copyFor(hub: TestHub, { endpoint, body }: { endpoint: string; body: string }): Promise<string> {
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

test("A copied test creates what its handler reads on a local Hub, and passes", {
  tags: "slow",
  timeout: 60_000,
}, async () => {
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
  const tests = await Promise.all(
    bodies.map((body, index) => copyFor(hub, { endpoint: endpoints[index] ?? "", body })),
  );
  expect(tests[2]).toMatch(/logo\.png": \{ base64: "AP8=" \}/);
  const { numPassedTests, numFailedTests, text } = await runTests(tests);
  expect({ numPassedTests, numFailedTests }, text).toEqual({ numPassedTests: 4, numFailedTests: 0 });
});

test("A copied test that fails shows the error of the handler and its line", {
  tags: "slow",
  timeout: 60_000,
}, async () => {
  const body = JSON.stringify(webhookPayload("repo.content"));
  const { numFailedTests, text } = await runTests([toCopiedTest({ endpoint: "broken", status: "dead", body }) ?? ""]);
  expect({ numFailedTests, text: stripVTControlCharacters(text) }).toEqual({
    numFailedTests: 1,
    text: expect.stringMatching(/Error: No GPU is left\n.*server\.ts:\d+/),
  });
});

test("A copied test of an unknown repository, or of a commit of another Hub, needs no Hub", {
  tags: "slow",
}, async () => {
  const hub = await openLocalHub();
  const target = await openTarget();
  await hub.create({ url: target.url });
  await hub.trigger();
  const body = target.requests[0]?.body ?? "";
  const other = await openLocalHub();
  await other.trigger({ ...pushed, files: { other: "" } });
  for (const source of [
    await copyFor(other, { endpoint: "e", body }),
    await copyFor(hub, { endpoint: "e", body: body.replaceAll("me/data", "me/none") }),
  ]) {
    expect(source).toContain('import server from "./server.ts"');
    expect(source).not.toContain("LocalHub");
  }
});

test("A copied test names what it could not contain", { tags: "slow" }, async () => {
  const hub = await openLocalHub();
  const target = await openTarget();
  await hub.create({ url: target.url });
  const copyOf = async (files: Record<string, string>) => {
    await hub.trigger({ ...pushed, files });
    return copyFor(hub, { endpoint: "e", body: target.requests.at(-1)?.body ?? "" });
  };
  expect(await copyOf({ "large.bin": "x".repeat(1_048_577), small: "" })).toContain("// large.bin was not recorded");
  expect(await copyOf({ long: "x".repeat(50_000) })).toContain(
    "// The files of the repository are too large for a test.",
  );
});
