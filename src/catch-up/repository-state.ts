import * as z from "zod/mini";
import { messageOf } from "../core/describe.ts";
import { HubError } from "../core/errors.ts";
import type { HubClient } from "../hub/client.ts";
import { nextQuery } from "../hub/pages.ts";
import {
  type DiscussionDetails,
  type DiscussionSummary,
  discussionOperations,
} from "../hub/repositories/discussions.ts";
import type { RepoRef } from "../hub/schemas.ts";
import { readText } from "../hub/transport/response-body.ts";
import type { WatchedItem } from "../payload/watch.ts";
import { type BucketFiles, type Get, listBuckets, readBucket, readFiles } from "./bucket-state.ts";
import type { CallBudget } from "./call-budget.ts";

const gitTypes = ["model", "dataset", "space"] as const;
/** The types of repositories whose changes catch-up can derive. */
export const derivableTypes = [...gitTypes, "bucket"] as const;
export type DerivableType = (typeof derivableTypes)[number];

export interface ListedRepository {
  type: DerivableType;
  name: string;
  /** See `idOf`. The ID of a repository with commits stays the same when the repository is renamed. */
  id: string;
  isPrivate: boolean;
  createdAt?: string | undefined;
  /** A text that is another one after a change of the main branch, or of a bucket. */
  lastModified?: string | undefined;
  /** The first label of a Space's hostname. */
  subdomain?: string | undefined;
  totalFiles?: number | undefined;
}

/** The commit of each ref, by its full name. */
export type RefState = ReadonlyMap<string, string>;

export interface CommitRange {
  revision: string;
  until: string | null;
  max: number;
}

const listedRepository = z.object({
  _id: z.string(),
  id: z.string(),
  private: z.optional(z.boolean()),
  createdAt: z.optional(z.string()),
  lastModified: z.optional(z.string()),
  subdomain: z.optional(z.string()),
});

interface StateReaderOptions {
  hub: HubClient;
  budget: CallBudget;
  onCall?: () => void;
  signal: AbortSignal;
  /** The commits of ranges, which never change. The reader adds to it. */
  ranges: Map<string, readonly string[]>;
}

const maxBodyMs = 60_000;
const maxAnswerBytes = 50_000_000;
const maxAttempts = 3;
const maxKeptRanges = 50;

/** Reads the present state of repositories from the Hub. Each request takes one call of the budget. */
export class StateReader {
  readonly #options: StateReaderOptions;
  /** The IDs of the account of the token and of its organizations, by name. */
  #ownerIds: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(options: StateReaderOptions) {
    this.#options = options;
  }

  /** Lists the repositories of a watched item. A repository that does not exist is skipped. */
  async *repositories({ type, name }: WatchedItem): AsyncGenerator<ListedRepository, void, undefined> {
    if (type === "user" || type === "org") {
      for (const listed of gitTypes) yield* this.#repositoriesOf(name, listed);
      yield* (await unlessMissing(listBuckets(this.#get, name))) ?? [];
    } else if (isDerivable(type)) {
      const repository = await this.repository({ type, name });
      if (repository) yield repository;
    }
  }

  /** Returns `undefined` if the repository does not exist or the token cannot read it. */
  async repository({ type, name }: { type: DerivableType; name: string }): Promise<ListedRepository | undefined> {
    if (type === "bucket") return unlessMissing(readBucket(this.#get, name));
    const read = await unlessMissing(this.#get(`/api/${type}s/${name}`, listedRepository));
    return read && toListed(type, read.answer);
  }

  files(bucket: ListedRepository): Promise<BucketFiles> {
    return readFiles(this.#get, bucket);
  }

  async *#repositoriesOf(author: string, type: DerivableType): AsyncGenerator<ListedRepository, void> {
    let query: URLSearchParams | undefined = new URLSearchParams({ author, sort: "lastModified", limit: "1000" });
    while (query) {
      const path: string = `/api/${type}s?${query}`;
      const { answer, next } = await this.#get(path, z.array(listedRepository));
      yield* answer.map((item) => toListed(type, item));
      query = next;
    }
  }

  /** Reads the commit of every ref: branches, tags, converted files, and pull requests. */
  async refs(repository: ListedRepository): Promise<RefState> {
    const { hub, signal } = this.#options;
    const lists = await this.#call(() => hub.repo(repository).refs({ signal }));
    const refs = Object.values(lists).flatMap((list) => list ?? []);
    return new Map(refs.map(({ ref, targetCommit }) => [ref, targetCommit]));
  }

  /** Lists the discussions and pull requests. `undefined` if they are disabled, or the token cannot read them. */
  async discussions(repository: ListedRepository): Promise<readonly DiscussionSummary[] | undefined> {
    const found: DiscussionSummary[] = [];
    for (let page = 0; ; page += 1) {
      const path = `/api/${repository.type}s/${repository.name}/discussions?p=${page}`;
      const read = await unlessMissing(this.#get(path, discussionOperations.list.response));
      if (!read) return undefined;
      const { discussions, count } = read.answer;
      found.push(...discussions);
      if (discussions.length === 0 || found.length >= count) return found;
    }
  }

  async discussion(repository: ListedRepository, num: number): Promise<DiscussionDetails> {
    const { hub, signal } = this.#options;
    return this.#call(() => hub.repo(repository).discussion(num, { signal }));
  }

  /** Lists the commits of a revision, newest first. Empty if the revision does not exist any more. */
  async *#commits(repository: RepoRef, revision: string): AsyncGenerator<{ id: string; date: string }, void> {
    const { hub, signal } = this.#options;
    const pages = hub.repo(repository).commits({ revision, signal }).pages();
    for (;;) {
      const page = await this.#call(() => unlessMissing(pages.next()));
      if (!page || page.done) return;
      yield* page.value;
    }
  }

  /** Lists the commits from a commit back to another one, at most `max`. */
  async commitRange(repository: RepoRef, { revision, until, max }: CommitRange): Promise<readonly string[]> {
    const { ranges } = this.#options;
    const key = `${revision} ${until}`;
    const known = ranges.get(key);
    if (known) return known;
    const commits: string[] = [];
    for await (const { id } of this.#commits(repository, revision)) {
      commits.push(id);
      if (id === until || commits.length >= max) break;
    }
    if (commits.length === 0) return commits;
    for (const oldest of ranges.keys()) if (ranges.size >= maxKeptRanges) ranges.delete(oldest);
    ranges.set(key, commits);
    return commits;
  }

  /** Returns the newest commit before a time, or `undefined` for a younger revision. */
  async commitBefore(repository: RepoRef, revision: string, time: Date): Promise<string | undefined> {
    for await (const { id, date } of this.#commits(repository, revision)) {
      if (!(Date.parse(date) > time.getTime())) return id;
    }
    return undefined;
  }

  /** Returns the ID of an owner. Empty if the owner is neither the account of the token nor one of its organizations. */
  async ownerId(name: string): Promise<string> {
    const { hub, signal } = this.#options;
    this.#ownerIds ??= this.#call(async () => {
      const { name: user, id, orgs } = await hub.whoami({ signal });
      return new Map([[user, id], ...orgs.map((org): [string, string] => [org.name, org.id])]);
    }).catch(() => new Map());
    return (await this.#ownerIds).get(name) ?? "";
  }

  /** The client reads no bodies of these requests, so a body that does not arrive is requested again here. */
  readonly #get: Get = async (path, schema) => {
    const { hub, budget, signal } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#call(() => hub.fetch(path, { signal }));
      budget.adopt(response.headers);
      const body = await readBody(response, signal);
      if ("text" in body)
        return { answer: parseAnswer(path, body.text, schema), next: nextQuery(response.headers.get("link")) };
      signal.throwIfAborted();
      if (attempt === maxAttempts) throw failed(path, "HUB_UNREACHABLE", `did not arrive completely (${body.problem})`);
    }
  };

  async #call<Result>(call: () => Promise<Result>): Promise<Result> {
    const { budget, signal, onCall } = this.#options;
    await budget.take(signal);
    onCall?.();
    return call();
  }
}

/** Returns the text of an answer, or why it did not arrive. */
async function readBody(response: Response, signal: AbortSignal): Promise<{ text: string } | { problem: string }> {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(maxBodyMs)]);
    const text = await readText(response, { limit: maxAnswerBytes, signal: limited });
    return text === undefined ? { problem: `more than ${maxAnswerBytes} bytes` } : { text };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function parseAnswer<Schema extends z.ZodMiniType>(path: string, text: string, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw failed(path, "HUB_RESPONSE_INVALID", "has an unexpected format");
  }
}

function failed(path: string, code: "HUB_UNREACHABLE" | "HUB_RESPONSE_INVALID", problem: string): HubError {
  const message = `The response of the Hub to ${path} ${problem}. Try again later, and check the URL of the Hub (HF_ENDPOINT).`;
  return new HubError(message, { code, retryable: code === "HUB_UNREACHABLE" });
}

function isDerivable(type: string): type is DerivableType {
  return derivableTypes.some((known) => known === type);
}

function toListed(type: DerivableType, info: z.output<typeof listedRepository>): ListedRepository {
  const { _id, id, private: isPrivate = false, createdAt, lastModified, subdomain } = info;
  return { type, name: id, id: _id, isPrivate, createdAt, lastModified, subdomain };
}

async function unlessMissing<Result>(call: Promise<Result>): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (HubError.isInstance(error) && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
}
