import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import * as z from "zod/mini";
import {
  type ChangedFile,
  type FileContent,
  type RepositoryChanges,
  type RepositoryDetails,
  type RepositoryInfo,
  type RepositoryKey,
  type RepositoryList,
  type RepositoryPage,
  repositoryKey,
  repositoryRead,
} from "../../console/protocol/hub.ts";
import { type ConsoleResource, readQuery } from "../../console/server/api.ts";
import { WebhookError } from "../../core/errors.ts";
import { cutAt } from "../../core/text.ts";
import { repositoryPath } from "../../hub/repositories/repository-path.ts";
import { repoRef } from "../../hub/schemas.ts";
import { getOwner } from "../accounts.ts";
import { errorResponse } from "../error-response.ts";
import { isWatching } from "../events/publish-change.ts";
import { type DiffedPath, findRenames, formatPatchOf } from "../git/diff.ts";
import type { HubContext } from "../hub-context.ts";
import { commitApi } from "../resources/repositories/commits.ts";
import { discussionApi } from "../resources/repositories/discussion-routes.ts";
import { fileApi } from "../resources/repositories/files.ts";
import { findCommit, findRepository as findStored } from "../routes/repository-access.ts";
import { type ApiEnvironment, anyNamespace, linkNextPage } from "../routes/route.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { nameOfWebhook, notFound, triggerCommand } from "./webhooks-api.ts";

const maxListed = 1_000;
const maxTextBytes = 256 * 1024;

export function repositoriesApi(hub: HubContext): ConsoleResource {
  const read = createReader(hub);
  return (app) => {
    app.get("/repositories", (context) => {
      const all = hub.store.repositories.all();
      return context.json<RepositoryList>({
        repositories: all.slice(0, maxListed).map(toRepositoryInfo),
        unlisted: Math.max(0, all.length - maxListed),
        pushCommand: triggerCommand(hub),
      });
    });

    app.get("/repositories/one", (context) => {
      const repository = findRepository(hub, readQuery(context, repositoryKey));
      return context.json(toRepositoryDetails(hub, repository));
    });

    app.get("/repositories/read", async (context) => {
      const { response, base } = await read(context, { headers: { range: `bytes=0-${maxTextBytes - 1}` } });
      if (!response.headers.get("content-type")?.startsWith("application/json")) {
        return context.json<RepositoryPage<FileContent>>({ value: await toFileContent(response) });
      }
      const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      return context.json<RepositoryPage<unknown>>({
        value: await response.json(),
        ...(next !== undefined && { next: next.slice(base.length) }),
      });
    });

    app.get("/repositories/download", async (context) => {
      const { response } = await read(context, { method: context.req.method });
      const headers = new Headers(response.headers);
      // The content comes from any user, and has the origin of the console: it must never be shown as a page.
      headers.set("content-type", "application/octet-stream");
      headers.set(
        "content-disposition",
        headers.get("content-disposition")?.replace(/^inline/, "attachment") ?? "attachment",
      );
      return new Response(response.body, { status: response.status, headers });
    });
  };
}

/** The header with the owner, as whom the console reads a repository. Only the console sends requests to the reader. */
const ownerHeader = "x-repository-owner";
const errorBody = z.object({ error: z.string() });

interface ReadOptions {
  method?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Reads through the API, private repositories too, because the user of the console is the developer who runs the local Hub. */
function createReader(hub: HubContext) {
  const app = new Hono<ApiEnvironment>();
  app.use(async (context, next) => {
    const user = context.req.header(ownerHeader) ?? "";
    context.set("optionalCaller", { user, tokenRole: "read", tokenId: "console" });
    await next();
  });
  for (const api of [fileApi, commitApi, discussionApi]) api.serve(app, hub);
  serveChanges(app, hub);
  app.notFound(() => errorResponse({ status: 404, message: "The console cannot read this part of a repository." }));
  app.onError((error) => {
    if (!(error instanceof HTTPException)) throw error;
    return errorResponse({ status: error.status, message: error.message });
  });
  /** @throws `NOT_FOUND`, or `ARGUMENT_INVALID` for an invalid query. */
  return async (context: Context, { method = "GET", headers = {} }: ReadOptions) => {
    const { path, ...key } = readQuery(context, repositoryRead);
    const repository = findRepository(hub, key);
    const { type, name } = repository;
    const isFile = path.startsWith("resolve/");
    const folder = `${isFile ? "" : "/api"}${isFile && type === "model" ? "" : `/${type}s`}`;
    // The routes have an empty owner for a repository without one.
    const base = new URL(`${hub.hubUrl}${folder}/${name.includes("/") ? name : `/${name}`}/`);
    const url = URL.parse(path, base);
    // A path such as `../other` must not leave the repository, whose owner has access.
    if (!url?.href.startsWith(base.href)) throw notFound("The console cannot read this part of a repository.");
    const request = { method, headers: { ...headers, [ownerHeader]: getOwner(repository) } };
    const response = await app.fetch(new Request(url, request));
    const { ok, status } = response;
    if (ok) return { response, base: base.href };
    const message = method === "HEAD" ? "Not found." : errorBody.parse(await response.json()).error;
    throw new WebhookError(message, { code: status === 400 ? "ARGUMENT_INVALID" : "NOT_FOUND", status });
  };
}

/** Reads the start of a text file. Discards the content of other files. */
async function toFileContent(response: Response): Promise<FileContent> {
  const { headers } = response;
  const size = Number(headers.get("content-range")?.split("/")[1] ?? headers.get("content-length"));
  const isInLfs = headers.has("x-linked-etag");
  if (!headers.get("content-type")?.startsWith("text/plain")) {
    await response.body?.cancel();
    return { size, isInLfs, isCut: false };
  }
  const isCut = size > maxTextBytes;
  // With `stream`, the decoder leaves out a character that the limit has cut.
  const text = new TextDecoder().decode(await response.arrayBuffer(), { stream: isCut });
  return { size, isInLfs, text, isCut };
}

/** Finds a repository, also by a previous name. @throws `NOT_FOUND`. */
function findRepository({ store }: HubContext, { type, name }: RepositoryKey): StoredRepository {
  const { data: repo } = repoRef.safeParse({ type, name });
  const found = repo && (store.repositories.get(repo) ?? store.repositories.findMoved(repo));
  if (!found)
    throw notFound("This repository does not exist. It may have been deleted. Open another one from the list.");
  return found;
}

function toRepositoryInfo(repository: StoredRepository): RepositoryInfo {
  const { type, name, private: isPrivate, createdAt, lastModified, headSha, discussions } = repository;
  return { type, name, isPrivate, createdAt, lastModified, ...(headSha !== undefined && { headSha }), discussions };
}

function toRepositoryDetails({ store, hubUrl }: HubContext, repository: StoredRepository): RepositoryDetails {
  const { id, type, name } = repository;
  const watching = store.webhooks.all().filter((webhook) => isWatching(webhook, { repo: { type, name } }));
  return {
    ...toRepositoryInfo(repository),
    refs: store.content.refs(id).map((ref) => ({ name: ref.name, sha: ref.oid })),
    webhooks: watching.map((webhook) => ({ id: webhook.id, name: nameOfWebhook(webhook) })),
    pushCommand: triggerCommand({ hubUrl }, { watched: [{ type, name }] }),
  };
}

const maxFiles = 20;
const maxPatchCharacters = 64_000;

/** Serves what a commit changes since its first parent, or a pull request since its base. */
function serveChanges(app: Hono<ApiEnvironment>, hub: HubContext): void {
  const { content, discussions } = hub.store;
  app.get(`/api/:repoType/:namespace${anyNamespace}/:repo/changes/:rev`, (context) => {
    const { rev, ...path } = context.req.param();
    const { data: params } = repositoryPath.safeParse(path);
    if (!params) return context.notFound();
    const repository = findStored(hub, params, context.var.optionalCaller, "read");
    const commit = findCommit(hub, repository, rev);
    const [, num] = /^refs\/pr\/(\d{1,9})$/.exec(rev) ?? [];
    const pullRequest = num && discussions.get({ repositoryId: repository.id, num: Number(num) });
    const base = pullRequest ? pullRequest.baseCommit : commit.parents[0];
    const before = base && content.getCommit(repository.id, base)?.tree;
    const changed = findRenames(content.compare(before, commit.tree));
    const skip = Number(context.req.query("skip") ?? 0);
    if (skip + maxFiles < changed.length) linkNextPage(context, { skip: `${skip + maxFiles}` });
    const { oid: sha, title, message, author, date: at } = commit;
    return context.json<RepositoryChanges>({
      commit: { sha, title, message, author, at },
      files: changed.slice(skip, skip + maxFiles).map((change) => toChangedFile(hub, change)),
      skip,
      total: changed.length,
    });
  });
}

function toChangedFile({ store }: HubContext, change: DiffedPath): ChangedFile {
  const { path, previousPath, before, after } = change;
  const { patch, reason } = formatPatchOf(store.content, change);
  const count = (sign: string) => patch?.split("\n").filter((line) => line.startsWith(sign)).length ?? 0;
  return {
    ...{ path, added: count("+"), removed: count("-"), isCut: (patch?.length ?? 0) > maxPatchCharacters },
    change: previousPath !== undefined ? "renamed" : !before ? "new" : after ? "changed" : "deleted",
    sizes: [before, after].flatMap((file) => file?.size ?? []),
    ...(previousPath !== undefined && { previousPath }),
    ...(reason !== undefined && { reason }),
    ...(patch !== undefined && { patch: cutAt(patch, maxPatchCharacters) }),
  };
}
