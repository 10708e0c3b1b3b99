import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type * as z from "zod/mini";
import { escapeHtml } from "../../../core/text.ts";
import {
  commit,
  commitOperations,
  commitResult,
  preuploadRequest,
  preuploadResult,
} from "../../../hub/repositories/contents.ts";
import { getAvatarUrl } from "../../accounts.ts";
import { badRequest, invalidRequest } from "../../error-response.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { ContentStore, FileChange } from "../../git/content-store.ts";
import { findRenames, formatDiff, formatRawDiff } from "../../git/diff.ts";
import type { HubContext } from "../../hub-context.ts";
import {
  findCommit,
  findCommitRepository,
  findRepository,
  repositoryUrl,
  revisionNotFound,
} from "../../routes/repository-access.ts";
import {
  anyNamespace,
  describeRoutes,
  linkNextPage,
  nextPageHeader,
  type ResourceApi,
  serveRoute,
} from "../../routes/route.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { hashAsBlob, saveFile } from "./lfs.ts";
import { openPullRequest } from "./pull-requests.ts";
import { checkParent, commitChanges } from "./refs.ts";
import {
  checkPath,
  maxCommitBytes,
  readUploadDocument,
  readUploadLines,
  type UploadedCommit,
  type UploadOperation,
} from "./upload-lines.ts";
import { createIgnore, createInlineMode, createUploadMode, maxRegularBytes, requiresXet } from "./upload-mode.ts";

const commitRoutes = describeRoutes(commitOperations, "repos", {
  list: {
    token: "optional",
    parameters: {
      p: { in: "query", description: "The number of the page, from 0." },
      limit: { in: "query", description: "The maximum number of commits per page." },
      expand: { in: "query", description: "`formatted` adds the title and the message as HTML." },
    },
    success: "The commits, newest first.",
    headers: {
      "X-Total-Count": { description: "The number of commits on all pages." },
      ...nextPageHeader,
    },
  },
  compare: {
    token: "optional",
    description:
      "Compares `base..head`, or the common ancestor with `base...head`. `^` after a revision stands for its first parent. Files in LFS are compared by their pointers.",
    parameters: {
      raw: { in: "query", description: "Whether to return lines like `git diff --raw` instead of patches." },
    },
    success: "The differences, like `git diff`.",
  },
  preupload: {
    description:
      "Files of more than 10 MB, files that `.gitattributes` assigns to LFS, and binary files are uploaded to LFS. The Python client sends those of up to 50 MB in the commit, because it would upload them to Xet storage.",
    parameters: { create_pr: { in: "query", description: "Whether the commit will create a pull request." } },
    success: "The upload modes.",
  },
  create: {
    description: `The body has the type \`application/x-ndjson\`: a line with the key \`header\`, then lines with the keys \`file\`, \`lfsFile\`, \`deletedFile\`, or \`deletedFolder\`. Or \`application/json\`: one object with \`files\`, \`lfsFiles\`, and \`deletedEntries\`. At most ${maxCommitBytes} bytes.`,
    parameters: {
      create_pr: { in: "query", description: "Whether to open a pull request with the commit." },
      hot_reload: { in: "query", description: "Ignored by the local Hub." },
    },
    success: "The commit. A commit that changes nothing is not made.",
    errors: ["outdated"],
  },
});

export const commitApi = {
  routes: commitRoutes,
  components: {
    Commit: commit,
    UploadModeRequest: preuploadRequest,
    UploadModes: preuploadResult,
    CommitResult: commitResult,
  },
  serve(app, hub) {
    const { hubUrl, store } = hub;
    const { content } = store;
    // The JavaScript client does not encode refs such as refs/pr/1.
    app.get(`/api/:repoType/:namespace${anyNamespace}/:repo/commits/refs/:kind/:name`, (context) => {
      const url = new URL(context.req.url);
      url.pathname = url.pathname.replace(/\/refs\/([^/]+)\/([^/]+)$/, "/refs%2F$1%2F$2");
      return app.fetch(new Request(url, context.req.raw));
    });
    serveRoute(app, commitRoutes.list, ({ params, query }, context) => {
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      const { oid } = findCommit(hub, repository, params.rev);
      const { p: page, limit } = query;
      const commits: Commit[] = [];
      let total = 0;
      for (const commit of content.history(repository.id, oid)) {
        if (total >= page * limit && commits.length < limit) commits.push(commit);
        total += 1;
      }
      context.header("x-total-count", String(total));
      if ((page + 1) * limit < total) linkNextPage(context, { p: String(page + 1) });
      const formatted = [...query.expand, ...query["expand[]"]].includes("formatted");
      return commits.map(({ oid: id, title, message, author, date }) => ({
        ...{ id, title, message },
        authors: [{ user: author, avatar: getAvatarUrl(author, { hubUrl }) }],
        date: new Date(date).toISOString(),
        ...(formatted && { formatted: { title: escapeHtml(title), message: escapeHtml(message) } }),
      }));
    });

    serveRoute(app, commitRoutes.compare, ({ params, query }, context) => {
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      const { base, head } = findCompared(hub, repository, params.compare);
      const changes = findRenames(content.compare(base.tree, head.tree));
      return query.raw ? formatRawDiff(changes) : formatDiff(content, changes);
    });

    serveRoute(app, commitRoutes.preupload, async ({ params, query, body }, context) => {
      const target = { rev: params.rev, createPullRequest: query.create_pr };
      const repository = findCommitRepository(hub, params, context.var.optionalCaller, target);
      const { tree, oid: commitOid } = findCommit(hub, repository, params.rev);
      const modeOf = createUploadMode(body.gitAttributes ?? readSmallFile(content, tree, ".gitattributes"));
      const inlineModeOf = requiresXet(context.req.header("user-agent")) ? createInlineMode() : undefined;
      const isIgnored = createIgnore(body.gitIgnore ?? readSmallFile(content, tree, ".gitignore"));
      const files: z.output<typeof preuploadResult>["files"] = [];
      for (const { path, size, sample = "" } of body.files) {
        checkPath(path);
        const mode = modeOf({ path, size, sample: Buffer.from(sample, "base64") });
        const uploadMode = inlineModeOf?.(mode, size) ?? mode;
        const current = content.find(tree, path);
        // Without the ID, the client uploads the content again that was lost with the folder of the state file.
        const isLost = current?.lfs && !content.hasLarge(repository.id, current.lfs);
        const { lfs, oid } = current?.type === "file" && !isLost ? current : {};
        // The client compares the ID with the ID of its file in this mode.
        const isInline = lfs?.size === size && uploadMode === "regular";
        const currentId = isInline ? await hashAsBlob(content, lfs) : (lfs?.oid ?? oid);
        files.push({
          ...{ path, uploadMode, shouldIgnore: isIgnored(path) },
          ...(currentId !== undefined && { oid: currentId }),
        });
      }
      return { files, commitOid };
    });

    serveRoute(app, commitRoutes.create, async ({ params, query }, context) => {
      const target = { rev: params.rev, createPullRequest: query.create_pr };
      const find = () => findCommitRepository(hub, params, context.var.optionalCaller, target);
      find();
      const isDocument = /^application\/json\b/i.test(context.req.header("content-type") ?? "");
      const body = context.req.raw.body ?? new Blob().stream();
      const commit = await (isDocument ? readUploadDocument : readUploadLines)(body);
      const { user } = context.var.caller;
      if (requiresXet(context.req.header("user-agent"))) {
        commit.operations = await saveInlineFiles(hub, { ...commit, ...target, repository: find() });
      }
      // While the body arrived, the repository can have been moved, deleted, or made private.
      return makeUploadedCommit(hub, { ...commit, ...target, repository: find(), user });
    });
  },
} satisfies ResourceApi;

/** The paths of commits, whose bodies can be larger than other bodies (`upload-lines.ts`). */
export const commitPath = /^\/api\/(?:models|datasets|spaces)\/[^/]*\/[^/]+\/commit\/[^/]+$/;

/** Returns an empty text if there is no such file. */
function readSmallFile(content: ContentStore, tree: string, path: string): string {
  const entry = content.find(tree, path);
  return entry?.type === "file" && !entry.lfs ? new TextDecoder().decode(content.read(entry)) : "";
}

/** Finds the commits of a comparison such as `main..dev`. */
function findCompared(hub: HubContext, repository: StoredRepository, compare: string): { base: Commit; head: Commit } {
  const [, left = "", dots, right = ""] = /^(.+?)(\.\.\.?)(.+)$/.exec(compare) ?? [];
  const [base, head] = [left, right].map((rev) => findAncestor(hub, repository, rev));
  if (!base || !head) throw new TypeError("A comparison has two revisions.");
  if (dots === "..") return { base, head };
  const common = hub.store.content.mergeBase(repository.id, base.oid, head.oid);
  return { base: common === undefined ? base : findCommit(hub, repository, common), head };
}

/** Finds the commit of a revision. Each `^` at its end stands for the first parent. */
function findAncestor(hub: HubContext, repository: StoredRepository, rev: string): Commit {
  const name = rev.replace(/\^+$/, "");
  let found = findCommit(hub, repository, name);
  for (let steps = rev.length - name.length; steps > 0; steps -= 1) {
    found = findCommit(hub, repository, found.parents[0] ?? rev);
  }
  return found;
}

interface CommitTarget extends UploadedCommit {
  repository: StoredRepository;
  rev: string;
  createPullRequest: boolean;
}

/** @throws HTTPException 404 if the branch does not exist, 412 if the parent is not its head. */
function findBase({ store: { content } }: HubContext, { repository, rev, createPullRequest, header }: CommitTarget) {
  const ref = rev.startsWith("refs/") ? rev : `refs/heads/${rev}`;
  const parentId = header.parentCommit ?? undefined;
  // Short IDs of parents are allowed.
  const parent = parentId === undefined ? undefined : (content.resolve(repository.id, parentId)?.oid ?? parentId);
  // The ID of a commit is not a target: pull requests are opened against branches.
  const base =
    content.resolve(repository.id, ref) && content.resolve(repository.id, createPullRequest ? (parent ?? ref) : ref);
  if (!base) throw revisionNotFound(rev);
  // Before the changes are read, which can be invalid for the new head.
  if (!createPullRequest) checkParent(base, { ref, parent });
  return { base, ref, parent };
}

const sampleBytes = 512;

/** Saves those files of a commit in LFS that another client would have uploaded before, and returns the changed operations. */
async function saveInlineFiles(hub: HubContext, request: CommitTarget): Promise<UploadOperation[]> {
  const { content } = hub.store;
  const { id: repositoryId } = request.repository;
  const { tree } = findBase(hub, request).base;
  const modeOf = createUploadMode(readSmallFile(content, tree, ".gitattributes"));
  const operations: UploadOperation[] = [];
  for (const operation of request.operations) {
    const large = operation.key === "file" ? findInlineFile(modeOf, operation.value) : undefined;
    if (!large) {
      operations.push(operation);
      continue;
    }
    const { bytes, ...value } = large;
    if (!content.hasLarge(repositoryId, value)) {
      await saveFile(hub.store, { repositoryId, file: value, body: Readable.from([bytes]) });
    }
    operations.push({ key: "lfsFile", value });
  }
  return operations;
}

/** Returns a file in LFS, with its content, if the Hub would have stored a file of a commit there. */
function findInlineFile(modeOf: ReturnType<typeof createUploadMode>, file: ValueOf<"file">) {
  const { path, content, encoding, oldPath } = file;
  if (content === undefined) return undefined;
  const bytes = decodeContent({ path, content, encoding });
  const size = bytes.byteLength;
  if (modeOf({ path, size, sample: bytes.subarray(0, sampleBytes) }) === "regular") return undefined;
  const oid = createHash("sha256").update(bytes).digest("hex");
  return { bytes, path, algo: "sha256", oid, size, oldPath } as const;
}

/** On a branch or in a new pull request. @throws HTTPException like {@link findBase}, 400 if an operation is invalid. */
function makeUploadedCommit(hub: HubContext, request: CommitTarget & { user: string }): z.output<typeof commitResult> {
  const { repository, createPullRequest, user, operations } = request;
  const { content } = hub.store;
  const { summary: title, description: message } = request.header;
  const { base, ref, parent } = findBase(hub, request);
  const changes = toFileChanges(content, { repositoryId: repository.id, tree: base.tree }, operations);
  if (!createPullRequest) {
    const { oid } = commitChanges(hub, { repository, ref, changes, title, message, user, parent });
    return toResult(hub, repository, oid);
  }
  const opened = { repository, user, title, description: message, changes, parent: base.oid };
  const { commit, discussion } = openPullRequest(hub, opened);
  const pullRequestUrl = `${repositoryUrl(repository, hub)}/discussions/${discussion.num}`;
  return { ...toResult(hub, repository, commit.oid), pullRequestUrl };
}

function toResult(hub: HubContext, repository: StoredRepository, oid: string) {
  return {
    success: true,
    commitOid: oid,
    commitUrl: `${repositoryUrl(repository, hub)}/commit/${oid}`,
    hookOutput: "",
  };
}

interface Target {
  repositoryId: string;
  tree: string;
}

/** @throws HTTPException 400 if an operation is incomplete, or if a file is too large for git. */
function toFileChanges(content: ContentStore, target: Target, operations: readonly UploadOperation[]): FileChange[] {
  return operations.flatMap((operation): FileChange[] => {
    checkPath(operation.value.path);
    if (operation.key === "file") return fileChanges(content, target, operation.value);
    if (operation.key === "lfsFile") return largeFileChanges(content, target, operation.value);
    // Like the Hub, accepts a folder as a deleted file, because clients do not have to distinguish them.
    const path = operation.value.path.replace(/\/$/, "");
    const isFolder = operation.key === "deletedFolder" || content.find(target.tree, path)?.type === "directory";
    return [{ path, deleted: isFolder ? "folder" : "file" }];
  });
}

type ValueOf<Key extends UploadOperation["key"]> = Extract<UploadOperation, { key: Key }>["value"];

function fileChanges(store: ContentStore, target: Target, file: ValueOf<"file">): FileChange[] {
  const { path, content, encoding, oldPath } = file;
  if (content === undefined) return moveChanges(store, target, path, oldPath);
  const bytes = decodeContent({ path, content, encoding });
  if (bytes.byteLength > maxRegularBytes) {
    throw badRequest(
      `"${path}" has more than ${maxRegularBytes} bytes. Upload the file to LFS, and commit it as lfsFile.`,
    );
  }
  return [...removal(oldPath), { path, content: bytes }];
}

function largeFileChanges(store: ContentStore, target: Target, value: ValueOf<"lfsFile">): FileChange[] {
  const { path, oid, oldPath } = value;
  if (oid === undefined) return moveChanges(store, target, path, oldPath);
  // The Python client omits the size of copied files.
  const size = value.size ?? store.findLarge(target.repositoryId, oid)?.size ?? 0;
  return [...removal(oldPath), { path, lfs: { oid, size } }];
}

function removal(path: string | undefined): FileChange[] {
  return path === undefined ? [] : [{ path, deleted: "file" }];
}

function moveChanges(store: ContentStore, { tree }: Target, path: string, oldPath: string | undefined): FileChange[] {
  if (oldPath === undefined) throw invalidRequest([`${path}: expected content, oid, or oldPath`]);
  const entry = store.find(tree, oldPath);
  if (entry?.type !== "file") throw invalidRequest([`oldPath: "${oldPath}" is not a file of the branch`]);
  return [...removal(oldPath), { path, entry }];
}

/** @throws HTTPException 400 if the content is not in Base64, of which Node would decode a part only. */
export function decodeContent({ path, content, encoding }: Required<Omit<ValueOf<"file">, "oldPath">>): Buffer {
  const bytes = Buffer.from(content, encoding);
  if (encoding === "utf-8") return bytes;
  const digits = content.replace(/\s+/g, "").replace(/={1,2}$/, "").length;
  if (digits % 4 !== 1 && bytes.byteLength === Math.floor((digits * 3) / 4)) return bytes;
  throw invalidRequest([`${path}: expected content in Base64`]);
}
