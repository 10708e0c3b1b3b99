import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { paperOperations } from "../../hub/papers.ts";
import { accountId, findUserById, formatFullName } from "../accounts.ts";
import type { StoredPaper } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, serveRoute } from "./route.ts";

export const paperRoutes = {
  claim: describeRoute(paperOperations.claim, {
    tag: "papers",
    success: { description: "Whether the claim was accepted." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on papers (docs/reference/hub-api.md, Papers). */
export function paperApi({ store }: { store: Store }): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

  serveRoute(app, paperRoutes.claim, ({ body }, context) => {
    const { paperId, claimAuthorId, targetUserId } = body;
    const key = { owner: "", id: paperId };
    const paper = store.papers.get(key);
    if (!paper) throw new HTTPException(404, { message: `There is no paper ${paperId}.` });
    const user = targetUserId === undefined ? context.var.caller.user : findUserById(store, targetUserId.toLowerCase());
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
  });

  return app;
}

type Author = StoredPaper["authors"][number];

function authorOf({ authors }: StoredPaper, id: string): Author {
  const author = authors.find((known) => known.id === id.toLowerCase());
  if (author) return author;
  const ids = authors.map((known) => `${known.id} (${known.name})`).join(", ");
  throw new HTTPException(400, { message: `claimAuthorId: the authors of this paper are ${ids}.` });
}

/** The author that a user has claimed, or else the unclaimed author with the name of the user, or the first unclaimed one. */
function findLikelyAuthor({ authors }: StoredPaper, user: string): Author | undefined {
  const free = authors.filter(({ claimedBy }) => claimedBy === undefined);
  return (
    authors.find(({ claimedBy }) => claimedBy === accountId(user)) ??
    free.find(({ name }) => name === formatFullName(user)) ??
    free[0]
  );
}
