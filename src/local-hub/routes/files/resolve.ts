import type { Context, Hono } from "hono";
import { fileOperations } from "../../../hub/repositories/files.ts";
import type { RepositoryPath } from "../../../hub/repositories/repository-path.ts";
import { CodedException } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { canRead, findCommit, findRepository } from "../repository-access.ts";
import { describeRoute, type ResourceApi, type RouteDetails, serveRoute } from "../route.ts";
import { fileResponse } from "./file-response.ts";
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
