import { HTTPException } from "hono/http-exception";
import type { Caller } from "../../accounts.ts";
import type { HubContext } from "../../hub-context.ts";
import type { ApiRequest } from "./audit-log.ts";

/**
 * Revokes the access of a token to an organization. Has no effect if the access is already revoked.
 *
 * @throws HTTPException 404 if the token is unknown or does not belong to a member.
 */
export function revokeToken(
  { store, auditLog, now }: Pick<HubContext, "store" | "auditLog" | "now">,
  { organization, token, request }: { organization: string; token: Caller | undefined; request: ApiRequest },
): void {
  // Tokens of other users get the same response as unknown tokens, so that the response does not reveal whether a token exists.
  if (!token || !store.members.get({ owner: organization, id: token.user })) {
    throw new HTTPException(404, { message: `No member of "${organization}" has this token.` });
  }
  const { user, tokenId } = token;
  const key = { owner: organization, id: tokenId };
  if (store.revocations.get(key)) return;
  store.transaction(() => {
    store.revocations.put({ ...key, record: { at: now() } });
    auditLog.record({
      organization,
      type: "org.token_approval.authorization_request.revoked",
      author: request.caller.user,
      message: `Revoked the access of a token of ${user}`,
      data: { tokenId },
      request,
    });
  });
}
