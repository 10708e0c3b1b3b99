import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type * as z from "zod/mini";
import { type PaperClaimResult, paperClaim, paperClaimResult, paperOperations } from "../../hub/papers.ts";
import { accountId, findUserById, formatFullName } from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import type { StoredPaper } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const paperRoutes = {
  claim: describeRoute(paperOperations.claim, {
    tag: "papers",
    success: { description: "Whether the claim was accepted." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on papers (docs/reference/hub-api.md, Papers). */
export const paperApi = {
  routes: paperRoutes,
  components: { PaperClaim: paperClaim, PaperClaimResult: paperClaimResult },
  serve(app: Hono<ApiEnvironment>, { store }: Pick<HubContext, "store">) {
    serveRoute(app, paperRoutes.claim, ({ body }, context) => {
      return claimPaper({ store, user: context.var.caller.user }, body);
    });
  },
} satisfies ResourceApi;

/**
 * Claims a paper for `user`, or for the user `targetUserId`. `ok` is `false` if other users have claimed
 * the requested author or all authors.
 *
 * @throws HTTPException 404 if the paper is unknown, 400 if the user or the author is unknown.
 */
function claimPaper(
  { store, user: claimant }: { store: Store; user: string },
  { paperId, claimAuthorId, targetUserId }: z.output<typeof paperClaim>,
): PaperClaimResult {
  const key = { owner: "", id: paperId };
  const paper = store.papers.get(key);
  if (!paper) throw new HTTPException(404, { message: `There is no paper "${paperId}".` });
  const user = targetUserId === undefined ? claimant : findUserById(store, targetUserId.toLowerCase());
  if (user === undefined) {
    throw new HTTPException(400, { message: `targetUserId: there is no user with the ID ${targetUserId}.` });
  }
  const author = claimAuthorId === undefined ? findLikelyAuthor(paper, user) : authorOf(paper, claimAuthorId);
  const userId = accountId(user);
  const isFree = author !== undefined && (author.claimedBy ?? userId) === userId;
  if (isFree) {
    const authors = paper.authors.map((known) => (known === author ? { ...known, claimedBy: userId } : known));
    store.papers.put({ ...key, record: { ...paper, authors } });
  }
  return { ok: isFree, claimedPaperId: paperId };
}

type Author = StoredPaper["authors"][number];

function authorOf({ authors }: StoredPaper, id: string): Author {
  const author = authors.find((known) => known.id === id.toLowerCase());
  if (author) return author;
  const ids = authors.map((known) => `${known.id} (${known.name})`).join(", ");
  throw new HTTPException(400, { message: `claimAuthorId: the authors of this paper are ${ids}.` });
}

/**
 * Returns the author that a user has claimed, otherwise an unclaimed author with the user's name, otherwise the first
 * unclaimed author.
 */
function findLikelyAuthor({ authors }: StoredPaper, user: string): Author | undefined {
  const free = authors.filter(({ claimedBy }) => claimedBy === undefined);
  return (
    authors.find(({ claimedBy }) => claimedBy === accountId(user)) ??
    free.find(({ name }) => name === formatFullName(user)) ??
    free[0]
  );
}
