import type { Hono, MiddlewareHandler } from "hono";
import { fileOperations, pathsInfoRequest, treeEntry } from "../../../hub/repositories/files.ts";
import { errorResponse } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { findCommit, findRepository } from "../repository-access.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";
import { linkNextPage } from "./next-page.ts";
import { toTreeEntries } from "./tree-entries.ts";
import { readTreePage } from "./tree-page.ts";

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
