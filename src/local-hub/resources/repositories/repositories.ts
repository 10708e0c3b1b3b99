import type { Context, Hono } from "hono";
import type * as z from "zod/mini";
import {
  cardValidation,
  cardValidationResult,
  createdRepository,
  repositoryAdministration,
  repositoryCreation,
  repositoryDeletion,
  repositoryMove,
  type repositorySearch,
} from "../../../hub/repositories/administration.ts";
import {
  type RepositoryInfo,
  repositoryInfo,
  repositoryOperations,
  repositorySettings,
  repositorySettingsResult,
} from "../../../hub/repositories/repositories.ts";
import { type RepositoryPath, toRepoRef, toRepositoryPath } from "../../../hub/repositories/repository-path.ts";
import { getOwner, toAccountName } from "../../accounts.ts";
import { badRequest, errorResponse, invalidRequest } from "../../error-response.ts";
import type { FileChange } from "../../git/content-store.ts";
import type { HubContext } from "../../hub-context.ts";
import {
  canRead,
  checkGate,
  checkNamespaceAccess,
  findByName,
  findCommit,
  findRepository,
  repositoryUrl,
} from "../../routes/repository-access.ts";
import {
  type ApiEnvironment,
  describeRoutes,
  linkNextPage,
  movedRedirect,
  nextPageHeader,
  type ResourceApi,
  serveRoute,
} from "../../routes/route.ts";
import { mainRef, type StoredRepository } from "../../store/repository-store.ts";
import { addToResourceGroup } from "../organizations/resource-groups.ts";
import { decodeContent } from "./commits.ts";
import { createRepository, deleteRepository, moveRepository, updateRepositorySettings } from "./repository-changes.ts";
import { describeRepository, describeWithoutFiles, selectFields, validateCard } from "./repository-info.ts";

const moved = movedRedirect("repository");

const repositoryRoutes = describeRoutes({ ...repositoryAdministration, ...repositoryOperations }, "repos", {
  create: { success: "The new repository.", errors: ["conflict"] },
  move: { success: "The repository was moved. The previous name redirects to it.", errors: ["notFound", "conflict"] },
  delete: { success: "The repository was deleted.", errors: ["notFound"] },
  updateSettings: { success: "The settings." },
  list: { token: "optional", success: "The repositories that the caller can read.", headers: nextPageHeader },
  info: { token: "optional", success: "The repository.", redirect: moved },
  infoAtRevision: { token: "optional", success: "The repository.", redirect: moved },
  checkAccess: {
    ...{ token: "optional", success: "The caller can read the repository.", redirect: moved, errors: ["forbidden"] },
  },
  checkWriteAccess: { success: "The caller can write to the repository." },
  validateCard: {
    token: "optional",
    description: "A card with errors is answered with 400 and the same body.",
    success: "The warnings.",
  },
});

export const repositoryApi = {
  routes: repositoryRoutes,
  components: {
    CardValidation: cardValidation,
    CardValidationResult: cardValidationResult,
    CreatedRepository: createdRepository,
    RepositoryCreation: repositoryCreation,
    RepositoryDeletion: repositoryDeletion,
    RepositoryInfo: repositoryInfo,
    RepositoryMove: repositoryMove,
    RepositorySettings: repositorySettings,
    RepositorySettingsResult: repositorySettingsResult,
  },
  serve(app, hub) {
    serveChanges(app, hub);
    serveReads(app, hub);
    serveRoute(app, repositoryRoutes.validateCard, async ({ body }) => {
      const result = await validateCard(body);
      const [error] = result.errors;
      return error ? errorResponse({ status: 400, message: error.message, fields: result }) : result;
    });
  },
} satisfies ResourceApi;

function serveChanges(app: Hono<ApiEnvironment>, hub: HubContext): void {
  const { store, spaces } = hub;

  serveRoute(app, repositoryRoutes.create, ({ body }, context) => {
    const { user } = context.var.caller;
    const namespace = toAccountName(body.organization ?? user);
    const repo = { type: body.type, name: `${namespace}/${body.name}` };
    checkNamespaceAccess(store, context.var.caller, namespace);
    const isPrivate = readVisibility(body);
    if (body.type === "space" && body.sdk === undefined) {
      throw invalidRequest(["sdk: expected the SDK of the Space: gradio, docker, or static"]);
    }
    const url = repositoryUrl(repo, hub);
    if (store.repositories.get(repo)) {
      // Official clients accept this error with the option `exist_ok`, and read the URL.
      return errorResponse({ status: 409, message: `You already created this ${repo.type} repo`, fields: { url } });
    }
    const repository = store.transaction(() => {
      addToResourceGroup(store, repo, body.resourceGroupId, user);
      const created = createRepository(hub, {
        ...{ ...repo, user, files: firstFiles(body) },
        ...(isPrivate !== undefined && { private: isPrivate }),
        ...(body.type === "space" && { sdk: body.sdk }),
      });
      if (body.type === "space") spaces.configure(created, body);
      return created;
    });
    return { url, name: repo.name, id: repository.id };
  });

  serveRoute(app, repositoryRoutes.move, ({ body: { fromRepo, toRepo, type } }, context) => {
    const { caller } = context.var;
    const repository = findByName(hub, { type, name: fromRepo }, caller, "write");
    checkNamespaceAccess(store, caller, getOwner({ name: toRepo }));
    moveRepository(hub, { repository, name: toRepo, user: caller.user });
  });

  serveRoute(app, repositoryRoutes.delete, ({ body: { name, organization, type } }, context) => {
    const { caller } = context.var;
    const fullName = name.includes("/") ? name : `${organization ?? caller.user}/${name}`;
    const repository = findRepository(hub, toRepositoryPath({ type, name: fullName }), caller, "write");
    deleteRepository(hub, { repository, user: caller.user });
  });

  serveRoute(app, repositoryRoutes.updateSettings, ({ params, body }, context) => {
    const { caller } = context.var;
    const found = findRepository(hub, params, caller, "write");
    const { gated, discussionsDisabled } = body;
    const isPrivate = readVisibility(body);
    const repository = updateRepositorySettings(hub, {
      repository: found,
      user: caller.user,
      settings: {
        ...(isPrivate !== undefined && { private: isPrivate }),
        ...(gated !== undefined && { gated }),
        ...(discussionsDisabled !== undefined && { discussionsDisabled }),
      },
    });
    return {
      private: repository.private,
      visibility: repository.private ? "private" : "public",
      gated: repository.gated,
      discussionsDisabled: repository.discussionsDisabled,
    };
  });
}

function serveReads(app: Hono<ApiEnvironment>, hub: HubContext): void {
  const { store } = hub;

  serveRoute(app, repositoryRoutes.list, async ({ params: { repoType }, query }, context) => {
    const { type } = toRepoRef({ repoType, namespace: "", repo: "" });
    const isListed = (repository: StoredRepository) =>
      repository.type === type && canRead(store, repository, context.var.optionalCaller) && hasName(repository, query);
    const { repositories, next } = await listRepositories(hub, query, store.repositories.all().filter(isListed));
    if (next !== undefined) linkNextPage(context, { cursor: next });
    return repositories;
  });

  serveRoute(app, repositoryRoutes.info, ({ params, query }, context) => describe(context, params, query));
  serveRoute(app, repositoryRoutes.infoAtRevision, ({ params: { rev, ...params }, query }, context) =>
    describe(context, params, query, rev),
  );

  async function describe(
    context: Context<ApiEnvironment>,
    params: RepositoryPath,
    query: { blobs: boolean; expand: string[]; "expand[]": string[] },
    rev?: string,
  ) {
    const repository = findRepository(hub, params, context.var.optionalCaller, "read");
    const commit = rev === undefined ? store.content.resolve(repository.id, mainRef) : findCommit(hub, repository, rev);
    const info = await describeRepository(hub, { repository, commit, blobs: query.blobs });
    return selectFields(info, [...query.expand, ...query["expand[]"]]);
  }

  serveRoute(app, repositoryRoutes.checkAccess, ({ params }, context) => {
    const caller = context.var.optionalCaller;
    checkGate(store, findRepository(hub, params, caller, "read"), caller);
  });

  serveRoute(app, repositoryRoutes.checkWriteAccess, ({ params }, context) => {
    findRepository(hub, params, context.var.caller, "write");
  });
}

/** Returns whether the repository becomes private, or `undefined` if the request does not contain the visibility. */
function readVisibility({
  private: isPrivate,
  visibility,
}: Partial<Pick<z.output<typeof repositoryCreation>, "private" | "visibility">>) {
  if (visibility === undefined) return isPrivate ?? undefined;
  if (isPrivate !== undefined && isPrivate !== null) {
    throw badRequest('Both "private" and "visibility" are set. Send only "visibility".');
  }
  return visibility !== "public";
}

/** The files of the request, and a card if the request has metadata for it, but no card. */
function firstFiles({ name, type, sdk, license, files = [] }: z.output<typeof repositoryCreation>): FileChange[] {
  const changes = files.map((file) => ({ path: file.path, content: decodeContent(file) }));
  const metadata = [
    ...(type === "space" ? [`title: ${name}`, `sdk: ${sdk}`] : []),
    ...(license === undefined ? [] : [`license: ${JSON.stringify(license)}`]),
  ];
  if (metadata.length === 0 || changes.some(({ path }) => path === "README.md")) return changes;
  return [...changes, { path: "README.md", content: Buffer.from(`---\n${metadata.join("\n")}\n---\n`) }];
}

type Search = z.output<typeof repositorySearch>;

/** @throws HTTPException 400 if the cursor is invalid. */
async function listRepositories(hub: HubContext, search: Search, candidates: StoredRepository[]) {
  const repositories: RepositoryInfo[] = [];
  const start = readCursor(search.cursor);
  for (const [index, repository] of candidates.sort(compareBy(search)).entries()) {
    if (index < start) continue;
    const commit = hub.store.content.resolve(repository.id, mainRef);
    const expand = [...search.expand, ...search["expand[]"]];
    const needsFiles = expand.length === 0 ? search.full : expand.some((name) => fileFields.has(name));
    const describe = needsFiles ? describeRepository : describeWithoutFiles;
    const info = await describe(hub, { repository, commit });
    if (!hasTags(info, search)) continue;
    if (repositories.length === search.limit) return { repositories, next: String(index) };
    const hasCard = expand.length > 0 || search.full || search.cardData;
    repositories.push(selectFields(hasCard ? info : { ...info, cardData: undefined }, expand));
  }
  return { repositories, next: undefined };
}

const fileFields: ReadonlySet<string> = new Set(["siblings", "usedStorage"]);

function hasName(repository: StoredRepository, { author, search }: Search): boolean {
  if (author !== undefined && getOwner(repository) !== toAccountName(author)) return false;
  const name = repository.name.toLowerCase();
  return search.every((text) => name.includes(text.toLowerCase()));
}

function hasTags({ tags = [], pipeline_tag }: RepositoryInfo, search: Search): boolean {
  if (search.pipeline_tag !== undefined && pipeline_tag !== search.pipeline_tag) return false;
  return search.filter.flatMap((tag) => tag.split(",")).every((tag) => tags.includes(tag) || tag === pipeline_tag);
}

/** Returns a function that compares repositories. Repositories with equal values, such as likes, are sorted by name. */
function compareBy({ sort = "lastModified", direction }: Search) {
  const sign = direction === "1" || (direction === undefined && sort === "id") ? 1 : -1;
  return (left: StoredRepository, right: StoredRepository): number => {
    const byName = compareText(left.name, right.name);
    if (sort === "id") return sign * byName;
    if (sort === "createdAt") return sign * (left.createdAt - right.createdAt) || byName;
    if (sort === "lastModified") return sign * (left.lastModified - right.lastModified) || byName;
    return byName;
  };
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function readCursor(cursor = "0"): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw invalidRequest(['cursor: expected the value from the "Link" header of the previous page']);
}
