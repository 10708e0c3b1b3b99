import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import * as z from "zod/mini";
import {
  bucket,
  bucketBatchResult,
  bucketCreation,
  bucketEntry,
  bucketOperations,
  bucketPaths,
  bucketSettings,
  createdBucket,
  xetToken,
} from "../../../hub/buckets.ts";
import { getAccountKind, getOwner, localUser, toAccountName } from "../../accounts.ts";
import { badRequest, errorResponse, invalidRequest, notFound, parseRequestJson } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import { eventStream } from "../../jobs/event-stream.ts";
import { canRead, checkNamespaceAccess, findByName, repositoryUrl } from "../../routes/repository-access.ts";
import {
  type ApiEnvironment,
  describeRoutes,
  linkNextPage,
  movedRedirect,
  nextPageHeader,
  type ResourceApi,
  serveRoute,
  tokenMissing,
} from "../../routes/route.ts";
import { objectResponse } from "../../s3/gateway.ts";
import { type FileChange, findKeyProblem, formatToken, parseToken, publishFiles, readPage } from "../../s3/objects.ts";
import type { StoredObject } from "../../store/object-store.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { addToResourceGroup } from "../organizations/resource-groups.ts";
import { createRepository, deleteRepository, updateRepositorySettings } from "../repositories/repository-changes.ts";
import { XetStorage, xetPath } from "./xet.ts";

const moved = movedRedirect("bucket");

const bucketRoutes = describeRoutes(bucketOperations, "buckets", {
  create: { success: "The new bucket.", errors: ["conflict"] },
  delete: { success: "The bucket was deleted." },
  info: { token: "optional", success: "The bucket.", redirect: moved },
  list: { token: "optional", success: "The buckets that the caller can read." },
  updateSettings: { success: "The settings." },
  tree: { token: "optional", success: "A page of files and folders.", headers: nextPageHeader, redirect: moved },
  pathsInfo: { token: "optional", success: "The files that exist.", redirect: moved },
  batch: {
    description:
      "The body consists of lines of JSON: `addFile` of a file that was uploaded to Xet, `copyFile` of a file in a bucket, and `deleteFile`.",
    success: "The number of operations that succeeded, and those that failed.",
    errors: ["invalid", "incomplete"],
  },
  resolve: { token: "optional", success: "The content of the file.", redirect: moved },
  events: {
    token: "optional",
    description: "A stream of the server-sent events `changes`, `ready`, `reset`, and `reconnect`.",
    success: "The changes after `cursor` or `since`, and new changes.",
    redirect: moved,
  },
  readToken: { token: "optional", success: "The token.", redirect: moved },
  writeToken: { token: "write", success: "The token." },
});

type Request = Context<ApiEnvironment>;
type BucketName = { namespace: string; repo: string };

export const bucketApi = {
  routes: bucketRoutes,
  components: {
    Bucket: bucket,
    BucketBatchResult: bucketBatchResult,
    BucketCreation: bucketCreation,
    BucketEntry: bucketEntry,
    BucketPaths: bucketPaths,
    BucketSettings: bucketSettings,
    CreatedBucket: createdBucket,
    XetToken: xetToken,
  },
  serve(app, hub) {
    const xet = new XetStorage(hub);
    xet.serve(app);
    serveBuckets(app, hub);
    serveFiles(app, hub, xet);
  },
} satisfies ResourceApi;

function serveBuckets(app: Hono<ApiEnvironment>, hub: HubContext): void {
  const { store } = hub;

  serveRoute(app, bucketRoutes.create, ({ params, body }, context) => {
    const { caller } = context.var;
    const repo = { type: "bucket" as const, name: nameOf(params, context) };
    checkNamespaceAccess(store, caller, getOwner(repo));
    const url = repositoryUrl(repo, hub);
    const existing = store.repositories.get(repo);
    if (existing) {
      // Official clients accept this error with the option `exist_ok`, and read the URL.
      const fields = { url, id: existing.id };
      return errorResponse({ status: 409, message: "You already created this bucket", fields });
    }
    const repository = store.transaction(() => {
      addToResourceGroup(store, repo, body.resourceGroupId, caller.user);
      return createRepository(hub, { ...repo, user: caller.user, private: body.private ?? false });
    });
    return { url, name: repo.name, id: repository.id };
  });

  serveRoute(app, bucketRoutes.delete, ({ params }, context) =>
    deleteRepository(hub, { repository: find(hub, params, context, "write"), user: context.var.caller.user }),
  );

  serveRoute(app, bucketRoutes.info, ({ params }, context) => describe(hub, find(hub, params, context)));

  serveRoute(app, bucketRoutes.list, ({ params, query: { search = "" } }, context) => {
    const caller = context.var.optionalCaller;
    const owner = ownerOf(params.namespace, context);
    // The examples of the local Hub use "me" as the name of a user.
    const owners = params.namespace === "me" && owner === localUser ? [owner, "me"] : [owner];
    const owned = store.repositories
      .all()
      .filter((repository) => repository.type === "bucket" && owners.includes(getOwner(repository)));
    if (owned.length === 0 && getAccountKind(owner) === undefined) {
      throw notFound(`There is no user or organization "${owner}".`);
    }
    return owned
      .filter((repository) => repository.name.toLowerCase().includes(search.toLowerCase()))
      .filter((repository) => canRead(store, repository, caller))
      .map((repository) => describe(hub, repository));
  });

  serveRoute(app, bucketRoutes.updateSettings, ({ params, body }, context) => {
    const found = find(hub, params, context, "write");
    const settings = body.private === undefined ? {} : { private: body.private };
    const repository = updateRepositorySettings(hub, { repository: found, settings, user: context.var.caller.user });
    return { private: repository.private, cdnRegions: [] };
  });
}

const pageEntries = 1_000;

function serveFiles(app: Hono<ApiEnvironment>, hub: HubContext, xet: XetStorage): void {
  const { store, bucketFeed } = hub;
  const { objects } = store;

  serveRoute(app, bucketRoutes.tree, ({ params, query }, context) => {
    const { id: bucketId } = find(hub, params, context);
    const { recursive, limit = pageEntries, cursor } = query;
    const { path: prefix } = params;
    const after = cursor === undefined ? { key: "", isPrefix: false } : readCursor(cursor);
    const delimiter = recursive ? "" : "/";
    const page = readPage(objects, { bucketId, prefix, delimiter, after, maxKeys: limit, isFolder: true });
    if (page.next) linkNextPage(context, { cursor: formatToken(page.next) });
    const folders = page.prefixes.map((folder) => {
      const { modifiedAt = 0 } = objects.totals(bucketId, { prefix: folder });
      return { type: "directory" as const, path: folder.slice(0, -1), uploadedAt: new Date(modifiedAt).toISOString() };
    });
    return [...page.objects.map(toEntry), ...folders].sort((one, other) => (one.path < other.path ? -1 : 1));
  });

  serveRoute(app, bucketRoutes.pathsInfo, ({ params, body }, context) => {
    const { id: bucketId } = find(hub, params, context);
    return [body.paths]
      .flat()
      .flatMap((key) => objects.get({ bucketId, key }) ?? [])
      .map(toEntry);
  });

  serveRoute(app, bucketRoutes.batch, async ({ params }, context) => {
    const repository = find(hub, params, context, "write");
    const operations = readBatch(await context.req.text());
    const result = runBatch(hub, repository, operations, context, xet);
    const [failed] = result.failed;
    // As on the Hub, clients find the failures in the body.
    return failed && result.succeeded === 0
      ? errorResponse({ status: 422, message: failed.error, fields: result })
      : result;
  });

  serveRoute(app, bucketRoutes.resolve, ({ params }, context) => {
    const repository = find(hub, params, context);
    const object = objects.get({ bucketId: repository.id, key: params.path });
    if (!object) {
      const message = `"${params.path}" does not exist in the bucket.`;
      return errorResponse({ status: 404, message, code: "EntryNotFound" });
    }
    const { origin } = new URL(context.req.url);
    const refreshUrl = `${origin}/api/buckets/${repository.name}/xet-read-token`;
    const { md5, size, xetHash: hash, contentType } = object;
    // The JavaScript client also accepts the content, and requires version 2 of the Xet API to download the file from Xet.
    if (context.req.header("accept") === "application/vnd.xet-fileinfo+json") {
      const reconstructionUrl = `${origin}${xetPath}files/v1/reconstructions/${hash}`;
      return context.json({ hash, refreshUrl, reconstructionUrl, etag: `"${md5}"`, size, contentType });
    }
    const request = context.req.raw;
    const response = objectResponse(objects, object, repository.id, request);
    // The JavaScript client reads the size from this header, also if the file is empty.
    if (size === 0 && request.headers.has("range")) response.headers.set("content-range", "bytes */0");
    response.headers.set("x-xet-hash", hash);
    response.headers.set("link", `<${refreshUrl}>; rel="xet-auth"`);
    return response;
  });

  serveRoute(app, bucketRoutes.events, ({ params, query: { cursor, since } }, context) => {
    const repository = find(hub, params, context);
    const stream = bucketFeed.stream(repository.id, {
      ...{ cursor, since: since === undefined ? undefined : Date.parse(since) },
      isOpen: () => {
        const current = store.repositories.get(repository);
        return current?.id === repository.id && canRead(store, current, context.var.optionalCaller);
      },
    });
    return eventStream(stream);
  });

  serveRoute(app, bucketRoutes.readToken, ({ params }, context) =>
    xet.issueToken(find(hub, params, context), "read", new URL(context.req.url).origin),
  );
  serveRoute(app, bucketRoutes.writeToken, ({ params }, context) =>
    xet.issueToken(find(hub, params, context, "write"), "write", new URL(context.req.url).origin),
  );
}

/** @throws `HTTPException` 401 for the namespace `me` without a token. */
function ownerOf(namespace: string, { var: { optionalCaller } }: Request): string {
  if (namespace !== "me") return toAccountName(namespace);
  if (!optionalCaller) throw tokenMissing();
  return optionalCaller.user;
}

function nameOf({ namespace, repo }: BucketName, context: Request): string {
  return `${ownerOf(namespace, context)}/${repo}`;
}

function find(hub: HubContext, params: BucketName, context: Request, access: "read" | "write" = "read") {
  const { optionalCaller } = context.var;
  // Only a list and a new bucket can have the namespace "me", so that redirects keep the name.
  return findByName(hub, { type: "bucket", name: `${params.namespace}/${params.repo}` }, optionalCaller, access);
}

function describe({ store }: HubContext, repository: StoredRepository): z.output<typeof bucket> {
  const { count, size, modifiedAt = repository.createdAt } = store.objects.totals(repository.id);
  return {
    id: repository.name,
    author: getOwner(repository),
    private: repository.private,
    createdAt: new Date(repository.createdAt).toISOString(),
    updatedAt: new Date(Math.max(modifiedAt, repository.createdAt)).toISOString(),
    ...{ size, totalFiles: count, repoType: "bucket", cdnRegions: [] },
  };
}

function toEntry({ key, size, xetHash, mtime, modifiedAt, contentType }: StoredObject): z.output<typeof bucketEntry> {
  return {
    ...{ type: "file", path: key, size, xetHash, contentType },
    ...(mtime !== undefined && { mtime: new Date(mtime).toISOString() }),
    uploadedAt: new Date(modifiedAt).toISOString(),
  };
}

function readCursor(cursor: string) {
  const position = parseToken(cursor);
  if (!position) throw invalidRequest(["query.cursor: expected the cursor from the Link header"]);
  return position;
}

const maxTime = 8.64e15;
const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/, "expected 64 lowercase hexadecimal digits"));
const added = {
  path: z.string(),
  xetHash: hash,
  mtime: z.optional(z.nullable(z.number().check(z.minimum(-maxTime), z.maximum(maxTime)))),
  contentType: z.optional(z.nullable(z.string().check(z.regex(/^[ -~]+$/, "expected printable ASCII")))),
};
const batchLine = z.discriminatedUnion("type", [
  z.object({ type: z.literal("addFile"), ...added }),
  z.object({ type: z.literal("copyFile"), ...added, sourceRepoType: z.string(), sourceRepoId: z.string() }),
  z.object({ type: z.literal("deleteFile"), path: z.string() }),
]);

type BatchOperation = z.output<typeof batchLine>;

/** @throws `HTTPException` 400 if a line is invalid, or follows a deletion without being one. */
function readBatch(text: string): BatchOperation[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const operations = lines.map((line, index) => parseRequestJson(batchLine, line, `line ${index + 1}`));
  const firstDeletion = operations.findIndex(({ type }) => type === "deleteFile");
  if (firstDeletion !== -1 && operations.slice(firstDeletion).some(({ type }) => type !== "deleteFile")) {
    throw invalidRequest(["body: send all lines with deleteFile after the other lines"]);
  }
  return operations;
}

/** Executes the operations one by one, and fires `repo.content` update once. */
function runBatch(
  hub: HubContext,
  repository: StoredRepository,
  operations: readonly BatchOperation[],
  context: Request,
  xet: XetStorage,
): z.output<typeof bucketBatchResult> {
  const { objects } = hub.store;
  const changes: FileChange[] = [];
  const failed: { path: string; error: string }[] = [];
  for (const operation of operations) {
    const { path: key } = operation;
    const name = { bucketId: repository.id, key };
    try {
      if (operation.type === "deleteFile") {
        if (objects.delete(name)) changes.push({ path: key });
        continue;
      }
      const problem = findKeyProblem(key) ?? (key === "" ? "is empty" : undefined);
      if (problem !== undefined) throw badRequest(`The path ${problem}. Choose another path.`);
      const source = findSource(hub, operation, repository, context, xet);
      const isNew = objects.get(name) === undefined;
      const { mtime, contentType } = operation;
      objects.copy(source, name, {
        contentType: contentType ?? "application/octet-stream",
        modifiedAt: hub.now(),
        ...(mtime !== undefined && mtime !== null && { mtime }),
      });
      const object = objects.get(name);
      if (object) changes.push({ path: key, object, isNew });
    } catch (error) {
      if (!(error instanceof HTTPException)) throw error;
      failed.push({ path: key, error: error.message });
    }
  }
  if (changes.length > 0) publishFiles({ hub, repository, caller: context.var.caller }, changes);
  const succeeded = operations.length - failed.length;
  return { success: failed.length === 0, processed: operations.length, succeeded, failed };
}

/** @throws `HTTPException` 404 if the file does not exist, or the caller cannot read its bucket. */
function findSource(
  hub: HubContext,
  operation: Exclude<BatchOperation, { type: "deleteFile" }>,
  repository: StoredRepository,
  context: Request,
  xet: XetStorage,
): { bucketId: string; key: string } {
  const { xetHash } = operation;
  const inBucket = ({ id }: StoredRepository) => {
    const object = hub.store.objects.findByXetHash(id, xetHash);
    return object && { bucketId: id, key: object.key };
  };
  if (operation.type === "addFile") {
    const found = xet.findUpload(xetHash) ?? inBucket(repository);
    if (found) return found;
    const message = `The file with the hash "${xetHash}" was not uploaded to Xet. Upload it first.`;
    throw notFound(message);
  }
  const { sourceRepoType, sourceRepoId } = operation;
  if (sourceRepoType !== "bucket") {
    const message = `The local Hub copies files only from buckets. Download the file from the ${sourceRepoType}, and upload it.`;
    throw badRequest(message);
  }
  const source = findByName(hub, { type: "bucket", name: sourceRepoId }, context.var.optionalCaller, "read");
  const found = inBucket(source);
  if (found) return found;
  throw notFound(`The bucket "${sourceRepoId}" has no file with the hash "${xetHash}".`);
}
