import type { KnownRepoId } from "../../hub/contract/repositories.ts";
import { localUser, objectIdOf, otherUser } from "../accounts.ts";
import { discussionId } from "../events/event.ts";
import type { KeyedRecord } from "../store/record-store.ts";
import type { StoredNotification } from "../store/records.ts";
import { memberName } from "./members.ts";
import { seedPapers } from "./papers.ts";
import { seededRepositoryId } from "./repositories.ts";
import type { SeedOptions } from "./seed-options.ts";

type About = StoredNotification["about"];
type Of<Type extends About["type"]> = Extract<About, { type: Type }>;

/** What a notification is about, and the id of that discussion. */
interface Subject {
  id: string;
  about: About;
}

/** Milliseconds between one notification and the next. */
const spacing = 7 * 3_600_000;

/** The notifications with which a local Hub starts: two pages of all types for the developer, and some for another. */
export function seedNotifications(options: SeedOptions): KeyedRecord<StoredNotification>[] {
  const all = subjects();
  return [...notify(localUser, all, options), ...notify(otherUser, all.slice(0, 6), options)];
}

/** The latest first. Who takes part, who is mentioned and what is read goes round, so that every mixture is there. */
function notify(owner: string, about: Subject[], { now }: SeedOptions): KeyedRecord<StoredNotification>[] {
  return about.map((subject, index) => ({
    owner,
    id: subject.id,
    record: {
      updatedAt: now - (index + 1) * spacing,
      read: index % 3 === 2,
      participating: [memberName(index), ...(index % 4 < 2 ? [owner] : [])],
      mentions: index % 5 === 1,
      ...(index % 2 === 0 && { discussionEventId: objectIdOf(`event ${subject.id}`) }),
      about: subject.about,
    },
  }));
}

function subjects(): Subject[] {
  const reviews: KnownRepoId = { type: "dataset", name: "acme/reviews" };
  const salaries: KnownRepoId = { type: "dataset", name: "acme/salaries" };
  const sentiment: KnownRepoId = { type: "model", name: "acme/sentiment" };
  const playground: KnownRepoId = { type: "space", name: "acme/playground" };
  const uploads: KnownRepoId = { type: "bucket", name: "acme/uploads" };
  const rotary: KnownRepoId = { type: "kernel", name: "acme/rotary" };
  const notes: KnownRepoId = { type: "dataset", name: "local-user/notes" };
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
    discussion(reviews, { num: 11, title: "Mend the column names", status: "merged", isPullRequest: true }),
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
  repo: KnownRepoId,
  facts: { num: number; title: string; status: Of<"repo">["discussion"]["status"]; isPullRequest?: true },
): Subject {
  const id = discussionId({ repositoryId: seededRepositoryId(repo), num: facts.num });
  return { id, about: { type: "repo", repo, discussion: { isPullRequest: false, ...facts } } };
}

function paperSubjects(): (preprint: string, options?: { thread?: number }) => Subject {
  const papers = new Map(seedPapers().map(({ id, record }) => [id, record]));
  return (preprint, { thread = 1 } = {}) => {
    const known = papers.get(preprint);
    if (!known) throw new Error(`No paper ${preprint} among the seeds.`);
    return {
      id: objectIdOf(`paper discussion ${preprint} ${thread}`),
      about: { type: "paper", paper: { _id: known.objectId, title: known.title } },
    };
  };
}

function post(facts: Omit<Of<"post">, "type">): Subject {
  return { id: objectIdOf(`post ${facts.slug}`), about: { type: "post", ...facts } };
}

function blog(facts: Omit<Of<"community_blog">, "type">): Subject {
  return { id: objectIdOf(`blog ${facts.slug}`), about: { type: "community_blog", ...facts } };
}
