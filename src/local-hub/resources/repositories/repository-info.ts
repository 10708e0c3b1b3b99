import { isRecord } from "../../../core/describe.ts";
import type { RepositoryInfo } from "../../../hub/repositories/repositories.ts";
import { getOwner } from "../../accounts.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { FileEntry } from "../../git/tree-store.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredRepository } from "../../store/repository-store.ts";

interface DescribeOptions {
  repository: StoredRepository;
  /** The commit to describe. Missing for a repository without commits. */
  commit: Commit | undefined;
  /** Whether the files have sizes and object IDs. Default `false`. */
  blobs?: boolean;
}

export async function describeRepository(hub: HubContext, options: DescribeOptions): Promise<RepositoryInfo> {
  const { repository, commit, blobs = false } = options;
  const files = commit ? listFiles(hub, commit) : [];
  return {
    ...(await describeWithoutFiles(hub, { repository, commit })),
    siblings: files.map((file) => describeFile(file, blobs)),
    usedStorage: files.reduce((total, { size }) => total + size, 0),
  };
}

/** `siblings` and `usedStorage` require a list of all files. */
export async function describeWithoutFiles(hub: HubContext, options: DescribeOptions): Promise<RepositoryInfo> {
  const { repository, commit } = options;
  const { type, name, id } = repository;
  const card = commit && (await readCard(hub, commit));
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
    ...(type === "space" && spaceFields(hub, repository, card)),
  };
}

/** Returns `_id`, `id`, and the fields with these names. Returns all fields if there are no names. */
export function selectFields(info: RepositoryInfo, names: readonly string[]): RepositoryInfo {
  if (names.length === 0) return info;
  const kept = new Set(["_id", "id", ...names]);
  const { _id, id } = info;
  return { ...Object.fromEntries(Object.entries(info).filter(([name]) => kept.has(name))), _id, id };
}

function listFiles({ store }: HubContext, { tree }: Commit): FileEntry[] {
  return Array.from(store.content.list(tree, { recursive: true })).filter(({ type }) => type === "file");
}

function describeFile({ path, oid, size, lfs }: FileEntry, blobs: boolean) {
  if (!blobs) return { rfilename: path };
  return {
    rfilename: path,
    size,
    blobId: oid,
    ...(lfs && { lfs: { sha256: lfs.oid, size: lfs.size, pointerSize: lfs.pointerSize } }),
  };
}

async function readCard({ store }: HubContext, { tree }: Commit): Promise<CardData | undefined> {
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

function spaceFields({ spaces, hubUrl }: HubContext, repository: StoredRepository, card: CardData | undefined) {
  const { stage, hardware } = spaces.runtime(repository);
  const found = texts(card?.sdk)[0] ?? repository.sdk;
  return {
    ...(found !== undefined && { sdk: found }),
    subdomain: repository.name.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
    host: spaces.url(repository) ?? hubUrl,
    runtime: { stage, hardware },
    models: texts(card?.models),
    datasets: texts(card?.datasets),
  };
}

type CardData = Record<string, unknown>;

type ParsedCard = { data: CardData } | { missing: true } | { error: string };

const frontMatter = /^\uFEFF?\s*---[ \t]*\r?\n([\s\S]*?)^---[ \t]*\r?$/m;

/** The maximum length of the metadata. Longer metadata is not read, because parsing would block the local Hub. */
const maxLength = 100_000;

/** Parses the metadata at the start of a card: YAML between two lines that contain only `---`. */
export async function parseCard(content: string): Promise<ParsedCard> {
  const found = frontMatter.exec(content);
  // Without `^` for the start of the content, the flag `m` also finds metadata in later lines.
  if (found?.index !== 0) return { missing: true };
  const text = found[1] ?? "";
  if (text.trim() === "") return { missing: true };
  if (text.length > maxLength) return { error: `The metadata is longer than ${maxLength} characters.` };
  const { parse } = await import("yaml");
  try {
    const data: unknown = parse(text, { maxAliasCount: 20, logLevel: "error" });
    return isRecord(data) ? { data } : { error: "The metadata is not a mapping of names to values." };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

type CardProblems = Record<"errors" | "warnings", { message: string }[]>;

/** Checks the metadata of a card. Missing metadata is a warning, except for a Space, which needs an SDK. */
export async function validateCard(file: { content: string; repoType: string }): Promise<CardProblems> {
  const { content, repoType } = file;
  const card = await parseCard(content);
  if ("error" in card) return { errors: [{ message: `Invalid YAML in the metadata: ${card.error}` }], warnings: [] };
  if ("missing" in card) return { errors: [], warnings: [{ message: "empty or missing yaml metadata in repo card" }] };
  const { data } = card;
  const check = (names: readonly string[], isValid: (value: unknown) => boolean, expected: string) =>
    names
      .filter((name) => !isMissing(data[name]) && !isValid(data[name]))
      .map((name) => `"${name}" must be ${expected}`);
  const errors = [
    ...check(["tags", "datasets", "metrics"], Array.isArray, "an array"),
    ...check(["license", "language", "base_model"], isTextOrList, "a string or an array of strings"),
    ...check(["library_name", "pipeline_tag", "title"], (value) => typeof value === "string", "a string"),
    ...(repoType === "model" ? modelIndexProblems(data["model-index"]) : []),
    ...(repoType === "space" && !spaceSdks.includes(String(data.sdk))
      ? [`"sdk" must be one of [${spaceSdks.join(", ")}]`]
      : []),
  ];
  return { errors: errors.map((message) => ({ message })), warnings: [] };
}

/** Returns what is wrong with the evaluation results of a model: a list of models with the results of each. */
function modelIndexProblems(index: unknown): string[] {
  if (isMissing(index)) return [];
  if (!Array.isArray(index)) return ['"model-index" must be an array'];
  return index.flatMap((model, number) => {
    const at = `"model-index[${number}]`;
    if (!isRecord(model)) return [`${at}" must be an object`];
    return [
      ...(typeof model.name === "string" ? [] : [`${at}.name" must be a string`]),
      ...(Array.isArray(model.results) ? [] : [`${at}.results" must be an array`]),
    ];
  });
}

const spaceSdks = ["gradio", "docker", "static", "streamlit"];

/** The fields of dataset cards that the Hub converts to tags such as `task_categories:text-classification`. */
const datasetTagFields = [
  "annotations_creators",
  "language_creators",
  "task_categories",
  "task_ids",
  "multilinguality",
  "source_datasets",
  "size_categories",
];

/** Derives the tags of a repository from the metadata of its card, as on the Hub. */
export function tagsOf(data: CardData, { type }: { type: string }): string[] {
  const prefixed = (name: string, prefix = name) => texts(data[name]).map((value) => `${prefix}:${value}`);
  const tags = [
    ...(type === "model" ? [...texts(data.library_name), ...texts(data.language)] : []),
    ...(type === "dataset" ? datasetTagFields.flatMap((name) => prefixed(name)) : []),
    ...(type === "dataset" ? prefixed("language") : []),
    ...(type === "space" ? texts(data.sdk) : []),
    ...texts(data.tags),
    ...prefixed("datasets", "dataset"),
    ...prefixed("base_model"),
    ...prefixed("license"),
    "region:us",
  ];
  return [...new Set(tags)];
}

function texts(value: unknown): string[] {
  return [value].flat().filter((item) => typeof item === "string");
}

function isTextOrList(value: unknown): boolean {
  return [value].flat().every((item) => typeof item === "string");
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
