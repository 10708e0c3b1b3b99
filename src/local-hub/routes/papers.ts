import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { paperOperations } from "../../hub/papers.ts";
import { accountId, findUserById, formatFullName } from "../accounts.ts";
import type { StoredPaper } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { describeRoute, errorResponses, jsonResponse } from "./openapi.ts";

/** The routes of the operations, as the document describes them. */
export const paperRoutes = {
  claim: createRoute({
    ...describeRoute(paperOperations.claim),
    tags: ["papers"],
    responses: {
      200: jsonResponse("Whether it is claimed.", paperOperations.claim.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
      ...errorResponses.body,
    },
  }),
} as const;

/** The operations on papers (hub-api.md, Papers). */
export function paperApi({ store }: { store: Store }): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(paperRoutes.claim, (context) => {
    const { paperId, claimAuthorId, targetUserId } = context.req.valid("json");
    const key = { owner: "", id: paperId };
    const paper = store.papers.get(key);
    if (!paper) throw new HTTPException(404, { message: `There is no paper ${paperId}.` });
    const user = targetUserId === undefined ? context.var.caller.user : findUserById(store, targetUserId.toLowerCase());
    if (user === undefined) {
      throw new HTTPException(400, { message: `targetUserId: there is no user of id ${targetUserId}.` });
    }
    const author = claimAuthorId === undefined ? likeliestAuthor(paper, user) : authorOf(paper, claimAuthorId);
    const userId = accountId(user);
    const isFree = author !== undefined && (author.claimedBy ?? userId) === userId;
    if (isFree) {
      const authors = paper.authors.map((known) => (known === author ? { ...known, claimedBy: userId } : known));
      store.papers.put({ ...key, record: { ...paper, authors } });
    }
    return context.json({ ok: isFree, claimedPaperId: paperId }, 200);
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

/** Who a user is among the authors: whom they have claimed to be, or of those who are free a namesake or the first. */
function likeliestAuthor({ authors }: StoredPaper, user: string): Author | undefined {
  const free = authors.filter(({ claimedBy }) => claimedBy === undefined);
  return (
    authors.find(({ claimedBy }) => claimedBy === accountId(user)) ??
    free.find(({ name }) => name === formatFullName(user)) ??
    free[0]
  );
}
