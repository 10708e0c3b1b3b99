import * as z from "zod/mini";
import type { CallOptions, Operations } from "./operation.ts";
import { jsonBody } from "./operation.ts";
import { objectIdInEitherCase } from "./schemas.ts";
import type { Transport } from "./transport/transport.ts";

/** A claim to be an author of a paper. */
export const paperClaim = z.object({
  /** The identifier of the preprint, such as `2401.12345`. */
  paperId: z.string().check(z.minLength(1)),
  /** The ID of the claimed author entry. Required since 2026-08-17. */
  claimAuthorId: z.optional(objectIdInEitherCase),
  /** The ID of the author's user account. Default: the user of the token. */
  targetUserId: z.optional(objectIdInEitherCase),
});

/** The result of a claim. */
export const paperClaimResult = z.strictObject({ ok: z.boolean(), claimedPaperId: z.string() });

/** A claim to be an author of a paper. */
export type PaperClaim = z.input<typeof paperClaim>;
/** The result of a claim. */
export type PaperClaimResult = z.output<typeof paperClaimResult>;

/** The operations on papers (docs/reference/hub-api.md, Papers). */
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

/** The methods of `hub.papers` for papers (docs/reference/hub-api.md, Papers). */
export class HubPapers {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Claims that the user of the token, or the user `targetUserId`, is an author of a paper. `ok` is `true` if the Hub accepted the
   * claim.
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
