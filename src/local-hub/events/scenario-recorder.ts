import { AsyncLocalStorage } from "node:async_hooks";
import { accountId, localUser } from "../accounts.ts";
import type { StoredDiscussion } from "../store/discussion-store.ts";
import { hasContent, mainRef, type StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import type { HubEvent, ParsedEvent } from "./event-request.ts";
import type { RepositoryChange, UpdatedRef } from "./repository-change.ts";

/** Whether the current request has the token of the server of a dev session. */
export const isServerRequest = new AsyncLocalStorage<boolean>();

/** The maximum size of a file in a scenario, and of all files together. */
const maxFileBytes = 1024 * 1024;
const maxBytes = 16 * 1024 * 1024;
const maxEvents = 1_000;

interface Recorded {
  store: Store;
}

const fromBefore =
  "A discussion from before the recording starts open, unpinned, with its first comment only, and a pull request from the latest files.";

/** What a payload says about its repository: the first updated ref, or the number of the discussion. */
interface PayloadState {
  type: string;
  name: string;
  num?: number | undefined;
  ref?: string | undefined;
  oldSha?: string | undefined;
  newSha?: string | undefined;
}

type RecordedDiscussion = NonNullable<RepositoryChange["discussion"]> & Pick<StoredDiscussion, "baseCommit">;

type Files = NonNullable<ParsedEvent["files"]>;

export interface Recording {
  events: readonly HubEvent[];
  /** What the scenario does not contain, or contains although the user may not want it. */
  notes: readonly string[];
}

/**
 * Writes a scenario of what happens on a local Hub. Triggered events are recorded as they are, and changes through the API are described
 * as events. What exists before is added with silent events, when it is first changed. Changes of the server of a dev session are left
 * out, because the server makes them again when the scenario runs.
 */
export class ScenarioRecorder {
  #events: HubEvent[] | undefined;
  #notes = new Map<string, number>();
  /** The IDs of repositories, and of their discussions with the number, that exist when the recorded events run. */
  #known = new Set<string>();
  #bytes = 0;
  #startedAt = 0;

  /** The number of recorded events, or `undefined` if nothing is recorded. */
  get count(): number | undefined {
    return this.#events?.length;
  }

  start({ now }: { now: () => number }): void {
    this.#events = [];
    this.#notes.clear();
    this.#known.clear();
    this.#bytes = 0;
    this.#startedAt = now();
  }

  stop({ store }: Recorded): Recording {
    for (const { createdAt } of store.jobs.all())
      if (createdAt >= this.#startedAt) this.note("A job was not recorded.");
    const events = this.#events ?? [];
    this.#events = undefined;
    return { events, notes: [...this.#notes].map(([text, count]) => (count > 1 ? `${text} (${count} times)` : text)) };
  }

  note(text: string): undefined {
    this.#notes.set(text, (this.#notes.get(text) ?? 0) + 1);
  }

  /** Records a triggered event. Call this function before the event changes anything, and the result with its changes. */
  addTriggered(context: Recorded, event: ParsedEvent): (changes: readonly RepositoryChange[]) => void {
    if (!this.#events) return () => {};
    const { repositories, discussions } = context.store;
    const repository = event.silent ? undefined : repositories.get(event.repo);
    const { scope, action } = event.event;
    const isDiscussion = scope.startsWith("discussion");
    const isNew = scope === "discussion" && action === "create";
    let num = event.discussion?.num;
    if (repository) {
      this.#setUp(context, repository);
      if (isDiscussion && !isNew) num ??= discussions.list(repository.id)[0]?.num;
      if (isDiscussion && !isNew && num !== undefined) this.#setUpDiscussion(context, repository, num);
    }
    return (changes) => {
      if (isNew) num ??= changes[0]?.discussion?.num;
      // Without the number, another discussion could be meant, because some can have been left out.
      const discussion = isDiscussion && num !== undefined ? { ...event.discussion, num } : event.discussion;
      this.#add(JSON.parse(JSON.stringify({ ...event, discussion })));
      for (const change of changes) this.#know(change);
    };
  }

  addChange(context: Recorded, change: RepositoryChange): void {
    if (!this.#events) return;
    const repository = change.before ?? change.after;
    if (isServerRequest.getStore()) this.note("A change by the server of the session was left out.");
    else if (change.updatedFiles) this.note("A change of a file in a bucket was not recorded.");
    else if (repository) this.#addChange(context, change, repository);
  }

  #addChange(context: Recorded, change: RepositoryChange, repository: StoredRepository): void {
    if (change.before) this.#setUp(context, change.before);
    const fields = this.#describe(context, change, repository);
    this.#know(change);
    if (!fields) return;
    const { type, name, private: isPrivate } = repository;
    const { scope, action } = change;
    const repo = scope === "repo" && action === "create" ? { type, name, private: isPrivate } : { type, name };
    this.note("A change came through the API. If a program made it in response to an event, remove its step.");
    this.#add({ repo, event: { scope, action }, ...fields });
  }

  /** Describes the repository of a payload as it was before the event, and then the push of the event, for a test. */
  describeState(context: Recorded & { now: () => number }, { type, name, num = 0, ...push }: PayloadState): Recording {
    const { repositories, content, discussions } = context.store;
    this.start(context);
    const repository = repositories.get({ type, name });
    const { ref = mainRef, oldSha = null, newSha } = push;
    // Without its commit, the event is not from this local Hub, or was sent without a change.
    const isKnown = newSha === undefined || (repository && content.getCommit(repository.id, newSha));
    if (!repository || !isKnown) return this.stop(context);
    const number = Number(/^refs\/pr\/(\d+)$/.exec(ref)?.[1] ?? num);
    const base = number === 0 ? oldSha : discussions.get({ repositoryId: repository.id, num: number })?.baseCommit;
    this.#setUp(context, { ...repository, headSha: (newSha && base) ?? repository.headSha ?? "" });
    this.#setUpDiscussion(context, repository, number, { head: oldSha ?? newSha ?? null });
    const fields = newSha && this.#describePush(context, repository, [{ ref, oldSha, newSha }]);
    if (fields) this.#add({ repo: { type, name }, event: { scope: "repo.content", action: "update" }, ...fields });
    this.#notes.delete(fromBefore);
    return this.stop(context);
  }

  #add(event: HubEvent): void {
    if (!this.#events) return;
    this.#bytes += JSON.stringify(event).length;
    if (this.#events.length < maxEvents && this.#bytes < maxBytes) this.#events.push(event);
    else this.note("An event was left out, because the scenario is too large.");
  }

  #know({ before, after, discussion }: RepositoryChange): void {
    const id = (after ?? before)?.id ?? "";
    this.#known.add(id);
    if (discussion) this.#known.add(`${id}/${discussion.num}`);
  }

  /** Returns the fields of the event that makes a change, or `undefined` if another event makes it, or none can. */
  #describe(context: Recorded, change: RepositoryChange, repository: StoredRepository): Partial<HubEvent> | undefined {
    const { scope, action, discussion, comment, movedTo, updatedConfig, updatedRefs = [] } = change;
    const { discussions } = context.store;
    const { num = 0 } = discussion ?? {};
    if (scope !== "discussion" || action !== "create") {
      this.#setUpDiscussion(context, repository, num, { deleted: discussion });
    }
    switch (`${scope} ${action}`) {
      case "repo create":
        return withFiles(this.#firstFiles(context, repository));
      case "repo move":
        return { movedTo };
      case "repo.config update":
        if (updatedConfig?.private === undefined) this.note("A setting other than the visibility was not recorded.");
        return { updatedConfig };
      case "repo.content update": {
        const merges = discussions.list(repository.id).map(({ changes }) => changes?.mergeCommitId);
        // The event of the pull request makes this change.
        if (updatedRefs.some(({ newSha }) => newSha !== null && merges.includes(newSha))) return undefined;
        return this.#describePush(context, repository, updatedRefs);
      }
      case "discussion create":
        return discussion && this.#describeNew(context, repository, discussion);
      case "discussion update": {
        const { title, status, pinned = false } = discussion ?? {};
        const changed = discussions.events({ repositoryId: repository.id, num }).at(-1);
        if (changed?.type === "title-change") return { discussion: { num, title } };
        if (changed?.type !== "pinning-change") return { discussion: { num, status } };
        // The Hub omits the field of a discussion that is not pinned.
        const edits = pinned ? undefined : [{ path: "discussion.pinned", remove: true as const }];
        return { discussion: { num, pinned }, ...(edits && { edits }) };
      }
      case "discussion.comment create":
        return { discussion: { num }, comment: { content: comment?.content, ...authorOf(comment?.author) } };
      case "discussion.comment update": {
        const comments = discussions
          .events({ repositoryId: repository.id, num })
          .filter(({ type }) => type === "comment");
        if (comments.at(-1)?.id !== comment?.id) return this.note("A change of an earlier comment was not recorded.");
        const changed = comment?.hidden ? { hidden: true } : { content: comment?.content };
        return { discussion: { num }, comment: { ...changed, ...authorOf(comment?.author) } };
      }
      default:
        return discussion ? { discussion: { num } } : {};
    }
  }

  #describePush(
    context: Recorded,
    repository: StoredRepository,
    updatedRefs: readonly UpdatedRef[],
  ): Partial<HubEvent> | undefined {
    const { content } = context.store;
    const [{ ref, oldSha, newSha } = { ref: "", oldSha: null, newSha: null }] = updatedRefs;
    const num = Number(/^refs\/pr\/(\d+)$/.exec(ref)?.[1] ?? 0);
    // The event of the pull request makes this change.
    if (num > 0 && (oldSha === null || newSha === null)) return undefined;
    if (num === 0 && ref !== mainRef) return this.note(`A change of ${ref} was not recorded, only those of main.`);
    this.#setUpDiscussion(context, repository, num, { head: oldSha });
    const trees = [oldSha, newSha].map((sha) => content.getCommit(repository.id, sha ?? "")?.tree);
    const files = this.#files(context, trees);
    if (Object.keys(files).length === 0) return this.note("A push without a file to record was left out.");
    return { files, ...(num > 0 && { updatedRefs: [{ ref, newSha: "" }] }) };
  }

  /** Adds a repository as it was before its first recorded change. */
  #setUp(context: Recorded, repository: StoredRepository): void {
    const { id, type, name, private: isPrivate } = repository;
    if (this.#known.has(id) || !hasContent(type)) return;
    this.#known.add(id);
    const event = { scope: "repo", action: "create" };
    const files = withFiles(this.#firstFiles(context, repository));
    this.#add({ silent: true, repo: { type, name, private: isPrivate }, event, ...files });
  }

  /**
   * Adds a discussion as it was before its first recorded change. `head`: the commit of the pull request. Default: the current one.
   * `deleted`: the discussion, if it is not stored any longer.
   */
  #setUpDiscussion(
    context: Recorded,
    repository: StoredRepository,
    num: number,
    { head, deleted }: { head?: string | null; deleted?: RecordedDiscussion | undefined } = {},
  ): void {
    const key = `${repository.id}/${num}`;
    if (this.#known.has(key)) return;
    const discussion = context.store.discussions.get({ repositoryId: repository.id, num }) ?? deleted;
    if (!discussion) return;
    const fields = this.#describeNew(context, repository, discussion, head);
    this.#known.add(key);
    this.note(fromBefore);
    const { type, name } = repository;
    this.#add({ silent: true, repo: { type, name }, event: { scope: "discussion", action: "create" }, ...fields });
  }

  /** Returns the fields of the event that opens a discussion, with its number, because others can have been left out. */
  #describeNew(
    context: Recorded,
    repository: StoredRepository,
    discussion: RecordedDiscussion,
    head?: string | null,
  ): Partial<HubEvent> {
    const { content, discussions } = context.store;
    const { num, title, isPullRequest, status, author, baseCommit } = discussion;
    const first = discussions.events({ repositoryId: repository.id, num }).find((event) => event.type === "comment");
    const source = content.resolve(repository.id, head ?? `refs/pr/${num}`);
    const base = content.getCommit(repository.id, baseCommit ?? "");
    const main = content.resolve(repository.id, mainRef);
    const files = isPullRequest ? this.#files(context, [base?.tree, source?.tree ?? base?.tree]) : {};
    // The new pull request starts from the current files, of which some can have been deleted since.
    const exists = ([path, file]: [string, unknown]) => file !== null || (main && content.find(main.tree, path));
    return {
      discussion: { num, title, isPullRequest, ...(status === "draft" && { status }), ...authorOf(author) },
      comment: { content: first?.content ?? "", ...authorOf(author) },
      ...(isPullRequest && { files: Object.fromEntries(Object.entries(files).filter(exists)) }),
    };
  }

  #firstFiles(context: Recorded, { id, type, headSha = "" }: StoredRepository): Files {
    const head = context.store.content.getCommit(id, headSha);
    const files = hasContent(type) && head ? this.#files(context, [undefined, head.tree]) : {};
    // A new repository has this file.
    delete files[".gitattributes"];
    return files;
  }

  #files({ store: { content } }: Recorded, [before, after]: readonly (string | undefined)[]): Files {
    const files: Files = {};
    for (const { path, after: file } of content.compare(before, after)) {
      if (!file) files[path] = null;
      else if (file.lfs || file.size > maxFileBytes)
        this.note(`${path} was not recorded, because it is in LFS or larger than 1 MiB.`);
      else files[path] = toContent(content.read(file));
    }
    return files;
  }
}

function withFiles(files: Files): Partial<HubEvent> {
  return Object.keys(files).length > 0 ? { files } : {};
}

/** Text if possible, so that a person can read and edit the scenario. */
function toContent(bytes: Uint8Array): string | { base64: string } {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}

/** The author of a discussion or a comment, if it is not the developer. */
function authorOf(name: string | undefined): { author?: { id: string } } {
  return name === undefined || name === localUser ? {} : { author: { id: accountId(name) } };
}
