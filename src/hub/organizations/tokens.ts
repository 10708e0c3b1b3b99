import * as z from "zod/mini";
import { HubError } from "../../core/errors.ts";
import { type CallOptions, jsonBody, type Operations } from "../operation.ts";
import { organizationName, undocumentedBody } from "../schemas.ts";
import type { Transport } from "../transport/transport.ts";

/** A request to revoke a token by its value. The Hub accepted this request until 2026-08-12. */
export const tokenRevocation = z.object({
  token: z.string().check(z.regex(/^hf_/, 'expected a complete token, which starts with "hf_"')),
});

/** The token to revoke, by ID, or by value on a Hub from before 2026-08-12. */
export type RevokedToken =
  | {
      /** The ID of the token, which the token settings and the audit log of the organization contain. */
      tokenId: string;
    }
  | {
      /** The token itself, for a Hub from before 2026-08-12. Errors and logs never contain this value. */
      token: string;
    };

/** The operations on tokens (docs/reference/hub-api.md, Organizations). */
export const tokenOperations = {
  revoke: {
    method: "post",
    path: "/api/organizations/{name}/settings/tokens/revoke",
    operationId: "revokeOrganizationToken",
    summary: "Revoke the access of a token by its value",
    request: { params: organizationName, body: jsonBody(tokenRevocation) },
    response: undocumentedBody,
  },
  revokeById: {
    method: "post",
    path: "/api/organizations/{name}/settings/tokens/{tokenId}/revoke",
    operationId: "revokeOrganizationTokenById",
    summary: "Revoke the access of a token to the organization",
    request: { params: z.object({ ...organizationName.shape, tokenId: z.string() }) },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** Revokes the access of a token, by ID or by value. */
export async function revokeToken(
  transport: Transport,
  { name, revoked, options }: { name: string; revoked: RevokedToken; options: CallOptions | undefined },
): Promise<void> {
  const repeatable = { ...options, idempotent: true };
  if ("tokenId" in revoked) {
    const { tokenId } = revoked;
    await transport.call(tokenOperations.revokeById, { params: { name, tokenId } }, repeatable);
    return;
  }
  await transport.call(tokenOperations.revoke, { params: { name }, body: revoked }, repeatable).catch((error) => {
    throw HubError.isInstance(error) && error.code === "HUB_NOT_FOUND" ? addTokenIdHint(error) : error;
  });
}

function addTokenIdHint(error: HubError): HubError {
  return new HubError(
    `${error.message} Since 2026-08-12, the Hub revokes tokens by ID. Pass { tokenId } with the ID from the token settings of the organization.`,
    { code: error.code, ...(error.status !== undefined && { status: error.status }), requestId: error.requestId },
  );
}
