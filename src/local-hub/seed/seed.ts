import type { KnownRepoRef } from "../../hub/schemas.ts";
import { accountId, formatFullName, localUser, otherUser } from "../accounts.ts";
import { discussionId } from "../events/recorded-event.ts";
import { deriveId } from "../ids.ts";
import type { KeyedRecord, StoredNotification, StoredPaper, StoredSettings } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { seedAuditLog } from "./audit-log.ts";
import { seedDiscussions } from "./discussions.ts";
import { memberName, seedMembers, seedNetworkSecurity, seedResourceGroups } from "./organizations.ts";
import { seededRepositoryId, seedRepositories } from "./repositories.ts";

/** Fills an empty store with example data. Does not change a store that already contains data. */
export function seedStore(store: Store, { now }: { now: number }): void {
  // Every store with data contains this member, because each organization has at least one admin.
  if (store.members.get({ owner: "acme", id: "local-user" })) return;
  store.transaction(() => {
    store.members.put(...seedMembers());
    store.networkSecurity.put(...seedNetworkSecurity());
    store.notifications.put(...seedNotifications({ now }));
    store.papers.put(...seedPapers());
    seedRepositories(store);
    seedDiscussions(
      store,
      subjects().map(({ about }) => about),
    );
    store.settings.put(...seedSettings());
    store.resourceGroups.put(...seedResourceGroups({ now }));
    store.auditLog.add(...seedAuditLog({ now }));
  });
}

interface Authorship {
  user: string;
  isClaimed?: true;
}

const [first, second, third] = [memberName(0), memberName(1), memberName(2)];

const papers: readonly { id: string; title: string; authors: readonly Authorship[] }[] = [
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

/** The subject of a notification, with the ID of the discussion. */
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

/**
 * Creates a user's notifications, newest first. Alternates participation, mentions, and read status, so that all combinations
 * occur.
 */
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
function seedSettings(): KeyedRecord<StoredSettings>[] {
  return [
    {
      owner: localUser,
      id: "settings",
      record: {
        notifications: { announcements: true, web_discussions_watched: true, launch_spaces: false },
        watched: [{ type: "repo", id: seededRepositoryId({ type: "dataset", name: "acme/reviews" }) }],
      },
    },
  ];
}
