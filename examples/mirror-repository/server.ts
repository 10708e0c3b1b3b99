import { WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** A repository with a git history. */
export interface Repo {
  type: string;
  name: string;
}

/** Makes branches and tags of the mirror equal to those on the Hub. */
export type MirrorRefs = (repo: Repo, refs: readonly string[], signal: AbortSignal) => Promise<void>;

/** Creates a server that mirrors each branch and tag that is pushed or deleted. */
export function createServer(mirrorRefs: MirrorRefs, options?: WebhooksServerOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  server.webhook(
    "mirror_repository",
    {
      scope: "repo.content",
      repo: ["model:**", "dataset:**", "space:**"],
      ref: ["refs/heads/**", "refs/tags/**"],
      background: true,
      timeout: "1h",
      // Two pushes to one mirror at the same time would conflict.
      concurrency: 1,
    },
    async ({ repo: { type, name }, updatedRefs }, { log, signal }) => {
      // The filter matches if one ref does. A delivery can also contain refs/pr/1 or refs/convert/parquet.
      const refs = updatedRefs.map(({ ref }) => ref).filter((ref) => /^refs\/(heads|tags)\//.test(ref));
      await mirrorRefs({ type, name }, refs, signal);
      log.info({ type, name, refs: refs.join(" ") }, "Mirrored.");
    },
  );
  return server;
}

/** `hub-webhooks dev` runs this server, which prints what it would do. */
export default createServer(async ({ type, name }, refs) => {
  console.log(`Dry run: would mirror ${refs.join(", ")} of ${type} ${name}.`);
});
