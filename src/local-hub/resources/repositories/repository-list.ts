import type * as z from "zod/mini";
import type { repositorySearch } from "../../../hub/repositories/repositories.ts";
import type { RepositoryInfo } from "../../../hub/repositories/repository-info.ts";
import { getOwner } from "../../accounts.ts";
import { invalidRequest } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import { mainRef } from "../../repository-content.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { describeRepository, describeWithoutFiles, selectFields } from "./repository-info.ts";

export interface ListOptions {
  type: StoredRepository["type"];
  search: z.output<typeof repositorySearch>;
  /** Whether the caller can read the repository. */
  isReadable: (repository: StoredRepository) => boolean;
}

/** A page of repositories. */
export interface RepositoryPage {
  repositories: RepositoryInfo[];
  /** The cursor of the next page. */
  next: string | undefined;
}

/**
 * Lists the repositories that match a search.
 *
 * @throws HTTPException 400 if the cursor is invalid.
 */
export async function listRepositories(
  source: Pick<HubContext, "store" | "hubUrl">,
  { type, search, isReadable }: ListOptions,
): Promise<RepositoryPage> {
  const { content, repositories: stored } = source.store;
  const candidates = stored
    .all()
    .filter((repository) => repository.type === type && isReadable(repository) && hasName(repository, search))
    .sort(compareBy(search));
  const repositories: RepositoryInfo[] = [];
  for (let index = readCursor(search.cursor); index < candidates.length; index += 1) {
    const repository = candidates[index];
    if (!repository) break;
    const commit = content.resolve(repository.id, mainRef);
    const expand = [...search.expand, ...search["expand[]"]];
    const needsFiles = expand.length === 0 ? search.full : expand.some((name) => fileFields.has(name));
    const describe = needsFiles ? describeRepository : describeWithoutFiles;
    const info = await describe(source, { repository, commit });
    if (!hasTags(info, search)) continue;
    if (repositories.length === search.limit) return { repositories, next: String(index) };
    const hasCard = expand.length > 0 || search.full || search.cardData;
    repositories.push(selectFields(hasCard ? info : { ...info, cardData: undefined }, expand));
  }
  return { repositories, next: undefined };
}

const fileFields: ReadonlySet<string> = new Set(["siblings", "usedStorage"]);

type Search = ListOptions["search"];

function hasName(repository: StoredRepository, { author, search }: Search): boolean {
  if (author !== undefined && getOwner(repository) !== author) return false;
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
    switch (sort) {
      case "id":
        return sign * byName;
      case "createdAt":
        return sign * (left.createdAt - right.createdAt) || byName;
      case "lastModified":
        return sign * (left.lastModified - right.lastModified) || byName;
      default:
        return byName;
    }
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
