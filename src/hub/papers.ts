import type { CallOptions } from "./call-options.ts";
import { type PaperClaim, type PaperClaimResult, paperRoutes } from "./contract/papers.ts";
import type { Transport } from "./transport.ts";

/** Papers: `hub.papers` (hub-api.md, Papers). */
export class HubPapers {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Claims to be an author of a paper, or that the user of `targetUserId` is one. `ok` tells whether the claim is taken.
   *
   * @example
   * ```ts
   * const { ok } = await hub.papers.claim({ paperId: "2401.12345" });
   * ```
   */
  claim(claim: PaperClaim, options?: CallOptions): Promise<PaperClaimResult> {
    return this.#transport.call(paperRoutes.claim, { body: claim }, options);
  }
}
