import { type CommitOperation, commit, createRepo, downloadFile, repoExists } from "@huggingface/hub";
import { NonRetriableError, WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

server.webhook(
  "mirror_repository",
  {
    scope: "repo.content",
    repo: "dataset:**",
    ref: "refs/heads/main",
    background: true,
    timeout: "1h",
    // Two commits to one target at the same time would conflict.
    concurrency: 1,
  },
  async ({ repo }, { hub, log, signal }) => {
    const { TARGET_OWNER: owner, HF_TOKEN: accessToken, HF_ENDPOINT: hubUrl } = process.env;
    if (!owner || !accessToken) throw new NonRetriableError("Set TARGET_OWNER and HF_TOKEN.");
    const name = `${owner}/${repo.name.split("/").at(-1)}`;
    if (name === repo.name) return log.info({ repo: repo.name }, "Skipped: this is the target.");
    const source = hub.repo(repo);
    const target = { type: "dataset", name } as const;
    // The official client, which also uploads large files.
    const options = { accessToken, ...(hubUrl && { hubUrl }) };

    const { sha: revision, private: isPrivate } = await source.info({ signal });
    if (!(await repoExists({ repo: target, ...options }))) {
      await createRepo({ repo: target, visibility: isPrivate ? "private" : "public", ...options });
    }
    // The current files, not those of the push: late and repeated deliveries are harmless.
    const wanted = new Map<string, string>();
    for await (const { path, oid } of source.listFiles({ revision, signal })) wanted.set(path, oid);
    const existing = new Map<string, string>();
    for await (const { path, oid } of hub.repo(target).listFiles({ signal })) existing.set(path, oid);

    const operations: CommitOperation[] = [];
    for (const path of existing.keys()) if (!wanted.has(path)) operations.push({ operation: "delete", path });
    for (const [path, oid] of wanted) {
      if (existing.get(path) === oid) continue;
      const content = await downloadFile({ repo: { type: "dataset", name: repo.name }, path, revision, ...options });
      if (!content) throw new Error(`${path} of ${repo.name} is missing.`);
      operations.push({ operation: "addOrUpdate", path, content });
    }
    if (operations.length === 0) return log.info({ target: name }, "Already up to date.");
    await commit({ repo: target, title: `Mirror ${repo.name}`, operations, abortSignal: signal, ...options });
    log.info({ target: name, files: operations.length }, "Mirrored.");
  },
);

export default server;
