import type { RepositoryInfo } from "../../../hub/repositories/repositories.ts";
import { getOwner } from "../../accounts.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { FileEntry } from "../../git/tree-entry.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { type CardData, parseCard, tagsOf, texts } from "./card.ts";

type Source = Pick<HubContext, "store" | "hubUrl">;

export interface DescribeOptions {
  repository: StoredRepository;
  /** The commit to describe. Missing for a repository without commits. */
  commit: Commit | undefined;
  /** Whether the files have sizes and object IDs. Default `false`. */
  blobs?: boolean;
}

/** Describes a repository at a commit, with all fields. */
export async function describeRepository(
  source: Source,
  { repository, commit, blobs = false }: DescribeOptions,
): Promise<RepositoryInfo> {
  const files = commit ? listFiles(source, commit) : [];
  return {
    ...(await describeWithoutFiles(source, { repository, commit })),
    siblings: files.map((file) => describeFile(file, { blobs })),
    usedStorage: files.reduce((total, { size }) => total + size, 0),
  };
}

/** Describes a repository without `siblings` and `usedStorage`, which require a list of all files. */
export async function describeWithoutFiles(
  source: Source,
  { repository, commit }: Pick<DescribeOptions, "repository" | "commit">,
): Promise<RepositoryInfo> {
  const { type, name, id } = repository;
  const card = commit && (await readCard(source, commit));
  return {
    _id: id,
    id: name,
    ...(type === "model" && { modelId: name }),
    author: getOwner(repository),
    ...(commit && { sha: commit.oid }),
    lastModified: new Date(commit?.date ?? repository.lastModified).toISOString(),
    createdAt: new Date(repository.createdAt).toISOString(),
    private: repository.private,
    gated: repository.gated,
    disabled: false,
    discussionsDisabled: repository.discussionsDisabled,
    downloads: 0,
    likes: 0,
    tags: tagsOf(card ?? {}, repository),
    ...(type === "model" && modelFields(card)),
    ...(card && { cardData: card }),
    ...(type === "space" && spaceFields(repository, { card, hubUrl: source.hubUrl })),
  };
}

/** Returns `_id`, `id`, and the fields with these names. Returns all fields if there are no names. */
export function selectFields(info: RepositoryInfo, names: readonly string[]): RepositoryInfo {
  if (names.length === 0) return info;
  const kept = new Set(["_id", "id", ...names]);
  const { _id, id } = info;
  return { ...Object.fromEntries(Object.entries(info).filter(([name]) => kept.has(name))), _id, id };
}

function listFiles({ store }: Source, { tree }: Commit): FileEntry[] {
  return Array.from(store.content.list(tree, { recursive: true })).filter(({ type }) => type === "file");
}

function describeFile({ path, oid, size, lfs }: FileEntry, { blobs }: { blobs: boolean }) {
  if (!blobs) return { rfilename: path };
  return {
    rfilename: path,
    size,
    blobId: oid,
    ...(lfs && { lfs: { sha256: lfs.oid, size: lfs.size, pointerSize: lfs.pointerSize } }),
  };
}

/** Reads the metadata of `README.md`. */
async function readCard({ store }: Source, { tree }: Commit): Promise<CardData | undefined> {
  const file = store.content.find(tree, "README.md");
  if (file?.type !== "file" || file.lfs) return undefined;
  const card = await parseCard(new TextDecoder().decode(store.content.read(file)));
  return "data" in card ? card.data : undefined;
}

function modelFields(card: CardData | undefined) {
  const [task] = texts(card?.pipeline_tag);
  const [library] = texts(card?.library_name);
  return { ...(task !== undefined && { pipeline_tag: task }), ...(library !== undefined && { library_name: library }) };
}

function spaceFields(
  { name, sdk }: StoredRepository,
  { card, hubUrl }: { card: CardData | undefined; hubUrl: string },
) {
  const found = texts(card?.sdk)[0] ?? sdk;
  return {
    ...(found !== undefined && { sdk: found }),
    subdomain: subdomainOf(name),
    host: hubUrl,
    // The local Hub does not run Spaces.
    runtime: { stage: "STOPPED", hardware: { current: null, requested: "cpu-basic" } },
    models: texts(card?.models),
    datasets: texts(card?.datasets),
  };
}

function subdomainOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}
