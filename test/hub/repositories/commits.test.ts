import { deleteFile, uploadFiles } from "@huggingface/hub";
import { describe, expect, test, vi } from "vitest";
import { findNeededWrites, readCommitFiles } from "../../../src/hub/repositories/create-commit.ts";
import { hashFile, toBase64 } from "../../../src/hub/repositories/file-content.ts";
import { allOf, rejectionOf } from "../scripted-hub.ts";
import { useLocalHub } from "./local-repositories.ts";

const open = useLocalHub();

const card = { message: "Add a card", files: { "README.md": "# Data\n" } };

describe("commit", () => {
  test("writes and deletes files and folders with any name", async () => {
    const { repo } = await open();
    const names = ["a b/ü'\".txt", "data/1.txt", "data/2/3.txt", "old.txt", "100%.txt", "a?b#c.txt"];
    const first = await repo.commit({
      message: "Add files",
      description: "For a test.",
      files: Object.fromEntries(names.map((name) => [name, `Content of ${name}`])),
    });
    expect(first.created).toBe(true);
    for (const name of names) expect(await repo.readText(name)).toBe(`Content of ${name}`);
    const second = await repo.commit({
      message: "Change files",
      files: { data: null, "old.txt": null, "missing.txt": null, "bytes.txt": new Uint8Array([104, 105]) },
      parent: first.oid,
    });
    const files = await allOf(repo.listFiles());
    expect(files.map(({ path }) => path).sort()).toEqual(
      [".gitattributes", "a b/ü'\".txt", "100%.txt", "a?b#c.txt", "bytes.txt"].sort(),
    );
    expect(await allOf(repo.commits())).toMatchObject([
      { id: second.oid, title: "Change files" },
      { id: first.oid, title: "Add files", message: "For a test." },
      { title: "initial commit" },
    ]);
    expect(await repo.changedFiles({ from: first.oid, to: second.oid })).toEqual([
      { path: "bytes.txt", status: "added" },
      { path: "data/1.txt", status: "deleted" },
      { path: "data/2/3.txt", status: "deleted" },
      { path: "old.txt", status: "deleted" },
    ]);
    expect(await repo.changedFiles({ from: null, to: second.oid })).toHaveLength(5);
  });

  test("does nothing if the branch contains the files", async () => {
    const { repo, connect, writes } = await open();
    const { oid } = await repo.commit(card);
    expect(await repo.commit(card)).toEqual({ oid, created: false });
    expect(await connect().commit({ ...card, message: "Other", parent: "0".repeat(40) })).toEqual({
      oid,
      created: false,
    });
    expect(await repo.commit({ message: "Delete", files: { missing: null } })).toEqual({ oid, created: false });
    expect(writes()).toHaveLength(1);
  });

  test("fails with HUB_CONFLICT if the parent is not the head", async () => {
    const { repo } = await open();
    const { oid: parent } = await repo.commit(card);
    await repo.commit({ message: "Two", files: { "a.txt": "a" } });
    expect(await rejectionOf(repo.commit({ message: "Three", files: { "a.txt": "b" }, parent }))).toMatchObject({
      code: "HUB_CONFLICT",
      status: 412,
    });
    expect(await repo.readText("a.txt")).toBe("a");
  });

  test.each(["answer", "request"] as const)("creates one commit if the %s is lost", async (loss) => {
    const { repo, network } = await open();
    const { sha: parent } = await repo.info();
    network.loseNext(/\/commit\/main$/, loss);
    const { oid, created } = await repo.commit({ ...card, parent });
    const commits = await allOf(repo.commits());
    expect({ head: commits[0]?.id, count: commits.length, created }).toEqual({ head: oid, count: 2, created: true });
  });

  test("finds the commit with the lost answer below a newer commit", async () => {
    const { repo, connect, network, observed } = await open({ signature: "bot" });
    const other = connect();
    let newer: Promise<unknown> | undefined;
    vi.mocked(Math.random).mockImplementation(() => {
      newer ??= other.commit({ message: "Newer", files: { "b.txt": "b" } });
      return 0.2; // Waits 0.1 s, so that the newer commit is complete.
    });
    network.loseNext(/\/commit\/main$/, "answer");
    const { oid } = await repo.commit(card);
    await newer;
    const [, commit] = await allOf(repo.commits());
    expect(commit).toMatchObject({ id: oid, title: "Add a card" });
    expect(observed).toContainEqual([{ kind: "commit", id: oid }]);
  });

  test("does not take the commit of someone else with the same files for its own", async () => {
    const { repo, connect, network, observed } = await open({ signature: "bot" });
    // An earlier commit with the same message.
    await repo.commit({ ...card, files: { "README.md": "earlier" } });
    const other = connect();
    let foreign: Promise<{ oid: string }> | undefined;
    vi.mocked(Math.random).mockImplementation(() => {
      foreign ??= other.commit({ ...card, message: "Same files" });
      return 0.98; // Waits half a second, so that the other commit is complete.
    });
    network.loseNext(/\/commit\/main$/, "request");
    const result = await repo.commit(card);
    expect(result).toEqual({ oid: (await foreign)?.oid, created: false });
    expect(observed).toContainEqual([]);
  });

  test("writes the signature and the marker into the description", async () => {
    const { repo } = await open({ signature: "bot" });
    await repo.commit(card);
    await repo.commit({ message: "Two", description: "Text", files: { a: "a" }, marker: "mirror" });
    const [second, first] = await allOf(repo.commits());
    expect(first?.message).toBe("Hub-Webhooks: bot");
    expect(second?.message).toBe("Text\n\nHub-Webhooks: bot mirror");
  });

  test("writes to a branch", async () => {
    const { repo, client } = await open();
    await client.fetch("/api/datasets/{name}/branch/dev", {
      method: "POST",
      params: { name: repo.ref.name },
      body: "{}",
    });
    const { oid } = await repo.commit({ ...card, branch: "dev" });
    const { branches } = await repo.refs();
    expect(branches.find(({ name }) => name === "dev")?.targetCommit).toBe(oid);
    expect(await rejectionOf(repo.readText("README.md"))).toMatchObject({ code: "HUB_NOT_FOUND" });
    expect(await repo.readText("README.md", { revision: "dev" })).toBe("# Data\n");
  });

  test.each([
    ["message", { ...card, message: " " }],
    ["files", { ...card, files: {} }],
    ["marker", { ...card, marker: "" }],
  ])("refuses an invalid %s before a request", async (field, request) => {
    const { repo, network } = await open();
    expect(await rejectionOf(repo.commit(request))).toMatchObject({ code: "ARGUMENT_INVALID", fields: [field] });
    expect(network.calls).toEqual([]);
  });
});

describe("A repository", () => {
  test("has information, refs, and a visibility", async () => {
    const { repo } = await open();
    const { oid } = await repo.commit(card);
    expect(await repo.info()).toMatchObject({ id: repo.ref.name, sha: oid, private: false });
    await repo.setVisibility("private");
    expect(await repo.info({ revision: oid })).toMatchObject({ sha: oid, private: true });
    expect(await repo.refs()).toMatchObject({ branches: [{ ref: "refs/heads/main", targetCommit: oid }], tags: [] });
  });
});

/** The number of bytes above which the Hub stores each file as a large file. */
const size = 10_500_000;

test("A large file that @huggingface/hub uploads is read, compared, and not committed again", {
  tags: "slow",
}, async () => {
  const { repo, client, network } = await open();
  const content = new Uint8Array(size).fill(7);
  const target = { hubUrl: client.hubUrl, accessToken: "hf_local", repo: repo.ref };
  await uploadFiles({
    ...target,
    files: [
      { path: "data.bin", content: new Blob([content]) },
      { path: "small.parquet", content: new Blob(["PAR1"]) },
    ],
    commitTitle: "Add data",
    useXet: false,
  });
  expect(await rejectionOf(repo.readBytes("data.bin"))).toMatchObject({ code: "FILE_TOO_LARGE" });
  const read = await repo.readBytes("data.bin", { maxBytes: size });
  expect(Buffer.compare(read, content)).toBe(0);
  expect(await repo.readText("small.parquet")).toBe("PAR1");

  const { sha } = await repo.info();
  const same = { message: "Add data", files: { "data.bin": content, "small.parquet": "PAR1" } };
  expect(await repo.commit(same)).toEqual({ oid: sha, created: false });
  expect(network.calls).not.toContainEqual(expect.stringContaining("/commit/"));

  await deleteFile({ ...target, path: "data.bin", commitTitle: "Delete data" });
  expect(await repo.changedFiles({ from: sha ?? null, to: "main" })).toEqual([{ path: "data.bin", status: "deleted" }]);
});

const text = (content: string) => new TextEncoder().encode(content);

describe("The files of a commit", () => {
  test("are text, bytes, or deleted", () => {
    const bytes = new Uint8Array([0, 255]);
    expect(readCommitFiles({ "a/ü b.txt": "ü", "b.bin": bytes, "c.txt": null, ".gitattributes": "" })).toEqual([
      { path: "a/ü b.txt", content: text("ü") },
      { path: "b.bin", content: bytes },
      { path: "c.txt", content: undefined },
      { path: ".gitattributes", content: text("") },
    ]);
  });

  test.each(["", "/a", "a/", "a//b", ".", "..", "../a", "a/./b", ".git/config", "a/.GIT/hooks", "a\0b", "\ud800"])(
    "cannot have the path %j",
    (path) => {
      expect(() => readCommitFiles({ [path]: "" })).toThrow(
        expect.objectContaining({ code: "ARGUMENT_INVALID", fields: [`files[${JSON.stringify(path)}]`] }),
      );
    },
  );

  test("cannot be empty, or text that UTF-8 cannot encode", () => {
    expect(() => readCommitFiles({})).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", fields: ["files"] }));
    expect(() => readCommitFiles({ a: "\udc00" })).toThrow(expect.objectContaining({ fields: ['files["a"]'] }));
    expect(() => Reflect.apply(readCommitFiles, undefined, [{ a: 7 }])).toThrow(
      expect.objectContaining({ fields: ['files["a"]'] }),
    );
  });

  test("are not needed if the revision contains them, as regular or large files", async () => {
    const existing = [
      { path: "same", type: "file", oid: "ce013625030ba8dba906f756967f9e9ca394464a" },
      { path: "large", type: "file", oid: "fa61e1ef71c9908c0926776a4aa3504b3a27f159" },
      { path: "other", type: "file", oid: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" },
      { path: "folder", type: "directory", oid: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" },
    ];
    const content = text("hello\n");
    const writes = ["same", "large", "other", "new"].map((path) => ({ path, content }));
    const deletions = ["same", "missing", "folder"].map((path) => ({ path, content: undefined }));
    expect(await findNeededWrites([...writes, ...deletions], existing)).toEqual([
      { path: "other", content, isFolder: false },
      { path: "new", content, isFolder: false },
      { path: "same", content: undefined, isFolder: false },
      { path: "folder", content: undefined, isFolder: true },
    ]);
  });

  test("of any size are encoded as base64", () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index * 7);
    expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
    expect(toBase64(new Uint8Array())).toBe("");
  });
});

// `git hash-object` prints these IDs.
test.each([
  ["", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"],
  ["hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"],
  ["Grüße 猫\n", "262fcf13bdd961f85e455b1c00713e2e3a8445e5"],
])("The ID of a file with the content %j is the ID of git", async (text, id) => {
  expect(await hashFile(new TextEncoder().encode(text))).toMatchObject({ blob: id });
});

test("The ID of a large file is the ID of its pointer", async () => {
  const pointer = "fa61e1ef71c9908c0926776a4aa3504b3a27f159";
  expect(await hashFile(new TextEncoder().encode("hello\n"))).toMatchObject({ pointer });
});

describe("A blob", () => {
  const parts = Array.from({ length: 5 }, (_, index) => new Uint8Array(300_000).fill(index));

  test("has the same IDs as its bytes, with and without the modules of Node", async () => {
    const expected = await hashFile(new Uint8Array(await new Blob(parts).arrayBuffer()));
    expect(await hashFile(new Blob(parts))).toEqual(expected);
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    expect(await hashFile(new Blob(parts))).toEqual(expected);
  });

  test("of more than 100 MB is refused in runtimes that cannot hash parts", async () => {
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    const blob = new Blob(parts);
    vi.spyOn(blob, "size", "get").mockReturnValue(100_000_001);
    await expect(hashFile(blob)).rejects.toMatchObject({ code: "ARGUMENT_INVALID", fields: ["files"] });
  });
});
