import { type ExecFileException, execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkRepoAccess,
  commit,
  countCommits,
  createBranch,
  createRepo,
  datasetInfo,
  deleteBranch,
  deleteFile,
  deleteRepo,
  downloadFile,
  fileDownloadInfo,
  fileExists,
  listCommits,
  listDatasets,
  listFiles,
  listModels,
  listSpaces,
  modelInfo,
  pathsInfo,
  repoExists,
  spaceInfo,
  uploadFile,
  uploadFiles,
  whoAmI,
} from "@huggingface/hub";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HubClient } from "../../src/client.ts";
import { LocalHub } from "../../src/local-hub.ts";

/* Tests the Hub's official client for JavaScript with the local Hub, over sockets. */

const accessToken = "hf_local";
let hub: LocalHub;
/** The options of all calls. */
let options: { hubUrl: string; accessToken: string };

beforeAll(async () => {
  hub = await LocalHub.launch();
  options = { hubUrl: hub.url, accessToken };
});

afterAll(() => hub.close());

async function toArray<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const blob = (text: string) => new Blob([text]);

async function bytesOf(content: Blob | null = null): Promise<Uint8Array> {
  return new Uint8Array(await (content ?? blob("")).arrayBuffer());
}

/** Creates a model with the file `README.md`. */
async function createModel(name: string) {
  const repo = { type: "model", name: `local-user/${name}` } as const;
  const files = [{ path: "README.md", content: blob("---\nlicense: mit\n---\n") }];
  await createRepo({ ...options, repo, files });
  return repo;
}

describe("@huggingface/hub", () => {
  test("reads the user of a token", async () => {
    expect(await whoAmI(options)).toMatchObject({ type: "user", name: "local-user" });
  });

  test("creates, finds, and deletes repositories", async () => {
    const repo = { type: "dataset", name: "local-user/js-data" } as const;
    expect(await repoExists({ ...options, repo })).toBe(false);
    const made = await createRepo({ ...options, repo, private: true });
    expect(made.repoUrl).toBe(`${hub.url}/datasets/local-user/js-data`);
    expect(await repoExists({ ...options, repo })).toBe(true);
    expect(await repoExists({ hubUrl: hub.url, repo })).toBe(false);
    await expect(createRepo({ ...options, repo })).rejects.toMatchObject({ statusCode: 409 });
    expect(await datasetInfo({ ...options, name: repo.name })).toMatchObject({ id: made.id, private: true });
    await deleteRepo({ ...options, repo });
    expect(await repoExists({ ...options, repo })).toBe(false);
  });

  test("uploads, lists, downloads, and deletes files", async () => {
    const repo = await createModel("js-files");
    const files = [
      { path: "a.txt", content: blob("first") },
      { path: "folder/b c.txt", content: blob("second") },
    ];
    await uploadFiles({ ...options, repo, files });
    const listed = await toArray(listFiles({ ...options, repo, recursive: true }));
    expect(listed.map(({ path }) => path)).toEqual([
      ...[".gitattributes", "README.md", "a.txt", "folder", "folder/b c.txt"],
    ]);
    const downloaded = await downloadFile({ ...options, repo, path: "folder/b c.txt" });
    expect(await downloaded?.text()).toBe("second");
    expect(await fileDownloadInfo({ ...options, repo, path: "a.txt" })).toMatchObject({ size: 5 });
    expect(await pathsInfo({ ...options, repo, paths: ["a.txt", "folder"] })).toMatchObject([
      { path: "a.txt", type: "file", size: 5 },
      { path: "folder", type: "directory" },
    ]);
    await deleteFile({ ...options, repo, path: "a.txt" });
    expect(await fileExists({ ...options, repo, path: "a.txt" })).toBe(false);
    expect(await downloadFile({ ...options, repo, path: "a.txt" })).toBeNull();
  });

  test("uploads a binary file with LFS, and downloads parts of it", async () => {
    const repo = await createModel("js-large");
    const bytes = new Uint8Array(300_000).map((_, index) => index % 251);
    await uploadFile({ ...options, repo, file: { path: "weights.bin", content: new Blob([bytes]) } });
    const [file] = await pathsInfo({ ...options, repo, paths: ["weights.bin"] });
    expect(file).toMatchObject({ size: 300_000, lfs: { size: 300_000 } });
    const downloaded = await downloadFile({ ...options, repo, path: "weights.bin" });
    expect(Buffer.compare(await bytesOf(downloaded), bytes)).toBe(0);
    expect([...(await bytesOf(downloaded?.slice(251, 254)))]).toEqual([0, 1, 2]);
  });

  test("commits additions and deletions together, and lists the commits", async () => {
    const repo = await createModel("js-commits");
    await uploadFile({ ...options, repo, file: { path: "old.txt", content: blob("old") }, commitTitle: "Add old" });
    const made = await commit({
      ...{ ...options, repo, title: "Replace old", description: "With new." },
      operations: [
        { operation: "addOrUpdate", path: "new.txt", content: blob("new") },
        { operation: "delete", path: "old.txt" },
      ],
    });
    const listed = await toArray(listFiles({ ...options, repo }));
    expect(listed.map(({ path }) => path)).toEqual([".gitattributes", "README.md", "new.txt"]);
    const commits = await toArray(listCommits({ ...options, repo }));
    expect(commits.map(({ title }) => title)).toEqual(["Replace old", "Add old", "initial commit"]);
    expect(commits[0]).toMatchObject({ oid: made?.commit.oid, message: "With new." });
    expect(await countCommits({ ...options, repo })).toBe(3);
    const parentCommit = commits[1]?.oid ?? "";
    const late = { operation: "addOrUpdate", path: "late.txt", content: blob("late") } as const;
    await expect(commit({ ...options, repo, title: "Late", operations: [late], parentCommit })).rejects.toMatchObject({
      statusCode: 412,
    });
  });

  test("creates and deletes branches", async () => {
    const repo = await createModel("js-branches");
    await createBranch({ ...options, repo, branch: "dev/new" });
    await uploadFile({ ...options, repo, branch: "dev/new", file: { path: "x.txt", content: blob("x") } });
    expect(await fileExists({ ...options, repo, path: "x.txt", revision: "dev/new" })).toBe(true);
    expect(await fileExists({ ...options, repo, path: "x.txt" })).toBe(false);
    await expect(createBranch({ ...options, repo, branch: "dev/new" })).rejects.toMatchObject({ statusCode: 409 });
    await deleteBranch({ ...options, repo, branch: "dev/new" });
    await expect(fileExists({ ...options, repo, path: "x.txt", revision: "dev/new" })).resolves.toBe(false);
  });

  test("opens a pull request, which the client of this package merges", async () => {
    const repo = await createModel("js-pull-requests");
    const operations = [{ operation: "addOrUpdate", path: "x.txt", content: blob("x") } as const];
    const made = await commit({ ...options, repo, title: "Add x", operations, isPullRequest: true });
    expect(made?.pullRequestUrl).toBe(`${hub.url}/${repo.name}/discussions/1`);
    expect(await fileExists({ ...options, repo, path: "x.txt", revision: "refs/pr/1" })).toBe(true);
    const client = new HubClient({ hubUrl: hub.url, token: accessToken });
    await client.repo(repo).setStatus(1, "open");
    await client.repo(repo).merge(1);
    expect(await fileExists({ ...options, repo, path: "x.txt" })).toBe(true);
  });

  test("describes and lists models, datasets, and Spaces", async () => {
    const { name } = await createModel("js-info");
    const model = await modelInfo({ ...options, name, additionalFields: ["author", "tags", "sha", "cardData"] });
    expect(model).toMatchObject({
      ...{ name, author: "local-user", private: false, gated: false, cardData: { license: "mit" } },
      ...{ tags: ["license:mit", "region:us"], sha: expect.any(String), updatedAt: expect.any(Date) },
    });
    const models = await toArray(listModels({ ...options, search: { owner: "local-user", tags: ["license:mit"] } }));
    expect(models.map((found) => found.name)).toContain(name);
    const space = { type: "space", name: "local-user/js-space" } as const;
    await createRepo({ ...options, repo: space, sdk: "docker" });
    const described = await spaceInfo({ ...options, name: space.name, additionalFields: ["subdomain", "runtime"] });
    expect(described).toMatchObject({ sdk: "docker", subdomain: "local-user-js-space", runtime: { stage: "STOPPED" } });
    const spaces = await toArray(listSpaces({ ...options, search: { query: "js-space" } }));
    expect(spaces.map((found) => found.name)).toEqual([space.name]);
    expect(await toArray(listDatasets({ ...options, search: { owner: "acme" } }))).not.toEqual([]);
  });

  test("checks the access to a repository", async () => {
    const repo = { type: "model", name: "local-user/js-private" } as const;
    await createRepo({ ...options, repo, private: true });
    await expect(checkRepoAccess({ ...options, repo })).resolves.toBeUndefined();
    await expect(checkRepoAccess({ ...options, repo, accessToken: "hf_other" })).rejects.toMatchObject({
      statusCode: 404,
    });
  });
});

/*
 * Tests Python's client with the local Hub: the `hf` command that HF_CLI names, or with SLOW_TESTS=1 the one on the
 * PATH. Uses the example commands in its help, which differ between versions.
 */

const hf = process.env.HF_CLI ?? "hf";
const isWanted = process.env.HF_CLI !== undefined || process.env.SLOW_TESTS === "1";
/** Python takes seconds to start on a busy machine. */
const timeout = 300_000;
const home = mkdtempSync(join(tmpdir(), "python-client-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Ran {
  code: ExecFileException["code"];
  stdout: string;
  stderr: string;
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { PATH = "" } = process.env;
  const settings = { PATH, HOME: home, NO_COLOR: "1", HF_HUB_DISABLE_TELEMETRY: "1", ...env };
  return new Promise((resolve) => {
    execFile(hf, args, { env: settings }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr });
    });
  });
}

const isThere = isWanted && (await run(["--version"])).code === 0;
if (!isThere)
  console.warn("Skipped Python's client. Set HF_CLI to the hf command, or SLOW_TESTS=1 if hf is on the PATH.");

/** Returns the arguments of each example in a command's help. The help wraps long examples at spaces and hyphens. */
async function examplesOf(...command: string[]): Promise<string[][]> {
  const { stdout } = await run([...command, "--help"]);
  const [, section = ""] = /^Examples\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
  const text = section.replace(/-\n {2}(?!\$)/g, "-").replace(/\n {2}(?!\$)/g, " ");
  return [...text.matchAll(/^ {2}\$ hf (.+)$/gm)].map(([, line = ""]) => line.split(/\s+/));
}

describe.runIf(isThere)("The Python client with the local Hub", { timeout }, () => {
  let hub: LocalHub;
  beforeAll(async () => {
    hub = await LocalHub.launch({ attempts: 1 });
    return () => hub.close();
  });

  const ask = (...args: string[]) => run(args, { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" });

  test("reads the account of the token", async () => {
    for (const example of await examplesOf("auth", "whoami")) {
      const { code, stdout, stderr } = await ask(...example);
      expect(code, `${example.join(" ")}: ${stderr}`).toBe(0);
      expect(stdout).toMatch(/local-user[\s\S]*acme/);
    }
    expect((await run(["auth", "whoami"], { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_nobody" })).code).not.toBe(0);
  });

  test("lists the hardware for jobs", async () => {
    for (const example of await examplesOf("jobs", "hardware")) {
      const { code, stdout, stderr } = await ask(...example, "--format", "json");
      expect(code, `${example.join(" ")}: ${stderr}`).toBe(0);
      expect(stdout).toContain("rtx-pro-6000x8");
    }
  });

  test("runs the webhook examples of its help", async () => {
    const commands = ["create", "list", "info", "update", "disable", "enable", "delete"];
    const examples = (await Promise.all(commands.map((command) => examplesOf("webhooks", command)))).flat();
    expect(examples.length).toBeGreaterThanOrEqual(13);
    let id = await createdId();
    for (const example of examples) {
      // Replace the example's ID, which does not exist, and skip the confirmation of a deletion.
      const args = example.map((part) => (part === "abc123" ? id : part));
      if (example.includes("delete") && !example.includes("--yes")) args.push("--yes");
      const { code, stdout, stderr } = await ask(...args);
      expect(code, `${example.join(" ")}: ${stdout}${stderr}`).toBe(0);
      if (example.includes("delete")) id = await createdId();
    }
  });

  test("updates only the given fields of a webhook, and the secret", async () => {
    const id = await createdId();
    await ask("webhooks", "update", id, "--watch", "model:gpt2", "--domain", "repo");
    expect(await infoOf(id)).toMatchObject({
      url: "https://example.com/hook",
      watched: [{ type: "model", name: "gpt2" }],
      domains: ["repo"],
    });
    await ask("webhooks", "update", id, "--url", "https://new-url.com/hook");
    expect(await infoOf(id)).toMatchObject({ url: "https://new-url.com/hook", watched: [{ name: "gpt2" }] });
    const { stderr } = await ask("webhooks", "update", id, "--secret", "newsecret");
    expect(stderr).toContain('"domains" is missing');
    expect(await infoOf(id)).toMatchObject({ url: "https://new-url.com/hook", secret: "newsecret" });
  });

  async function createdId(): Promise<string> {
    const options = ["--url", "https://example.com/hook", "--watch", "org:HuggingFace", "--domain", "discussions"];
    const { stdout, stderr } = await ask("webhooks", "create", ...options);
    const [id] = /[0-9a-f]{24}/.exec(stdout) ?? [];
    if (id === undefined) throw new Error(`hf created no webhook: ${stdout}${stderr}`);
    return id;
  }

  async function infoOf(id: string): Promise<unknown> {
    return JSON.parse((await ask("webhooks", "info", id, "--format", "json")).stdout);
  }
});
