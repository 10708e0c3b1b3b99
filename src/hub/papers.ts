import * as z from "zod";
import type { CallOptions, Operations } from "./operation.ts";
import { jsonBody } from "./operation.ts";
import { objectIdInEitherCase } from "./schemas.ts";
import type { Transport } from "./transport.ts";

/** Which paper is claimed, as which of its authors, and for whom. */
export const paperClaim = z.object({
  /** The identifier of the preprint, such as `2401.12345`. */
  paperId: z.string().min(1),
  /** The author entry that is claimed. The Hub of 2026-08-17 requires it. */
  claimAuthorId: objectIdInEitherCase.optional(),
  targetUserId: objectIdInEitherCase.optional(),
});

/** What became of a claim. */
export const paperClaimResult = z.strictObject({ ok: z.boolean(), claimedPaperId: z.string() });

/** Which paper is claimed, as which of its authors, and for whom. */
export type PaperClaim = z.input<typeof paperClaim>;
/** What became of a claim. */
export type PaperClaimResult = z.output<typeof paperClaimResult>;

/** The operations on papers (hub-api.md, Papers). */
export const paperOperations = {
  claim: {
    method: "post",
    path: "/api/settings/papers/claim",
    operationId: "claimPaper",
    summary: "Claim a paper",
    request: { body: jsonBody(paperClaim) },
    response: paperClaimResult,
  },
} as const satisfies Operations;

/** Papers: `hub.papers` (hub-api.md, Papers). */
export class HubPapers {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Claims that you, or the user of `targetUserId`, are an author of a paper. `ok` is whether the Hub accepted the claim.
   *
   * @example
   * ```ts
   * const { ok } = await hub.papers.claim({ paperId: "2401.12345" });
   * ```
   */
  claim(claim: PaperClaim, options?: CallOptions): Promise<PaperClaimResult> {
    return this.#transport.call(paperOperations.claim, { body: claim }, options);
  }
}
