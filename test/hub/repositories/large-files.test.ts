import { deleteFile, uploadFiles } from "@huggingface/hub";
import { expect, test } from "vitest";
import { rejectionOf } from "../scripted-hub.ts";
import { useLocalHub } from "./local-repositories.ts";

const open = useLocalHub();

/** The number of bytes above which the Hub stores each file as a large file. */
const size = 10_500_000;

test("A large file that @huggingface/hub uploads is read, compared, and not committed again", async () => {
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
  const larger = { message: "Add data", files: { "data.bin": new Uint8Array(size + 1) } };
  expect(await rejectionOf(repo.commit(larger))).toMatchObject({ code: "LARGE_FILE_UNSUPPORTED" });
  expect(network.calls).not.toContainEqual(expect.stringContaining("/commit/"));

  await deleteFile({ ...target, path: "data.bin", commitTitle: "Delete data" });
  expect(await repo.changedFiles({ from: sha ?? null, to: "main" })).toEqual([{ path: "data.bin", status: "deleted" }]);
});
