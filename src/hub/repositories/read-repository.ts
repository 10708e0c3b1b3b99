import { HubError } from "../../core/errors.ts";
import type { CallOptions } from "../operation.ts";
import { fieldInvalid } from "../validation/arguments.ts";
import { type ChangedFile, compareTrees, readDiff } from "./changed-files.ts";
import {
  commitOperations,
  fileOperations,
  type RepositoryCommit,
  type RepositoryFile,
  type RepositoryRefs,
  refOperations,
} from "./contents.ts";
import { type RepositoryInfo, repositoryOperations } from "./repositories.ts";
import type { RepositoryContext } from "./repository-context.ts";

/** Reads a repository at a revision. Default: the main branch. */
export function readInfo(
  { client, path }: RepositoryContext,
  { revision, signal }: RevisionOptions,
): Promise<RepositoryInfo> {
  const { transport } = client;
  if (revision === undefined) return transport.call(repositoryOperations.info, { params: path }, { signal });
  return transport.call(repositoryOperations.infoAtRevision, { params: { ...path, rev: revision } }, { signal });
}

/** Lists the refs of a repository, including pull requests. */
export function readRefs({ client, path }: RepositoryContext, { signal }: CallOptions): Promise<RepositoryRefs> {
  return client.transport.call(refOperations.list, { params: path, query: { include_prs: true } }, { signal });
}

/** Lists the commits of a revision. */
export function readCommitPages(
  { client, path }: RepositoryContext,
  { revision: rev = "main", signal }: RevisionOptions,
): AsyncGenerator<RepositoryCommit[], void, undefined> {
  return client.transport.pages(commitOperations.list, { params: { ...path, rev } }, { signal });
}

/** Changes the visibility of a repository. */
export async function setVisibility(
  { client, path }: RepositoryContext,
  { visibility, signal }: CallOptions & { visibility: "public" | "private" | "protected" },
): Promise<void> {
  await client.transport.call(repositoryOperations.updateSettings, { params: path, body: { visibility } }, { signal });
}

/** The options of methods that read at a revision. */
export interface RevisionOptions extends CallOptions {
  /** A branch, a tag, a ref such as `refs/pr/1`, or a commit. Default `main`. */
  revision?: string | undefined;
}

/** The options of methods that read a file. */
export interface ReadFileOptions extends RevisionOptions {
  /**
   * The maximum size of the file in bytes. Default 10 MiB (10,485,760). The file must arrive within the `timeout` of the client.
   */
  maxBytes?: number | undefined;
}

/** The options of `listFiles`. */
export interface ListFilesOptions extends RevisionOptions {
  /** The folder to list. Default: the root folder. */
  folder?: string | undefined;
  /** Whether to include the files in subfolders. Default `true`. */
  recursive?: boolean | undefined;
}

/** The revisions to compare. */
export interface ChangedFilesOptions extends CallOptions {
  /** The older revision, such as `oldSha` in a payload. `null`: there is none. */
  from: string | null;
  /** The newer revision, such as `newSha` in a payload. */
  to: string;
  /**
   * The ref that was updated, such as `ref` in a payload. If `from` is `null`, a new ref is compared with the main branch, like for the
   * `paths` option of an endpoint. Without this option, and for the main branch, every file of `to` is added.
   */
  ref?: string | undefined;
}

const mainRef = "refs/heads/main";
const defaultMaxBytes = 10 * 1024 * 1024;

export async function* readFilePages(
  { client, path }: RepositoryContext,
  { revision: rev = "main", folder = "", recursive = true, signal }: ListFilesOptions,
): AsyncGenerator<RepositoryFile[], void, undefined> {
  const input = { params: { ...path, rev, path: folder }, query: { recursive } };
  for await (const entries of client.transport.pages(fileOperations.tree, input, { signal })) {
    yield entries.filter(({ type }) => type !== "directory");
  }
}

export async function readBytes(
  { client, path }: RepositoryContext,
  file: string,
  { revision: rev = "main", maxBytes = defaultMaxBytes, signal }: ReadFileOptions,
): Promise<Uint8Array> {
  if (!(maxBytes >= 0)) throw fieldInvalid("maxBytes", "expected a number of bytes");
  const { repoType, ...name } = path;
  const options = { maxBytes, signal };
  return repoType === "models"
    ? client.transport.download(fileOperations.resolveModel, { params: { ...name, rev, path: file } }, options)
    : client.transport.download(fileOperations.resolve, { params: { ...name, repoType, rev, path: file } }, options);
}

export async function readText(context: RepositoryContext, file: string, options: ReadFileOptions): Promise<string> {
  const bytes = await readBytes(context, file, options);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new HubError(`The file ${JSON.stringify(file)} is not text in UTF-8. Read it with readBytes().`, {
      code: "FILE_INVALID",
    });
  }
}

export async function readJson(context: RepositoryContext, file: string, options: ReadFileOptions): Promise<unknown> {
  const text = await readText(context, file, options);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message is omitted, because it quotes the file.
    throw new HubError(`The file ${JSON.stringify(file)} is not JSON. Read it with readText().`, {
      code: "FILE_INVALID",
    });
  }
}

export async function readChangedFiles(
  context: RepositoryContext,
  { from: given, to, ref = mainRef, signal }: ChangedFilesOptions,
): Promise<ChangedFile[]> {
  const from = given ?? (ref === mainRef ? null : "main");
  if (from === null) return compareTrees([], await readTree(context, to, signal));
  const compared = await readComparison(context, { from, to, signal });
  if (compared) return compared;
  return compareTrees(await readTree(context, from, signal), await readTree(context, to, signal));
}

/** Returns `undefined` if the Hub cannot compare the revisions, such as for a diff that is too large. */
async function readComparison(
  { client, path }: RepositoryContext,
  { from, to, signal }: CallOptions & { from: string; to: string },
): Promise<ChangedFile[] | undefined> {
  const params = { ...path, compare: `${from}..${to}` };
  try {
    return readDiff(await client.transport.call(commitOperations.compare, { params }, { signal }));
  } catch (error) {
    if (HubError.isInstance(error) && incomparable.test(error.code)) return undefined;
    throw error;
  }
}

const incomparable = /^HUB_(?:FAILED|NOT_FOUND|REFUSED|REQUEST_INVALID|RESPONSE_INVALID|TIMED_OUT)$/;

async function readTree(
  context: RepositoryContext,
  revision: string,
  signal: AbortSignal | undefined,
): Promise<RepositoryFile[]> {
  const files: RepositoryFile[] = [];
  for await (const page of readFilePages(context, { revision, signal })) files.push(...page);
  return files;
}
