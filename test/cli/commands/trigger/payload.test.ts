import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parsePayload } from "../../../../src/index.ts";
import { repoTypes } from "../../../../src/payload/names.ts";
import { openTarget, openWatchedTarget } from "../../../local-hub/support/target.ts";
import { knownEvents } from "../../../support/payloads.ts";
import { createFolder } from "../../../support/temporary-folder.ts";
import { payloadOf, runTrigger } from "../../run-command.ts";

const fixtures = fileURLToPath(new URL("../../../fixtures/", import.meta.url));
const recordings = readdirSync(fixtures).filter((name) => name.endsWith(".json"));

/** Creates a file that is removed after the test. */
function temporaryFile(value: unknown): string {
  const path = join(createFolder(), "payload.json");
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
}

describe("A payload of trigger", () => {
  test.each(knownEvents)("is valid for every repository type: %s %s", async (scope, action) => {
    for (const type of repoTypes) {
      const moved = action === "move" ? "--set movedTo.name=me/new " : "";
      const url = "--url http://127.0.0.1:1/ --dry-run --format json";
      const words = `${type}:me/thing --scope ${scope} --action ${action} ${moved}${url}`;
      const { exitCode, stdout, stderr } = await runTrigger(words);
      expect(exitCode, stderr).toBe(0);
      const payload = parsePayload(JSON.parse(stdout).payload);
      expect(payload).toMatchObject({ event: { scope, action }, repo: { type, name: "me/thing" } });
      if (action === "move") expect(payload.movedTo).toEqual({ name: "me/new", owner: payload.repo.owner });
      expect("updatedFiles" in payload).toBe(scope === "repo.content" && type === "bucket");
      const isDoubtful = type === "bucket" && scope.startsWith("discussion");
      expect(stderr.includes("warning: ")).toBe(isDoubtful);
    }
  });

  test.each([
    [undefined, "update"],
    ["repo", "update"],
    ["repo.config", "update"],
    ["discussion", "create"],
    ["discussion.comment", "create"],
    ["repo.config.dois", "update"],
    ["discussion.comment.reaction", "update"],
  ])("has an action that fits the scope: %s", async (scope, action) => {
    const payload = await payloadOf(["dataset:me/data", ...(scope ? ["--scope", scope] : [])]);
    expect(payload).toMatchObject({ event: { scope: scope ?? "repo.content", action } });
  });

  test.each([
    ["--scope repo.contnt", 'scope "repo.contnt". Sending it anyway. Did you mean "repo.content"?'],
    ["--action updat", 'action "updat". Sending it anyway. Did you mean "update"?'],
    ["--action create", "With scope repo.content, the Hub is only known to send update, not create"],
  ])("is sent with a warning if the Hub does not send such payloads: %s", async (words, expected) => {
    const target = await openTarget();
    const { exitCode, stderr } = await runTrigger(`dataset:me/data ${words} --url ${target.url}`);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^warning: /);
    expect(stderr).toContain(expected);
    expect(target.requests).toHaveLength(1);
  });
});

describe("--set and --unset", () => {
  test("edit the payload in order, and parse values as JSON if possible", async () => {
    const payload = await payloadOf([
      "dataset:me/data",
      ...["--set", "repo.private=true", "repo.name=123", "note=", "text=a=b", 'quoted="5"', "list=[1]"],
      ...["--unset", "repo.owner", "note"],
      ...["--set", "updatedRefs.0.ref=refs/heads/dev", "note=again", "webhook.version=4", "nothing=null"],
    ]);
    expect(payload).toMatchObject({
      repo: { private: true, name: 123 },
      note: "again",
      text: "a=b",
      quoted: "5",
      list: [1],
      nothing: null,
      updatedRefs: [{ ref: "refs/heads/dev", newSha: expect.any(String) }],
      webhook: { id: expect.any(String), version: 4 },
    });
    expect(payload.repo).not.toHaveProperty("owner");
    expect(await payloadOf(["dataset:me/data", "--set", "note="])).toMatchObject({ note: "" });
  });

  test("move a repository to the name of --set movedTo.name", async () => {
    const { hub, target } = await openWatchedTarget();
    const move = "dataset:me/data --scope repo --action move --set movedTo.name=me/new";
    await runTrigger("dataset:me/data", { hub });
    expect(await runTrigger(move, { hub })).toMatchObject({ exitCode: 0 });
    await runTrigger("dataset:me/new", { hub });
    const [before, , after] = target.payloads;
    expect(after?.repo.id).toBe(before?.repo.id);
  });

  test("change comments, discussions, and the visibility on the local Hub", async () => {
    const { hub } = await openWatchedTarget();
    const triggerScope = (scope: string, ...set: string[]) =>
      runTrigger(["dataset:me/data", "--scope", scope, "--set", ...set], { hub });
    await triggerScope("discussion", "discussion.title=Broken rows", "comment.content=See row 7.");
    await triggerScope("discussion.comment", "comment.content=@bot hello");
    const { body } = await hub.request("GET /api/datasets/me/data/discussions/1");
    expect(body).toMatchObject({
      title: "Broken rows",
      events: [{ data: { latest: { raw: "See row 7." } } }, { data: { latest: { raw: "@bot hello" } } }],
    });
    await triggerScope("repo.config", "updatedConfig.private=true");
    expect((await hub.request("GET /_local/repositories")).text).toMatch(/"name":"me\/data",[^}]*"private":true/);
  });

  test("do not change prototypes", async () => {
    const payload = await payloadOf(["dataset:me/data", "--set", "__proto__.polluted=1", "repo.__proto__.polluted=1"]);
    expect(JSON.stringify(payload)).not.toContain("polluted");
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
  });
});

describe("--file", () => {
  test.each(recordings)("sends a recorded payload as it was: %s", async (name) => {
    const target = await openTarget();
    const file = join(fixtures, name);
    const { exitCode, stderr } = await runTrigger(`--file ${file} --url ${target.url}`);
    expect(exitCode, stderr).toBe(0);
    const { default: recorded } = await import(file, { with: { type: "json" } });
    expect(JSON.parse(target.requests[0]?.body ?? "")).toEqual(recorded);
  });

  test("sends a recorded payload through the local Hub, as of the webhook that fires", async () => {
    const { hub, target, webhookId } = await openWatchedTarget();
    const recorded = {
      ...(await payloadOf(["dataset:me/data", "--scope", "discussion.comment", "--set", "comment.hidden=true"])),
      webhook: { id: "another", version: 3, note: "kept" },
      extra: { "a.b": 1 },
      edits: "kept",
    };
    Reflect.deleteProperty(recorded.comment ?? {}, "content");
    expect(await runTrigger(["--file", temporaryFile(recorded)], { hub })).toMatchObject({ exitCode: 0 });
    const sent = JSON.parse(target.requests[0]?.body ?? "");
    expect(sent).toEqual({ ...recorded, webhook: { id: webhookId, version: 3, note: "kept" } });
  });

  test("merges fields into the payload, and --set overrides them", async () => {
    const file = temporaryFile({ repo: { private: true, likes: 5 }, note: "file", more: "file" });
    const payload = await payloadOf(["dataset:me/data", "--file", file, "--set", "more=set"]);
    expect(payload).toMatchObject({
      repo: { type: "dataset", name: "me/data", private: true, likes: 5, id: expect.any(String) },
      event: { scope: "repo.content", action: "update" },
      note: "file",
      more: "set",
    });
  });

  test("is overridden by the given repository, scope and action", async () => {
    const file = join(fixtures, "content-update-model.json");
    const payload = await payloadOf(["dataset:you/other", "--file", file, "--scope", "discussion"]);
    expect(payload).toMatchObject({
      event: { scope: "discussion", action: "create" },
      repo: { type: "dataset", name: "you/other", url: { web: "https://huggingface.co/datasets/you/other" } },
      discussion: { num: 1 },
    });
  });

  test("is read from standard input for -", async () => {
    const input = '\uFEFF{"note": "clé"}';
    expect(await payloadOf(["dataset:me/data", "--file", "-"], { input })).toMatchObject({ note: "clé" });
  });

  test.each([
    ["is not valid JSON", '{"note": horse}', "is not valid JSON"],
    ["is no object", '["horse"]', "is not an object"],
    ["has a field of the wrong kind", '{"discussion": {"num": "horse"}}', "discussion.num"],
    ["is too long", JSON.stringify({ note: "x".repeat(4_200_000) }), "too large. The maximum is 4 MiB"],
  ])("is refused where it %s, and not quoted", async (_name, text, expected) => {
    const file = temporaryFile(text);
    const { exitCode, stdout, stderr } = await runTrigger(`dataset:me/data --file ${file}`);
    expect(stderr).toContain(expected);
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).not.toContain("horse");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  test.each([
    ["does not exist", "/none/payload.json", "ENOENT"],
    ["contains a null character", "a\0b", "ERR_INVALID_ARG_VALUE"],
  ])("is refused if its path %s", async (_name, file, code) => {
    const { exitCode, stdout, stderr } = await runTrigger(["dataset:me/data", "--file", file]);
    expect(stderr).toContain(`cannot be read (${code}). Use the path of a JSON file`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });
});
