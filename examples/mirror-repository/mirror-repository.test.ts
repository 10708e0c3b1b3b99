import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled, webhookPayload } from "hub-webhooks/testing";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { mirror } from "./mirror.ts";
import { createServer } from "./server.ts";

vi.stubEnv("LOG_LEVEL", "silent");

const data = { type: "dataset", name: "acme/data" } as const;
const secret = "s3cret";
let root: string;
let source: string;
let target: string;
let work: string;

const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).trim();
const inWork = (...args: string[]) => git("-C", work, "-c", "user.name=me", "-c", "user.email=me@example.com", ...args);
const refsOf = (repository: string) => git("ls-remote", "--heads", "--tags", repository).split("\n").filter(Boolean);

function commit(text: string): void {
  writeFileSync(join(work, "data.csv"), text);
  inWork("add", "data.csv");
  inWork("commit", "--quiet", "--message", text);
}

function mirrorRefs(_repo: unknown, refs: readonly string[], signal: AbortSignal = new AbortController().signal) {
  return mirror({ source: { url: source }, target: { url: target }, refs, folder: join(root, "mirror.git") }, signal);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "mirror-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  [source, target, work] = [join(root, "source.git"), join(root, "target.git"), join(root, "work")];
  git("init", "--quiet", "--bare", "--initial-branch=main", source);
  git("init", "--quiet", "--bare", "--initial-branch=main", target);
  git("clone", "--quiet", source, work);
  commit("first");
  inWork("push", "--quiet", "origin", "HEAD:refs/heads/main", "HEAD:refs/heads/dev");
});

describe("mirror-repository", () => {
  test("mirrors a push that the Hub delivers, once", async () => {
    await using hub = await LocalHub.launch();
    const copy = vi.fn(mirrorRefs);
    await using server = createServer(copy, { secret });
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    const { webhooks } = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    await webhooks.create({ url: `${url}/webhooks/mirror_repository`, watched: [data], domains: ["repo"], secret });
    const sha = inWork("rev-parse", "HEAD");
    const ref = "refs/heads/main";
    const convert = { ref: "refs/convert/parquet", oldSha: null, newSha: sha };
    const [delivery] = await hub.push(data, { updatedRefs: [{ ref, oldSha: null, newSha: sha }, convert] });
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(copy.mock.calls).toEqual([[data, [ref], expect.any(AbortSignal)]]);
    expect(refsOf(target)).toEqual([`${sha}\t${ref}`]);
    await webhooks.replay(delivery?.webhookId ?? "", delivery?.logId ?? "");
    await settled(server);
    expect(copy).toHaveBeenCalledOnce();
  });

  test.each([
    ["a pull request", "refs/pr/1"],
    ["the conversion to Parquet", "refs/convert/parquet"],
  ])("ignores %s", async (_event, ref) => {
    const copy = vi.fn(mirrorRefs);
    const payload = webhookPayload("repo.content", { updatedRefs: [{ ref, oldSha: null, newSha: "1" }] });
    expect(await createServer(copy).receive(payload)).toMatchObject({ status: "ignored" });
    expect(copy).not.toHaveBeenCalled();
  });
});

describe("mirror", () => {
  test("copies the refs of a push, and no other", async () => {
    await mirrorRefs(data, ["refs/heads/main"]);
    expect(refsOf(target)).toEqual(refsOf(source).filter((line) => line.endsWith("refs/heads/main")));
  });

  test("copies new commits, rewritten branches and tags", async () => {
    await mirrorRefs(data, ["refs/heads/main", "refs/heads/dev"]);
    commit("second");
    inWork("tag", "--annotate", "v1", "--message", "v1");
    inWork("push", "--quiet", "origin", "HEAD:refs/heads/main", "v1");
    inWork("commit", "--quiet", "--amend", "--message", "rewritten");
    inWork("push", "--quiet", "--force", "origin", "HEAD:refs/heads/dev");
    await mirrorRefs(data, ["refs/heads/main", "refs/heads/dev", "refs/tags/v1"]);
    inWork("push", "--quiet", "--force", "origin", "HEAD:refs/heads/main");
    await mirrorRefs(data, ["refs/heads/main"]);
    expect(refsOf(target)).toEqual(refsOf(source));
    expect(refsOf(target)).toHaveLength(4);
  });

  test("deletes branches and tags, also when a delivery runs twice", async () => {
    await mirrorRefs(data, ["refs/heads/main", "refs/heads/dev"]);
    inWork("push", "--quiet", "origin", "--delete", "dev");
    await mirrorRefs(data, ["refs/heads/dev", "refs/heads/main"]);
    await mirrorRefs(data, ["refs/heads/dev"]);
    expect(refsOf(target)).toEqual(refsOf(source));
  });

  test("replaces a branch by a folder of branches", async () => {
    await mirrorRefs(data, ["refs/heads/dev"]);
    inWork("push", "--quiet", "origin", "--delete", "dev");
    await mirrorRefs(data, ["refs/heads/dev"]);
    inWork("push", "--quiet", "origin", "HEAD:refs/heads/dev/docs");
    await mirrorRefs(data, ["refs/heads/dev/docs"]);
    expect(refsOf(target)).toEqual(refsOf(source).filter((line) => line.endsWith("refs/heads/dev/docs")));
  });

  test("deletes a branch that was never mirrored", async () => {
    await mirrorRefs(data, ["refs/heads/gone"]);
    inWork("push", "--quiet", target, "HEAD:refs/heads/old");
    await mirrorRefs(data, ["refs/heads/old"]);
    expect(refsOf(target)).toEqual([]);
  });

  test("sends tokens in a header, which no argument and no error contains", async () => {
    const headers: (string | undefined)[] = [];
    const remote = createHttpServer(({ headers: { authorization } }, response) => {
      headers.push(authorization);
      response.writeHead(403).end();
    });
    await new Promise<void>((resolve) => remote.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void remote.close());
    const address = remote.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const failed = mirror(
      {
        source: { url: `http://127.0.0.1:${port}/source.git`, authorization: "Basic c291cmNl" },
        target: { url: `http://127.0.0.1:${port}/target.git`, authorization: "Basic dGFyZ2V0" },
        refs: ["refs/heads/main"],
        folder: join(root, "mirror.git"),
      },
      AbortSignal.timeout(10_000),
    );
    const error: unknown = await failed.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining("403") });
    expect(JSON.stringify(error) + String(error)).not.toMatch(/c291cmNl|dGFyZ2V0/);
    await vi.waitFor(() => expect(headers.sort()).toEqual(["Basic c291cmNl", "Basic dGFyZ2V0"]));
  });
});
