import type { Context, Hono, MiddlewareHandler } from "hono";
import type * as z from "zod/mini";
import { fileOperations, pathsInfoRequest, treeEntry } from "../../../hub/repositories/contents.ts";
import { errorResponse, invalidRequest } from "../../error-response.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { ContentStore } from "../../git/content-store.ts";
import type { FileEntry } from "../../git/tree-entry.ts";
import type { HubContext } from "../../hub-context.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { findCommit, findRepository } from "../repository-access.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const treeRoutes = {
  tree: describeRoute(fileOperations.tree, {
    tag: "repos",
    token: "optional",
    parameters: {
      recursive: { in: "query", description: "Whether to include subfolders." },
      expand: { in: "query", description: "Whether to include the last commit and the security status." },
      limit: { in: "query", description: "Default and maximum 1000, or 100 with expand." },
      cursor: { in: "query", description: "The start of the page, from the Link header." },
    },
    success: {
      description: "The entries, in git's order.",
      headers: { Link: { description: 'The URL of the next page, with rel="next".' } },
    },
    errors: ["invalid", "notFound"],
  }),
  pathsInfo: describeRoute(fileOperations.pathsInfo, {
    tag: "repos",
    token: "optional",
    description: "Also accepts a form. Ignores paths that do not exist.",
    success: { description: "The files and folders." },
    errors: ["invalid", "notFound"],
  }),
} as const;

/** Serves the lists of files. */
export const treeApi = {
  routes: treeRoutes,
  components: { TreeEntry: treeEntry, PathsInfoRequest: pathsInfoRequest },
  serve(app: Hono<ApiEnvironment>, hub: HubContext) {
    const { content } = hub.store;
    serveRoute(app, treeRoutes.tree, ({ params: sent, query }, context) => {
      const params = joinRef(sent);
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      const page = readTreePage(content, {
        ...{ repositoryId: repository.id, path: params.path, ...query },
        findCommit: (rev) => findCommit(hub, repository, rev),
        rev: params.rev,
      });
      if (!page) return entryNotFound({ path: params.path, rev: params.rev });
      if (page.next !== undefined) linkNextPage(context, { cursor: page.next });
      const { commit, entries } = page;
      return toTreeEntries(content, { repositoryId: repository.id, commit, entries, expand: query.expand });
    });

    app.use("/api/:repoType/:namespace/:repo/paths-info/:rev", formToJson);
    serveRoute(app, treeRoutes.pathsInfo, ({ params, body }, context) => {
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      const commit = findCommit(hub, repository, params.rev);
      const entries = [body.paths].flat().flatMap((path) => content.find(commit.tree, path.replace(/\/$/, "")) ?? []);
      return toTreeEntries(content, { repositoryId: repository.id, commit, entries, expand: body.expand });
    });
  },
} satisfies ResourceApi;

/**
 * Restores a ref such as `refs/pr/1` that the client did not encode, as the JavaScript client does. The router then reads the rest of
 * the ref as the start of the path.
 */
function joinRef<Params extends { rev: string; path: string }>(params: Params): Params {
  if (params.rev !== "refs") return params;
  const [kind = "", name = "", ...path] = params.path.split("/");
  return { ...params, rev: `refs/${kind}/${name}`, path: path.join("/") };
}

/** Converts the form that the Python client sends to JSON. */
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
export function entryNotFound({ path, rev, commit }: { path: string; rev: string; commit?: string }): Response {
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
    repositoryId,
    commit,
    entries,
    expand,
  }: { repositoryId: string; commit: Commit; entries: readonly FileEntry[]; expand: boolean },
): TreeEntry[] {
  if (!expand) return entries.map(toTreeEntry);
  const paths = entries.map(({ path }) => path);
  const commits = content.lastCommits(repositoryId, commit.oid, paths);
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

/** A page of a list of files. */
interface TreePage {
  commit: Commit;
  entries: FileEntry[];
  /** The cursor of the next page. */
  next: string | undefined;
}

interface TreePageOptions {
  path: string;
  rev: string;
  recursive: boolean;
  expand: boolean;
  limit?: number | undefined;
  cursor?: string | undefined;
  findCommit: (rev: string) => Commit;
}

const maxEntries = { plain: 1_000, expanded: 100 };

/**
 * Reads a page of the files of a folder. All pages show the same commit, even if the branch changes in between. Returns `undefined` if
 * the folder does not exist.
 */
function readTreePage(content: ContentStore, options: TreePageOptions): TreePage | undefined {
  const { recursive, expand, findCommit } = options;
  const path = options.path.replace(/\/+$/, "");
  const { rev, start } = options.cursor === undefined ? { rev: options.rev, start: 0 } : readCursor(options.cursor);
  const commit = findCommit(rev);
  if (content.find(commit.tree, path)?.type !== "directory") return undefined;
  const max = expand ? maxEntries.expanded : maxEntries.plain;
  const end = start + Math.min(options.limit ?? max, max);
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

/** Adds the `Link` header of the next page to the response. `query` contains the parameters that differ from this page. */
export function linkNextPage(context: Context, query: Readonly<Record<string, string>>): void {
  // The link has the host of the request, because clients do not follow links to another host.
  const url = new URL(context.req.url);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  context.header("link", `<${url.href}>; rel="next"`);
}
