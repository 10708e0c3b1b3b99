import type { Context, HonoRequest, MiddlewareHandler } from "hono";
import type * as z from "zod/mini";
import { streamOf } from "../../../core/fetch.ts";
import { fileOperations, pathsInfoRequest, treeEntry } from "../../../hub/repositories/contents.ts";
import type { RepositoryPath } from "../../../hub/repositories/repository-path.ts";
import { errorResponse, invalidRequest } from "../../error-response.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { ContentStore } from "../../git/content-store.ts";
import type { ByteRange } from "../../git/large-files.ts";
import type { FileEntry } from "../../git/tree-store.ts";
import type { HubContext } from "../../hub-context.ts";
import { checkGate, findCommit, findRepository } from "../../routes/repository-access.ts";
import {
  type ApiEnvironment,
  anyNamespace,
  describeRoutes,
  linkNextPage,
  nextPageHeader,
  type ResourceApi,
  serveRoute,
} from "../../routes/route.ts";
import type { StoredRepository } from "../../store/repository-store.ts";

const download = {
  token: "optional",
  description:
    "Returns the content directly, also for files in LFS. Supports HEAD, ranges, and If-None-Match. Also serves `raw` instead of `resolve` in the path, which returns the pointers of files in LFS.",
  parameters: {
    Range: { in: "header", description: "The part of the file, such as `bytes=0-99`." },
    "If-None-Match": { in: "header", description: "The ETag of a copy that the client has." },
  },
  success: "The content of the file.",
  headers: {
    ETag: { description: "The ID of the blob, or the SHA-256 of a file in LFS." },
    "X-Repo-Commit": { description: "The ID of the commit." },
    "X-Linked-Etag": { description: "The SHA-256 of a file in LFS." },
    "X-Linked-Size": { description: "The size of a file in LFS." },
  },
  errors: ["forbidden"],
} as const;

const fileRoutes = describeRoutes(fileOperations, "repos", {
  tree: {
    token: "optional",
    parameters: {
      recursive: { in: "query", description: "Whether to include subfolders." },
      expand: { in: "query", description: "Whether to include the last commit and the security status." },
      limit: { in: "query", description: "Default and maximum 1000, or 100 with expand." },
      cursor: { in: "query", description: "The start of the page, from the Link header." },
    },
    success: "The entries, in git's order.",
    headers: nextPageHeader,
  },
  pathsInfo: {
    token: "optional",
    description: "Also accepts a form. Ignores paths that do not exist.",
    success: "The files and folders.",
  },
  resolveModel: download,
  resolve: download,
});

export const fileApi = {
  routes: fileRoutes,
  components: { TreeEntry: treeEntry, PathsInfoRequest: pathsInfoRequest },
  serve(app, hub) {
    const { content } = hub.store;
    serveRoute(app, fileRoutes.tree, ({ params: sent, query }, context) => {
      const params = joinRef(sent);
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      const page = readTreePage(content, params.path, query, (rev) => findCommit(hub, repository, rev ?? params.rev));
      if (!page) return entryNotFound({ path: params.path, rev: params.rev });
      if (page.next !== undefined) linkNextPage(context, { cursor: page.next });
      const { commit, entries } = page;
      return toTreeEntries(content, { repository, commit, entries, expand: query.expand });
    });

    app.use(`/api/:repoType/:namespace${anyNamespace}/:repo/paths-info/:rev`, formToJson);
    serveRoute(app, fileRoutes.pathsInfo, ({ params, body }, context) => {
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      const commit = findCommit(hub, repository, params.rev);
      const entries = [body.paths].flat().flatMap((path) => content.find(commit.tree, path.replace(/\/$/, "")) ?? []);
      return toTreeEntries(content, { repository, commit, entries, expand: body.expand });
    });

    for (const kind of ["resolve", "raw"] as const) {
      const file = `{namespace}/{repo}/${kind}/{rev}/{path}` as const;
      serveRoute(app, { ...fileRoutes.resolve, requestLine: `GET /{repoType}/${file}` }, ({ params }, context) =>
        serveFile(hub, context, { ...params, kind }),
      );
      serveRoute(app, { ...fileRoutes.resolveModel, requestLine: `GET /${file}` }, ({ params }, context) =>
        serveFile(hub, context, { ...params, repoType: "models", kind }),
      );
    }
  },
} satisfies ResourceApi;

/** The JavaScript client does not encode refs such as `refs/pr/1`, so the router reads the rest of the ref as the start of the path. */
function joinRef<Params extends { rev: string; path: string }>(params: Params): Params {
  if (params.rev !== "refs") return params;
  const [kind = "", name = "", ...path] = params.path.split("/");
  return { ...params, rev: `refs/${kind}/${name}`, path: path.join("/") };
}

const formToJson: MiddlewareHandler<ApiEnvironment> = async (context, next) => {
  if (/^application\/x-www-form-urlencoded\b/i.test(context.req.header("content-type") ?? "")) {
    const form = new URLSearchParams(await context.req.raw.text());
    const body = { paths: form.getAll("paths"), expand: /^(true|1)$/i.test(form.get("expand") ?? "") };
    const headers = new Headers(context.req.raw.headers);
    headers.set("content-type", "application/json");
    headers.delete("content-length");
    context.req.raw = new Request(context.req.url, { method: "POST", headers, body: JSON.stringify(body) });
  }
  return next();
};

/** Creates the response for a path that a commit does not contain. The Python client caches it with the ID of the commit. */
function entryNotFound({ path, rev, commit }: { path: string; rev: string; commit?: string }): Response {
  const message = `"${path}" does not exist on "${rev}".`;
  const response = errorResponse({ status: 404, message, code: "EntryNotFound" });
  if (commit !== undefined) response.headers.set("x-repo-commit", commit);
  return response;
}

type TreeEntry = z.output<typeof treeEntry>;

const notScanned = { status: "unscanned" };

/** Converts files and folders of a commit to the format of the API. With `expand`, adds the last commit and the security status. */
function toTreeEntries(
  content: ContentStore,
  {
    repository,
    commit,
    entries,
    expand,
  }: { repository: StoredRepository; commit: Commit; entries: readonly FileEntry[]; expand: boolean },
): TreeEntry[] {
  if (!expand) return entries.map(toTreeEntry);
  const paths = entries.map(({ path }) => path);
  const commits = content.lastCommits(repository.id, commit.oid, paths);
  return entries.map((entry) => {
    const last = commits.get(entry.path);
    return {
      ...toTreeEntry(entry),
      ...(last && { lastCommit: { id: last.oid, title: last.title, date: new Date(last.date).toISOString() } }),
      ...(entry.type === "file" && {
        securityFileStatus: { ...notScanned, avScan: notScanned, pickleImportScan: notScanned },
      }),
    };
  });
}

function toTreeEntry({ type, oid, size, path, lfs }: FileEntry): TreeEntry {
  return { type, oid, size, path, ...(lfs && { lfs }) };
}

const maxEntries = { plain: 1_000, expanded: 100 };

/** All pages show the same commit, even if the branch changes in between. Returns `undefined` if the folder does not exist. */
function readTreePage(
  content: ContentStore,
  folder: string,
  { recursive, expand, limit, cursor }: z.output<typeof fileOperations.tree.request.query>,
  findCommit: (rev: string | undefined) => Commit,
) {
  const path = folder.replace(/\/+$/, "");
  const { rev, start } = cursor === undefined ? { rev: undefined, start: 0 } : readCursor(cursor);
  const commit = findCommit(rev);
  if (content.find(commit.tree, path)?.type !== "directory") return undefined;
  const max = expand ? maxEntries.expanded : maxEntries.plain;
  const end = start + Math.min(limit ?? max, max);
  const entries: FileEntry[] = [];
  let index = 0;
  for (const entry of content.list(commit.tree, { path, recursive })) {
    if (index === end) return { commit, entries, next: `${commit.oid}-${end}` };
    if (index >= start) entries.push(entry);
    index += 1;
  }
  return { commit, entries, next: undefined };
}

/** Reads the cursor of a page: the ID of the commit, and the number of the first entry. */
function readCursor(cursor: string): { rev: string; start: number } {
  const [, rev, start] = /^([0-9a-f]{40})-(\d{1,9})$/.exec(cursor) ?? [];
  if (rev === undefined) throw invalidRequest(["query.cursor: expected the cursor from the Link header"]);
  return { rev, start: Number(start) };
}

type RequestedFile = RepositoryPath & { rev: string; path: string; kind: "resolve" | "raw" };

function serveFile(hub: HubContext, context: Context<ApiEnvironment>, { rev, path, kind, ...name }: RequestedFile) {
  const { content } = hub.store;
  const caller = context.var.optionalCaller;
  const repository = findRepository(hub, name, caller, "read");
  checkGate(hub.store, repository, caller);
  const commit = findCommit(hub, repository, rev);
  const found = content.find(commit.tree, path);
  if (found?.type !== "file") return entryNotFound({ path, rev, commit: commit.oid });
  const { lfs, ...pointer } = found;
  const entry = kind === "raw" && lfs ? { ...pointer, size: lfs.pointerSize } : found;
  return fileResponse(content, entry, commit.oid, context.req);
}

const sampleBytes = 8_000;

/**
 * Creates the response to a request for a file: with 200, 206 for a range, 304 if the client has the file, or 416. The client gets
 * the content of files in LFS without a redirect to another server.
 *
 * Files come from any user and have the same origin as the page of the local Hub, so browsers must not run scripts in them.
 */
function fileResponse(content: ContentStore, entry: FileEntry, commit: string, request: HonoRequest): Response {
  const { lfs, size } = entry;
  const tag = `"${lfs?.oid ?? entry.oid}"`;
  const headers = new Headers({
    "accept-ranges": "bytes",
    "content-security-policy": "default-src 'none'; sandbox",
    "content-disposition": contentDisposition(entry.path),
    "x-content-type-options": "nosniff",
    "access-control-expose-headers": "etag, x-linked-etag, x-linked-size, x-repo-commit",
    "x-repo-commit": commit,
    etag: tag,
    ...(lfs && { "x-linked-etag": tag, "x-linked-size": String(size) }),
  });
  if (listsTag(request.header("if-none-match"), tag)) return new Response(null, { status: 304, headers });

  const ifRange = request.header("if-range");
  const range = ifRange === undefined || ifRange === tag ? readRange(request.header("range"), { size }) : "whole";
  if (range === "unsatisfiable") {
    headers.set("content-range", `bytes */${size}`);
    return new Response(null, { status: 416, headers });
  }
  const { start, end } = range === "whole" ? { start: 0, end: size - 1 } : range;
  const status = range === "whole" ? 200 : 206;
  if (status === 206) headers.set("content-range", `bytes ${start}-${end}/${size}`);
  // The JavaScript client reads the size from this header, also if the file is empty.
  else if (size === 0 && request.header("range") !== undefined) headers.set("content-range", "bytes */0");
  headers.set("content-length", String(end - start + 1));
  const blob = lfs ? undefined : content.read(entry);
  const isText = blob && !blob.subarray(0, sampleBytes).includes(0);
  headers.set("content-type", isText ? "text/plain; charset=utf-8" : "application/octet-stream");
  if (request.method === "HEAD" || size === 0) return new Response(null, { status, headers });
  if (blob) return new Response(new Uint8Array(blob.subarray(start, end + 1)), { status, headers });
  return new Response(streamOf(content.openLarge(lfs?.oid ?? "", { start, end })), { status, headers });
}

/** Names the file for downloads. Old clients read the first name, which contains only ASCII. */
function contentDisposition(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `inline; filename*=UTF-8''${encoded}; filename="${name.replace(/[^ -~]|["\\]/g, "_")}";`;
}

type RequestedRange = "whole" | "unsatisfiable" | ByteRange;

/** Several ranges, other units, and invalid ranges stand for the whole file, as RFC 9110 allows. */
export function readRange(header: string | undefined, { size }: { size: number }): RequestedRange {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  // An empty file has no ranges, but clients ask for its first byte to learn its size.
  if (size === 0) return "whole";
  if (first === "")
    return Number(last) === 0 ? "unsatisfiable" : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const [start, end] = [Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== "" && Number(last) < start) return "whole";
  return start >= size ? "unsatisfiable" : { start, end };
}

/** Whether a header such as `If-None-Match` lists an entity tag. Weak and strong tags are equal. */
export function listsTag(header: string | undefined, tag: string): boolean {
  const listed = (header ?? "").split(",").map((item) => item.trim().replace(/^W\//, ""));
  return listed.includes(tag) || listed.includes("*");
}
