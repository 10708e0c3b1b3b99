/** The metadata of a card (`README.md`). */
export type CardData = Record<string, unknown>;

/** The metadata at the start of a card, or the problem with it. */
export type ParsedCard = { data: CardData } | { missing: true } | { error: string };

const frontMatter = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*\r?$/m;

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

/** The result of {@link validateCard}. */
export interface CardProblems {
  errors: { message: string }[];
  warnings: { message: string }[];
}

/** Checks the metadata of a card. Missing metadata is a warning, except for a Space, which needs an SDK. */
export async function validateCard({
  content,
  repoType,
}: {
  content: string;
  repoType: string;
}): Promise<CardProblems> {
  const card = await parseCard(content);
  if ("error" in card) return { errors: [{ message: `Invalid YAML in the metadata: ${card.error}` }], warnings: [] };
  if ("missing" in card) {
    const message = "empty or missing yaml metadata in repo card";
    return { errors: [], warnings: [{ message }] };
  }
  const { data } = card;
  const errors = [
    ...["tags", "datasets", "metrics"]
      .filter((name) => !isMissing(data[name]) && !Array.isArray(data[name]))
      .map((name) => `"${name}" must be an array`),
    ...["license", "language", "base_model"]
      .filter((name) => !isMissing(data[name]) && !isTextOrList(data[name]))
      .map((name) => `"${name}" must be a string or an array of strings`),
    ...["library_name", "pipeline_tag", "title"]
      .filter((name) => !isMissing(data[name]) && typeof data[name] !== "string")
      .map((name) => `"${name}" must be a string`),
    ...(repoType === "space" && !spaceSdks.includes(String(data.sdk))
      ? [`"sdk" must be one of [${spaceSdks.join(", ")}]`]
      : []),
  ];
  return { errors: errors.map((message) => ({ message })), warnings: [] };
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

/** Returns a text or the texts in a list. */
export function texts(value: unknown): string[] {
  return [value].flat().filter((item) => typeof item === "string");
}

function isTextOrList(value: unknown): boolean {
  return [value].flat().every((item) => typeof item === "string");
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isRecord(value: unknown): value is CardData {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
