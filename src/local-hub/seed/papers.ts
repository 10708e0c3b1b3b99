import { accountId, fullNameOf, localUser, objectIdOf, otherUser } from "../accounts.ts";
import type { KeyedRecord } from "../store/record-store.ts";
import type { StoredPaper } from "../store/records.ts";
import { memberName } from "./members.ts";

interface Authorship {
  user: string;
  isClaimed?: true;
}

const [first, second, third] = [memberName(0), memberName(1), memberName(2)];

const seeds: readonly { id: string; title: string; authors: readonly Authorship[] }[] = [
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

/** The papers with which a local Hub starts: some of their authors are claimed, of one all. */
export function seedPapers(): KeyedRecord<StoredPaper>[] {
  return seeds.map(({ id, title, authors }) => ({
    owner: "",
    id,
    record: {
      objectId: objectIdOf(`paper ${id}`),
      title,
      authors: authors.map(({ user, isClaimed }) => ({
        id: objectIdOf(`author ${id} ${user}`),
        name: fullNameOf(user),
        ...(isClaimed && { claimedBy: accountId(user) }),
      })),
    },
  }));
}
