import type { CallOptions } from "../operation.ts";
import { Pages } from "../pages.ts";
import type { KnownRepoRef, RepoRef } from "../schemas.ts";
import type { ChangedFile } from "./changed-files.ts";
import type { RepositoryCommit, RepositoryFile, RepositoryRefs } from "./contents.ts";
import type { CommitRequest, CommitResult, OpenedPullRequest, PullRequestRequest } from "./create-commit.ts";
import type { DiscussionDetails, DiscussionSummary } from "./discussions.ts";
import type { DiscussionSearch } from "./read-discussions.ts";
import type { ChangedFilesOptions, ListFilesOptions, ReadFileOptions, RevisionOptions } from "./read-repository.ts";
import type { RepositoryInfo } from "./repositories.ts";
import type { RepositoryClient, RepositoryContext } from "./repository-context.ts";
import { toRepoRef, toRepositoryPath } from "./repository-path.ts";
import type {
  CommentUpsert,
  DiscussionRequest,
  MergeResult,
  OpenedDiscussion,
  UpsertedComment,
} from "./write-discussions.ts";

/** A comment to add to a change of a discussion. */
export interface ChangeComment extends CallOptions {
  /** A comment, in Markdown, that is added with the change. */
  comment?: string | undefined;
}

/*
 * The implementation is loaded on the first call, so that programs which only manage webhooks do not load it.
 */

/**
 * A model, dataset, or Space, with methods that are safe to repeat. Create it with `hub.repo()`.
 *
 * Methods with a `marker` first look for the result of an earlier call with the same marker by the same account. `commit` compares
 * the files with the branch. If a program crashes after such a call and calls the method again, there is still one comment, one
 * discussion, one pull request, and one commit.
 *
 * All methods throw the same errors as the other methods of {@link HubClient}.
 *
 * @example
 * ```ts
 * const repo = hub.repo({ type: "dataset", name: "acme/data" });
 * const card = await repo.readText("README.md");
 * await repo.commit({ message: "Fix typo", files: { "README.md": card.replace("teh", "the") } });
 * ```
 */
export class HubRepository {
  /** The name and type of the repository. */
  readonly ref: KnownRepoRef;
  readonly #context: RepositoryContext;

  /** @internal */
  constructor(client: RepositoryClient, repo: RepoRef) {
    const path = toRepositoryPath(repo);
    this.ref = toRepoRef(path);
    this.#context = { client, repo: this.ref, path };
  }

  /**
   * Returns the name, visibility, head commit (`sha`), tags, and metadata of the repository.
   *
   * @example
   * ```ts
   * const { sha, private: isPrivate, cardData } = await repo.info();
   * ```
   */
  async info(options: RevisionOptions = {}): Promise<RepositoryInfo> {
    return (await import("./read-repository.ts")).readInfo(this.#context, options);
  }

  /**
   * Returns the branches, tags, and pull request refs of the repository.
   *
   * @example
   * ```ts
   * const { branches, tags, pullRequests } = await repo.refs();
   * ```
   */
  async refs(options: CallOptions = {}): Promise<RepositoryRefs> {
    return (await import("./read-repository.ts")).readRefs(this.#context, options);
  }

  /**
   * Lists the commits of a revision, newest first.
   *
   * @example
   * ```ts
   * for await (const { id, title } of repo.commits()) console.log(id, title);
   * ```
   */
  commits(options: RevisionOptions = {}): Pages<RepositoryCommit> {
    const open = async () => (await import("./read-repository.ts")).readCommitPages(this.#context, options);
    return new Pages(open, options);
  }

  /**
   * Returns the files that differ between two revisions, sorted by path. Uses the Hub's comparison. If the Hub cannot compare the
   * revisions, such as for a diff of more than 50 MB, this method lists all files of both revisions. Pass the `oldSha` and `newSha`
   * of a payload as `from` and `to`.
   *
   * @example
   * ```ts
   * const files = await repo.changedFiles({ from: "v1.0", to: "main" });
   * console.log(files.filter(({ status }) => status === "added").map(({ path }) => path));
   * ```
   */
  async changedFiles(options: ChangedFilesOptions): Promise<ChangedFile[]> {
    return (await import("./read-repository.ts")).readChangedFiles(this.#context, options);
  }

  /**
   * Lists the files of a revision, in the order of the Hub. Folders are not listed.
   *
   * @example
   * ```ts
   * for await (const { path, size } of repo.listFiles({ folder: "data" })) console.log(path, size);
   * ```
   */
  listFiles(options: ListFilesOptions = {}): Pages<RepositoryFile> {
    const open = async () => (await import("./read-repository.ts")).readFilePages(this.#context, options);
    return new Pages(open, options);
  }

  /**
   * Reads a text file in UTF-8. Also reads large files (Git LFS), which the Hub stores on other servers. The token is never sent to
   * these servers.
   *
   * @throws `HUB_NOT_FOUND` if the file does not exist, `FILE_TOO_LARGE` if it is larger than `maxBytes`, and `FILE_INVALID` if it is
   *   not in UTF-8.
   * @example
   * ```ts
   * const card = await repo.readText("README.md", { revision: "refs/pr/1" });
   * ```
   */
  async readText(path: string, options: ReadFileOptions = {}): Promise<string> {
    return (await import("./read-repository.ts")).readText(this.#context, path, options);
  }

  /**
   * Reads a file. Like {@link readText}, but for files in any format.
   *
   * @throws `HUB_NOT_FOUND` and `FILE_TOO_LARGE`.
   * @example
   * ```ts
   * const image = await repo.readBytes("preview.png", { maxBytes: 1_000_000 });
   * ```
   */
  async readBytes(path: string, options: ReadFileOptions = {}): Promise<Uint8Array> {
    return (await import("./read-repository.ts")).readBytes(this.#context, path, options);
  }

  /**
   * Reads and parses a JSON file. Validate the result, because anyone with write access can change the file.
   *
   * @throws `FILE_INVALID` if the file is not JSON, otherwise like {@link readText}.
   * @example
   * ```ts
   * const config: unknown = await repo.readJson("config.json");
   * ```
   */
  async readJson(path: string, options: ReadFileOptions = {}): Promise<unknown> {
    return (await import("./read-repository.ts")).readJson(this.#context, path, options);
  }

  /**
   * Commits files to a branch. Files that the branch already contains are omitted. If all files are omitted, no commit is created, and
   * `created` is `false`.
   *
   * Set `parent` to the commit from which the new content was computed. Then a change by another user in the meantime is not
   * overwritten. Without `parent`, the last commit wins.
   *
   * Files that the Hub stores as large files (Git LFS), such as a `.parquet` file or a file of more than 10 MB, are uploaded before the
   * commit. A `Blob` is read in parts: `await openAsBlob(path)` of `node:fs` uploads a file from disk.
   *
   * @throws `HUB_CONFLICT` if `parent` is not the head of the branch.
   * @example
   * ```ts
   * const { sha } = await repo.info();
   * const card = await repo.readText("README.md", { revision: sha });
   * const { oid, created } = await repo.commit({
   *   message: "Fix typo",
   *   files: { "README.md": card.replace("teh", "the"), "old.csv": null },
   *   parent: sha,
   * });
   * ```
   */
  async commit(request: CommitRequest): Promise<CommitResult> {
    return (await import("./create-commit.ts")).createCommit(this.#context, request);
  }

  /**
   * Opens a pull request with files, or finds the pull request that this account opened with the same `marker`:
   *
   * - An open pull request gets a commit if `files` differ from its files.
   * - A closed pull request is returned unchanged, because a person rejected it.
   * - A merged pull request does not count, unless `main` already contains the files.
   *
   * Returns `undefined` if there is nothing to change: `main` contains the files, and there is no pull request with this marker.
   *
   * @example
   * ```ts
   * const pullRequest = await repo.openPullRequest({
   *   title: "Add a license",
   *   text: "The card has no license.",
   *   files: { "README.md": `---\nlicense: mit\n---\n${card}` },
   *   marker: "add-license",
   * });
   * ```
   */
  async openPullRequest(request: PullRequestRequest): Promise<OpenedPullRequest | undefined> {
    return (await import("./create-commit.ts")).openPullRequest(this.#context, request);
  }

  /**
   * Opens a discussion, or returns the discussion that this account opened with the same `marker`, open or closed. Looks for the
   * marker in up to 100 discussions of this account in the repository.
   *
   * @example
   * ```ts
   * const { num } = await repo.openDiscussion({ title: "Metadata review", marker: "card-review" });
   * await repo.upsertComment(num, { marker: "card-review", text: "Please add a license." });
   * ```
   */
  async openDiscussion(request: DiscussionRequest): Promise<OpenedDiscussion> {
    return (await import("./write-discussions.ts")).openDiscussion(this.#context, request);
  }

  /**
   * Lists discussions and pull requests, newest first.
   *
   * @example
   * ```ts
   * for await (const { num, title } of repo.discussions({ type: "pull_request", status: "open" })) console.log(num, title);
   * ```
   */
  discussions(search: DiscussionSearch = {}): Pages<DiscussionSummary> {
    const open = async () => (await import("./read-discussions.ts")).readDiscussionPages(this.#context, search);
    return new Pages(open, search);
  }

  /**
   * Returns a discussion or pull request with its events, such as comments. The first event is the description.
   *
   * @example
   * ```ts
   * const { status, events } = await repo.discussion(3);
   * ```
   */
  async discussion(num: number, options: CallOptions = {}): Promise<DiscussionDetails> {
    return (await import("./read-discussions.ts")).readDiscussion(this.#context, num, options);
  }

  /**
   * Adds a comment. A repeated call adds another comment, so use {@link upsertComment} in handlers.
   *
   * @example
   * ```ts
   * const { id } = await repo.comment(3, "Thank you!");
   * ```
   */
  async comment(num: number, text: string, options: CallOptions = {}): Promise<{ id: string }> {
    return (await import("./write-discussions.ts")).addComment(this.#context, num, { ...options, text });
  }

  /**
   * Adds a comment, or edits the comment that this account wrote in the discussion with the same `marker`. A comment with the same
   * text is not edited. The marker is an invisible HTML comment at the end of the text.
   *
   * @example
   * ```ts
   * await repo.upsertComment(3, { marker: "card-review", text: "Please add a license." });
   * ```
   */
  async upsertComment(num: number, comment: CommentUpsert): Promise<UpsertedComment> {
    return (await import("./write-discussions.ts")).upsertComment(this.#context, num, comment);
  }

  /**
   * Replaces the text of a comment. Keeps the marker of the comment.
   *
   * @example
   * ```ts
   * await repo.editComment(3, id, "The license is valid.");
   * ```
   */
  async editComment(num: number, id: string, text: string, options: CallOptions = {}): Promise<void> {
    return (await import("./write-discussions.ts")).editComment(this.#context, num, { ...options, id, text });
  }

  /**
   * Hides a comment. Hidden comments cannot be shown again, and {@link upsertComment} does not find them.
   *
   * @example
   * ```ts
   * await repo.hideComment(3, id);
   * ```
   */
  async hideComment(num: number, id: string, options: CallOptions = {}): Promise<void> {
    return (await import("./write-discussions.ts")).hideComment(this.#context, num, { ...options, id });
  }

  /**
   * Closes or reopens a discussion or pull request. Does nothing if it already has the status.
   *
   * @example
   * ```ts
   * await repo.setStatus(3, "closed", { comment: "The license is valid." });
   * ```
   */
  async setStatus(num: number, status: "open" | "closed", options: ChangeComment = {}): Promise<void> {
    return (await import("./write-discussions.ts")).setStatus(this.#context, num, { ...options, status });
  }

  /**
   * Changes the title of a discussion or pull request. Does nothing if it already has the title.
   *
   * @example
   * ```ts
   * await repo.setTitle(3, "Metadata review: 2 fields are missing");
   * ```
   */
  async setTitle(num: number, title: string, options: CallOptions = {}): Promise<void> {
    return (await import("./write-discussions.ts")).setTitle(this.#context, num, { ...options, title });
  }

  /**
   * Merges a pull request. If it is already merged, only returns its merge commit.
   *
   * @example
   * ```ts
   * const { oid } = await repo.merge(4);
   * ```
   */
  async merge(num: number, options: ChangeComment = {}): Promise<MergeResult> {
    return (await import("./write-discussions.ts")).mergePullRequest(this.#context, num, options);
  }

  /**
   * Makes the repository public or private. Only Spaces can be `protected`.
   *
   * @example
   * ```ts
   * await repo.setVisibility("private");
   * ```
   */
  async setVisibility(visibility: "public" | "private" | "protected", options: CallOptions = {}): Promise<void> {
    return (await import("./read-repository.ts")).setVisibility(this.#context, { ...options, visibility });
  }
}
