import { mkdir, open, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HubClient } from "../../src/client.ts";
import { openEnvironmentFile, readProject } from "../../src/deploy/project.ts";
import { findDeployedSpace, RemoteSpace, rememberDeployment } from "../../src/deploy/remote-space.ts";
import { startSpace } from "../../src/deploy/start-space.ts";
import { RemoteServer } from "../../src/receiver/checks/remote-server.ts";
import { createFolder } from "../support/temporary-folder.ts";

const env = "SOME_OTHER=value-of-another-variable\n";

async function createProject(changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = createFolder();
  const files = { Dockerfile: "FROM node", "README.md": "---\nsdk: docker\n---\n", "server.ts": "", ".env": env };
  for (const [path, content] of Object.entries({ ...files, ...changes })) await writeFile(join(folder, path), content);
  return folder;
}

describe("The files of a project", () => {
  const listFiles = async (ignored: string) => {
    const folder = await createProject({ ".dockerignore": ignored, "notes.md": "" });
    await mkdir(join(folder, "src/tools"), { recursive: true });
    await writeFile(join(folder, "src/tools/a.ts"), "");
    const paths = [...(await readProject(folder, ".env")).keys()];
    return paths.filter((path) => /^(?:notes|server|src)/.test(path));
  };

  test.each([
    ["*\n!src\n", ["src/tools/a.ts"]],
    ["**\n!src/tools\n", ["src/tools/a.ts"]],
    ["src\n!src/tools/a.ts\n", ["notes.md", "server.ts", "src/tools/a.ts"]],
    ["./notes.md\n# server.ts\nsrc/tools/ \n", ["server.ts"]],
  ])("are those of the image: %j", async (ignored, paths) => {
    expect(await listFiles(ignored)).toEqual(paths);
  });

  test.each([
    ["a rule of a folder overrides one above", { ".gitignore": "*.csv\n", "src/.gitignore": "!sample.csv\n" }],
    ["a rule of a folder starts there", { "src/.gitignore": "/server.ts\n*.csv\n!sample.csv\n" }],
    ["the files of a folder", { ".gitignore": "src/*\n!src/sample.csv\n" }],
    ["the files below a folder", { ".gitignore": "src/**\n!src/sample.csv\n" }],
  ])("are those that git includes: %s", async (_what, rules) => {
    const folder = await createProject();
    await mkdir(join(folder, "src"));
    for (const path of ["src/sample.csv", "src/other.csv"]) await writeFile(join(folder, path), "");
    for (const [path, content] of Object.entries(rules)) await writeFile(join(folder, path), content);
    const paths = [...(await readProject(folder, ".env")).keys()];
    expect(paths.filter((path) => /csv|server/.test(path))).toEqual(["server.ts", "src/sample.csv"]);
  });

  test("do not contain the file with the secrets, even if its path goes through a link", async () => {
    const folder = await createProject({ "secrets.txt": "A=1" });
    const link = join(createFolder(), "link");
    await symlink(folder, link);
    for (const [from, to] of [
      [folder, link],
      [link, folder],
    ] as const) {
      const read = await readProject(from, join(to, "secrets.txt"));
      expect([...read.keys()]).toContain("server.ts");
      expect([...read.keys()]).not.toContain("secrets.txt");
    }
  });
});

describe("The folder of a project", () => {
  test("that does not exist, or whose files cannot be read, is named in the error", async () => {
    const missing = join(createFolder(), "missing");
    await expect(readProject(missing, ".env")).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
      message: expect.stringContaining(missing),
    });
    const unwritable = await openEnvironmentFile(join(missing, ".env"));
    await expect(unwritable.set("A", "1")).rejects.toMatchObject({ code: "DEPLOY_FAILED" });
    const env = join(createFolder(), ".env");
    await mkdir(env);
    await expect(openEnvironmentFile(env)).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
      message: expect.stringContaining(env),
    });
  });

  test("in which the state of a deployment cannot be written is named in the error", async () => {
    const folder = await createProject();
    await mkdir(join(folder, ".hub-webhooks/deploy.json"), { recursive: true, mode: 0o700 });
    await expect(rememberDeployment(folder, { space: "me/bot" })).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
      message: expect.stringContaining(folder),
    });
  });

  test("keeps the state of a deployment out of git", async () => {
    const folder = await createProject();
    await rememberDeployment(folder, { space: "me/bot" });
    expect(await findDeployedSpace(folder)).toBe("me/bot");
    expect(await readFile(join(folder, ".hub-webhooks/.gitignore"), "utf8")).toBe("*\n");
  });
});

describe("A file of secrets", () => {
  test("is replaced in one step, also behind a link, so that no value can be lost", async () => {
    const folder = await createProject();
    await symlink(join(folder, ".env"), join(folder, "link"));
    await using before = await open(join(folder, ".env"));
    await (await openEnvironmentFile(join(folder, "link"))).set("A", "1");
    expect(await before.readFile("utf8")).toBe(env);
    expect(await readFile(join(folder, ".env"), "utf8")).toBe(`${env}A=1\n`);
  });

  test("can start with a byte order mark", async () => {
    const folder = await createProject({ ".env": "\uFEFFA=1\n" });
    expect((await openEnvironmentFile(join(folder, ".env"))).get("A")).toBe("1");
  });

  test("counts as changed when an older file replaces it", async () => {
    const folder = await createProject({ older: "A=1\n" });
    await utimes(join(folder, "older"), new Date(0), new Date(0));
    const { changedAt } = await openEnvironmentFile(join(folder, ".env"));
    await rename(join(folder, "older"), join(folder, ".env"));
    expect((await openEnvironmentFile(join(folder, ".env"))).changedAt).toBeGreaterThanOrEqual(changedAt);
  });
});

test("Answers of the Hub that are no JSON or break off have error codes", async () => {
  const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
  const answers = [new Response("<html>"), new Response(cut)];
  const send: typeof fetch = async () => answers.shift() ?? new Response("{}");
  const remote = new RemoteSpace(new HubClient({ token: "hf_local", fetch: send }), "me/bot", { signal: undefined });
  await expect(remote.runtime()).rejects.toMatchObject({ code: "HUB_RESPONSE_INVALID" });
  await expect(remote.runtime()).rejects.toMatchObject({ code: "HUB_UNREACHABLE", retryable: true });
});

test("The state of the earlier version, which the Hub can still report after a commit, does not end the wait", async () => {
  const stages = ["BUILD_ERROR", "BUILD_ERROR", "BUILDING", "BUILD_ERROR", "SLEEPING", "A_NEW_STAGE", "RUNNING"];
  const send: typeof fetch = async (input) => {
    const { pathname } = new URL(String(input));
    if (pathname.includes("/logs/")) return new Response("");
    if (!pathname.endsWith("/runtime")) return Response.json({ private: false, host: "https://bot.example" });
    const stage = stages.shift() ?? "RUNNING";
    const sha = stage === "RUNNING" || stage === "BUILD_ERROR" ? "new" : "old";
    return Response.json({ stage, sha, hardware: { current: null } });
  };
  const remote = new RemoteSpace(new HubClient({ token: "hf_local", fetch: send }), "me/bot", { signal: undefined });
  const { signal } = new AbortController();
  const fetchReady = async () => Response.json({ status: "ok" });
  const serverAt = (url: string) => new RemoteServer({ url, fetch: fetchReady });
  const clock = { now: () => 0, sleep: async () => {} };
  const steps = startSpace({ space: remote, commit: "new", serverAt, signal, clock });
  for await (const _event of steps);
  expect(stages).toEqual([]);
});
