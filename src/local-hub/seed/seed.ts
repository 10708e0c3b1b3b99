import type { KnownRepoRef } from "../../hub/schemas.ts";
import { discussionStatuses } from "../../payload/names.ts";
import { accountId, deriveId, formatFullName, localUser, otherUser } from "../accounts.ts";
import { discussionId } from "../events/event-request.ts";
import { createInitialCommit } from "../resources/repositories/repository-changes.ts";
import type { KeyedRecord, StoredNotification, StoredPaper, StoredSettings } from "../store/records.ts";
import { hasContent, mainRef, type StoredRepository } from "../store/repository-store.ts";
import { openStore, type Store } from "../store/store.ts";
import { seedAuditLog } from "./audit-log.ts";
import { memberName, seedMembers, seedNetworkSecurity, seedResourceGroups } from "./organizations.ts";

/** Seeding takes two thirds of the time of a launch, and copying a seeded store takes almost none. */
let seeded: { image: Uint8Array; at: number } | undefined;
/** How long a seeded store is copied, because the example data contains times. */
const maxSeedAgeMs = 60_000;

/** Fills an empty store with example data. @throws `LOCAL_HUB_STATE_UNUSABLE` if the file cannot be used. */
export function openSeededStore({ file, now }: { file: string | undefined; now: number }): Store {
  const age = seeded ? now - seeded.at : Number.NaN;
  if (file === undefined && age >= 0 && age < maxSeedAgeMs) return openStore({ image: seeded?.image });
  const store = openStore({ file });
  seedStore(store, { now });
  const image = file === undefined ? store.serialize() : undefined;
  if (image) seeded = { image, at: now };
  return store;
}

/** Fills an empty store with example data. Does not change a store that already contains data. */
export function seedStore(store: Store, { now }: { now: number }): void {
  // Every store with data contains this member, because each organization has at least one admin.
  if (store.members.get({ owner: "acme", id: "local-user" })) return;
  store.transaction(() => {
    store.members.put(...seedMembers());
    store.networkSecurity.put(seedNetworkSecurity());
    store.notifications.put(...seedNotifications({ now }));
    store.papers.put(...seedPapers());
    seedRepositories(store);
    seedDiscussions(store);
    store.settings.put(seedSettings());
    store.resourceGroups.put(...seedResourceGroups({ now }));
    store.auditLog.add(...seedAuditLog({ now }));
  });
}

const [first, second, third] = [memberName(0), memberName(1), memberName(2)];

const papers: readonly { id: string; title: string; authors: readonly { user: string; isClaimed?: true }[] }[] = [
  {
    id: "2601.04211",
    title: "Small Models, Long Nights: Sentiment on a Single Card",
    authors: [{ user: first, isClaimed: true }, { user: second }, { user: localUser }],
  },
  {
    id: "2512.11873",
    title: "What Reviewers Leave Out: A Corpus of Unfinished Reviews",
    authors: [{ user: otherUser }, { user: localUser }],
  },
  {
    id: "2511.00642",
    title: "Rotary Embeddings without Tears",
    authors: [{ user: third }, { user: second }],
  },
  {
    id: "2509.20035",
    title: "Nobody Reads the Card: How Datasets Are Found",
    authors: [{ user: first, isClaimed: true }],
  },
];

/** Creates papers. Some authorships are claimed. For one paper, all authorships are claimed. */
function seedPapers(): KeyedRecord<StoredPaper>[] {
  return papers.map(({ id, title, authors }) => ({
    owner: "",
    id,
    record: {
      objectId: deriveId(`paper ${id}`),
      title,
      authors: authors.map(({ user, isClaimed }) => ({
        id: deriveId(`author ${id} ${user}`),
        name: formatFullName(user),
        ...(isClaimed && { claimedBy: accountId(user) }),
      })),
    },
  }));
}

type About = StoredNotification["about"];
type AboutOf<Type extends About["type"]> = Extract<About, { type: Type }>;

interface Subject {
  id: string;
  about: About;
}

const notificationIntervalMs = 7 * 3_600_000;

/** Creates two pages of notifications of all types for the developer, and some notifications for the other user. */
function seedNotifications(options: { now: number }): KeyedRecord<StoredNotification>[] {
  const all = subjects();
  return [...notify(localUser, all, options), ...notify(otherUser, all.slice(0, 6), options)];
}

/** Newest first. Alternates participation, mentions, and read status, so that all combinations occur. */
function notify(owner: string, about: Subject[], { now }: { now: number }): KeyedRecord<StoredNotification>[] {
  return about.map((subject, index) => ({
    owner,
    id: subject.id,
    record: {
      updatedAt: now - (index + 1) * notificationIntervalMs,
      read: index % 3 === 2,
      participating: [memberName(index), ...(index % 4 < 2 ? [owner] : [])],
      mentions: index % 5 === 1,
      ...(index % 2 === 0 && { discussionEventId: deriveId(`event ${subject.id}`) }),
      about: subject.about,
    },
  }));
}

function subjects(): Subject[] {
  const reviews: KnownRepoRef = { type: "dataset", name: "acme/reviews" };
  const salaries: KnownRepoRef = { type: "dataset", name: "acme/salaries" };
  const sentiment: KnownRepoRef = { type: "model", name: "acme/sentiment" };
  const playground: KnownRepoRef = { type: "space", name: "acme/playground" };
  const uploads: KnownRepoRef = { type: "bucket", name: "acme/uploads" };
  const rotary: KnownRepoRef = { type: "kernel", name: "acme/rotary" };
  const notes: KnownRepoRef = { type: "dataset", name: "local-user/notes" };
  const [author, colleague] = [memberName(6), memberName(11)];
  const paper = paperSubjects();
  return [
    discussion(reviews, { num: 12, title: "Reviews of 2019 are there twice", status: "open" }),
    discussion(sentiment, { num: 7, title: "Add the training arguments", status: "draft", isPullRequest: true }),
    paper("2601.04211"),
    post({ slug: "one-card-is-enough", title: "One card is enough", authorName: author }),
    discussion(playground, { num: 4, title: "The slider does nothing on a phone", status: "closed" }),
    blog({ slug: "acme/label-less", title: "Label less, read more", canonical: true, authorName: author }),
    discussion(salaries, { num: 2, title: "Who may see this?", status: "open" }),
    discussion(rotary, { num: 3, title: "Build for older cards", status: "merged", isPullRequest: true }),
    paper("2512.11873"),
    discussion(uploads, { num: 1, title: "Please sort these by month", status: "open" }),
    discussion(reviews, { num: 11, title: "Fix the column names", status: "merged", isPullRequest: true }),
    post({ slug: "a-month-of-notes", title: "A month of notes", authorName: localUser }),
    blog({ slug: "kernels-by-hand", title: "Kernels by hand", canonical: false }),
    discussion(notes, { num: 5, title: "A licence, perhaps?", status: "open" }),
    paper("2511.00642"),
    discussion(sentiment, { num: 6, title: "Irony is taken for praise", status: "open" }),
    discussion(rotary, { num: 2, title: "Results differ in half precision", status: "closed" }),
    blog({ slug: "acme/what-we-delete", title: "What we delete, and why", canonical: true, authorName: colleague }),
    discussion(notes, { num: 4, title: "Spelling", status: "merged", isPullRequest: true }),
    post({ slug: "who-reads-cards", title: "Who reads the cards?", authorName: author }),
    paper("2509.20035"),
    discussion(playground, { num: 3, title: "A darker theme", status: "draft", isPullRequest: true }),
    discussion(reviews, { num: 9, title: "Where are the stars?", status: "closed" }),
    blog({ slug: "small-is-fine", title: "Small is fine", canonical: false, authorName: otherUser }),
    discussion(sentiment, { num: 2, title: "Try a smaller tokenizer", status: "closed", isPullRequest: true }),
    paper("2601.04211", { thread: 2 }),
    post({ slug: "hello-hub", title: "Hello, Hub", authorName: colleague }),
    blog({ slug: "acme/our-first-year", title: "Our first year", canonical: true }),
  ];
}

function discussion(
  repo: KnownRepoRef,
  facts: { num: number; title: string; status: AboutOf<"repo">["discussion"]["status"]; isPullRequest?: true },
): Subject {
  const id = discussionId({ repositoryId: seededRepositoryId(repo), num: facts.num });
  return { id, about: { type: "repo", repo, discussion: { isPullRequest: false, ...facts } } };
}

function paperSubjects(): (preprint: string, options?: { thread?: number }) => Subject {
  const papers = new Map(seedPapers().map(({ id, record }) => [id, record]));
  return (preprint, { thread = 1 } = {}) => {
    const known = papers.get(preprint);
    if (!known) throw new Error(`Unknown paper "${preprint}".`);
    return {
      id: deriveId(`paper discussion ${preprint} ${thread}`),
      about: { type: "paper", paper: { _id: known.objectId, title: known.title } },
    };
  };
}

function post(facts: Omit<AboutOf<"post">, "type">): Subject {
  return { id: deriveId(`post ${facts.slug}`), about: { type: "post", ...facts } };
}

function blog(facts: Omit<AboutOf<"community_blog">, "type">): Subject {
  return { id: deriveId(`blog ${facts.slug}`), about: { type: "community_blog", ...facts } };
}

/** Creates the settings of the developer, who watches a dataset and therefore gets notifications about its discussions. */
function seedSettings(): KeyedRecord<StoredSettings> {
  const record: StoredSettings = {
    notifications: { announcements: true, web_discussions_watched: true, launch_spaces: false },
    watched: [{ type: "repo", id: seededRepositoryId({ type: "dataset", name: "acme/reviews" }) }],
  };
  return { owner: localUser, id: "settings", record };
}

/** The creation time of the first example discussion. It is fixed, so that discussions are the same in every local Hub. */
const firstCreatedAt = Date.UTC(2026, 0, 31, 10);
const intervalMs = 3_600_000;

/** Each has a first comment. The pull requests have no commits of their own. */
function seedDiscussions({ repositories, discussions, content }: Store): void {
  for (const [index, { about }] of subjects().entries()) {
    const repository = about.type === "repo" ? repositories.get(about.repo) : undefined;
    if (about.type !== "repo" || !repository || !hasContent(repository.type)) continue;
    const { num, title, isPullRequest } = about.discussion;
    const status = discussionStatuses.find((known) => known === about.discussion.status) ?? "open";
    const { id: repositoryId, headSha = "" } = repository;
    const id = discussionId({ repositoryId, num });
    const createdAt = firstCreatedAt + num * intervalMs;
    const author = repository.private ? localUser : memberName(index);
    const merged = status === "merged" ? { mergeCommitId: headSha } : {};
    discussions.put({
      ...{ repositoryId, num, id, title, status, isPullRequest, author, createdAt, pinned: false },
      ...(isPullRequest && { changes: { base: mainRef, ...merged }, baseCommit: headSha }),
    });
    const event = { id: deriveId(`first comment ${id}`), type: "comment", author, createdAt } as const;
    const comment = { ...event, content: title, hidden: false, updatedAt: createdAt, edits: [] };
    discussions.addEvent({ repositoryId, num }, comment);
    if (isPullRequest) content.setRefs(repositoryId, [{ name: `refs/pr/${num}`, oid: headSha }]);
  }
}

interface SeededRepository extends KnownRepoRef {
  discussions: number;
  private?: true;
  sdk?: string;
  card?: string;
}

const repositories: readonly SeededRepository[] = [
  {
    ...{ type: "dataset", name: "acme/reviews", discussions: 12 },
    card: "---\nlicense: cc-by-4.0\nlanguage:\n- en\ntags:\n- reviews\n---\n\n# Reviews\n\nReviews of products, with one to five stars.\n",
  },
  {
    ...{ type: "dataset", name: "acme/salaries", discussions: 2, private: true },
    card: "---\nlicense: other\n---\n\n# Salaries\n\nSalaries by team and year.\n",
  },
  {
    // This card has no license, so that programs that check cards find a problem.
    ...{ type: "dataset", name: "acme/translations", discussions: 0 },
    card: "---\nlanguage:\n- en\n- fr\n---\n\n# Translations\n\nSentences in English and French.\n",
  },
  {
    ...{ type: "model", name: "acme/sentiment", discussions: 7 },
    card: "---\nlicense: apache-2.0\npipeline_tag: text-classification\ndatasets:\n- acme/reviews\n---\n\n# Sentiment\n\nPredicts the stars of a review.\n",
  },
  {
    ...{ type: "space", name: "acme/playground", discussions: 4, sdk: "gradio" },
    card: "---\ntitle: Playground\nsdk: gradio\napp_file: app.py\nmodels:\n- acme/sentiment\n---\n\n# Playground\n\nA page that runs the model acme/sentiment.\n",
  },
  { type: "bucket", name: "acme/uploads", discussions: 1 },
  { type: "kernel", name: "acme/rotary", discussions: 3 },
  {
    ...{ type: "dataset", name: "local-user/notes", discussions: 5 },
    card: "# Notes\n\nNotes about experiments.\n",
  },
  {
    ...{ type: "model", name: "local-user/drafts", discussions: 0, private: true },
    card: "---\nlicense: mit\n---\n\n# Drafts\n\nModels that are not ready to be published.\n",
  },
];

/** The creation time of the example repositories. It is fixed, so that their commits have the same IDs in every local Hub. */
const createdAt = Date.UTC(2026, 0, 31, 9);

/** Some repositories are private, and one repository of acme has no resource group. */
export function seedRepositories(store: Pick<Store, "repositories" | "content">): void {
  for (const { card, private: isPrivate = false, ...others } of repositories) {
    const id = seededRepositoryId(others);
    const repository: StoredRepository = {
      ...{ ...others, id, private: isPrivate, createdAt, lastModified: createdAt },
      ...{ gated: false, discussionsDisabled: false },
      // The content of kernels is not stored, and buckets have no commits.
      ...(others.type === "kernel" && { headSha: `${deriveId(`head ${id}`)}${id}`.slice(0, 40) }),
    };
    store.repositories.put(repository);
    createInitialCommit(store.content, {
      repository,
      files: card === undefined ? [] : [{ path: "README.md", content: Buffer.from(card) }],
      author: others.name.startsWith(`${localUser}/`) ? localUser : memberName(0),
      date: createdAt,
    });
  }
}

/** Derives the ID of an example repository, which is the same in every local Hub. */
function seededRepositoryId({ type, name }: KnownRepoRef): string {
  return deriveId(`repository ${type}:${name}`);
}
