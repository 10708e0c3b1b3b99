import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer, jsonBody } from "./json.ts";
import { bearer, objectIdInEitherCase, refusals } from "./values.ts";

/** Which paper is claimed, as which of its authors, and for whom. */
export const paperClaim = z
  .object({
    /** The identifier of the preprint, such as `2401.12345`. */
    paperId: z.string().min(1),
    /** The author entry that is claimed. The Hub of 2026-08-17 requires it. */
    claimAuthorId: objectIdInEitherCase.optional(),
    targetUserId: objectIdInEitherCase.optional(),
  })
  .openapi("PaperClaim");

/** What became of a claim. */
export const paperClaimResult = z
  .strictObject({ ok: z.boolean(), claimedPaperId: z.string() })
  .openapi("PaperClaimResult");

/** Which paper is claimed, as which of its authors, and for whom. */
export type PaperClaim = z.input<typeof paperClaim>;
/** What became of a claim. */
export type PaperClaimResult = z.output<typeof paperClaimResult>;

/** The operations on papers (hub-api.md, Papers). */
export const paperRoutes = {
  claim: createRoute({
    method: "post",
    path: "/api/settings/papers/claim",
    operationId: "claimPaper",
    summary: "Claim a paper",
    tags: ["papers"],
    security: bearer,
    request: { body: jsonBody(paperClaim) },
    responses: {
      200: jsonAnswer("Whether it is claimed.", paperClaimResult),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
      ...refusals.body,
    },
  }),
} as const;
