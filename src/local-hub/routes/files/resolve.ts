import type { Context, Hono } from "hono";
import { fileOperations } from "../../../hub/repositories/contents.ts";
import type { RepositoryPath } from "../../../hub/repositories/repository-path.ts";
import { CodedException } from "../../error-response.ts";
import type { ContentStore } from "../../git/content-store.ts";
import type { FileEntry } from "../../git/tree-entry.ts";
import type { HubContext } from "../../hub-context.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { canRead, findCommit, findRepository } from "../repository-access.ts";
import { describeRoute, type ResourceApi, type RouteDetails, serveRoute } from "../route.ts";
import { listsTag, readRange, streamOf } from "./byte-range.ts";
import { entryNotFound } from "./tree.ts";

const details = {
  tag: "repos",
  token: "optional",
  description:
    "Returns the content directly, also for files in LFS. Supports HEAD, ranges, and If-None-Match. Also serves `raw` instead of `resolve` in the path, which returns the pointers of files in LFS.",
  parameters: {
    Range: { in: "header", description: "The part of the file, such as `bytes=0-99`." },
    "If-None-Match": { in: "header", description: "The ETag of a copy that the client has." },
  },
  success: {
    description: "The content of the file.",
    headers: {
      ETag: { description: "The ID of the blob, or the SHA-256 of a file in LFS." },
      "X-Repo-Commit": { description: "The ID of the commit." },
      "X-Linked-Etag": { description: "The SHA-256 of a file in LFS." },
      "X-Linked-Size": { description: "The size of a file in LFS." },
    },
  },
  errors: ["forbidden", "notFound"],
} as const satisfies RouteDetails;

const resolveRoutes = {
  resolveModel: describeRoute(fileOperations.resolveModel, details),
  resolve: describeRoute(fileOperations.resolve, details),
} as const;

/** Serves the content of files. */
export const resolveApi = {
  routes: resolveRoutes,
  components: {},
  serve(app: Hono<ApiEnvironment>, hub: HubContext) {
    for (const kind of ["resolve", "raw"] as const) {
      const withKind = <const Path extends string>(path: Path) => path.replace("/resolve/", `/${kind}/`);
      const { resolve, resolveModel } = resolveRoutes;
      serveRoute(app, { ...resolve, path: withKind(resolve.path) }, ({ params }, context) =>
        serveFile(hub, context, { ...params, kind }),
      );
      serveRoute(app, { ...resolveModel, path: withKind(resolveModel.path) }, ({ params }, context) =>
        serveFile(hub, context, { ...params, repoType: "models", kind }),
      );
    }
  },
} satisfies ResourceApi;

interface RequestedFile extends RepositoryPath {
  rev: string;
  path: string;
  kind: "resolve" | "raw";
}

function serveFile(hub: HubContext, context: Context<ApiEnvironment>, { rev, path, kind, ...name }: RequestedFile) {
  const { content } = hub.store;
  const caller = context.var.optionalCaller;
  const repository = findRepository(hub, name, caller, "read");
  if (repository.gated && !canRead(hub.store, { repository: { ...repository, private: true }, caller })) {
    const message = `The files of "${repository.name}" are gated. Use the token of its owner: the local Hub grants no access requests.`;
    throw new CodedException(403, { code: "GatedRepo", message });
  }
  const commit = findCommit(hub, repository, rev);
  const found = content.find(commit.tree, path);
  if (found?.type !== "file") return entryNotFound({ path, rev, commit: commit.oid });
  const { lfs, ...pointer } = found;
  const entry = kind === "raw" && lfs ? { ...pointer, size: lfs.pointerSize } : found;
  return fileResponse(content, { entry, commit: commit.oid }, context.req);
}

/** A file of a commit. */
export interface CommittedFile {
  entry: FileEntry;
  /** The ID of the commit. */
  commit: string;
}

/** A request for a file. */
export interface FileRequest {
  method: string;
  header: (name: string) => string | undefined;
}

/** The size of the start of a file that shows whether the file is text, in bytes. */
const sampleBytes = 8_000;

/**
 * Creates the response to a request for a file: with 200, 206 for a range, 304 if the client has the file, or 416. The client gets
 * the content of files in LFS without a redirect to another server.
 *
 * Files come from any user and have the same origin as the page of the local Hub, so browsers must not run scripts in them.
 */
function fileResponse(content: ContentStore, { entry, commit }: CommittedFile, request: FileRequest): Response {
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
  headers.set("content-type", blob && isText(blob) ? "text/plain; charset=utf-8" : "application/octet-stream");
  if (request.method === "HEAD" || size === 0) return new Response(null, { status, headers });
  if (blob) return new Response(new Uint8Array(blob.subarray(start, end + 1)), { status, headers });
  return new Response(streamOf(content.openLarge(lfs?.oid ?? "", { start, end })), { status, headers });
}

function isText(content: Uint8Array): boolean {
  return !content.subarray(0, sampleBytes).includes(0);
}

/** Names the file for downloads. Old clients read the first name, which contains only ASCII. */
function contentDisposition(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `inline; filename*=UTF-8''${encoded}; filename="${name.replace(/[^ -~]|["\\]/g, "_")}";`;
}
