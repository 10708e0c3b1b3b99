import type { KnownRepoRef } from "../../hub/schemas.ts";
import { localUser } from "../accounts.ts";
import { deriveId } from "../ids.ts";
import { createInitialCommit } from "../resources/repositories/initial-commit.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { memberName } from "./organizations.ts";

interface SeededRepository extends KnownRepoRef {
  discussions: number;
  private?: true;
  sdk?: string;
  /** The README, which is the card. */
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

/**
 * Stores repositories of all types, with a first commit. Some repositories are private, and one repository of acme has no resource
 * group.
 */
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
export function seededRepositoryId({ type, name }: KnownRepoRef): string {
  return deriveId(`repository ${type}:${name}`);
}
