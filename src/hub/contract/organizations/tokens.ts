import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer, jsonBody } from "../json.ts";
import { bearer, notShown, refusals } from "../values.ts";
import { organizationName } from "./role.ts";

/** The token that loses its access, as it was issued. The Hub accepts this until 2026-08-12. */
export const tokenRevocation = z
  .object({ token: z.string().regex(/^hf_/, 'expected a whole token, which begins with "hf_"') })
  .openapi("TokenRevocation");

/** Which token loses its access: by its id, or before 2026-08-12 by its raw value. */
export type RevokedToken =
  | {
      /** As the token settings of the organization and its audit log show it. */
      tokenId: string;
    }
  | {
      /** The raw token, for a Hub from before 2026-08-12. It appears in no error and no log. */
      token: string;
    };

/** The operations on tokens (hub-api.md, Organizations). */
export const tokenRoutes = {
  revoke: createRoute({
    method: "post",
    path: "/api/organizations/{name}/settings/tokens/revoke",
    operationId: "revokeOrganizationToken",
    summary: "Revoke the access of a token by its value",
    description: "The token itself stays, and works outside the organization. Enterprise only.",
    tags: ["orgs"],
    security: bearer,
    request: { params: organizationName, body: jsonBody(tokenRevocation) },
    responses: {
      200: jsonAnswer("It has no access any more.", notShown),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
      ...refusals.body,
    },
  }),
  revokeById: createRoute({
    method: "post",
    path: "/api/organizations/{name}/settings/tokens/{tokenId}/revoke",
    operationId: "revokeOrganizationTokenById",
    summary: "Revoke the access of a token to the organization",
    description: "The token itself stays, and works outside the organization. Enterprise only. Since 2026-08-12.",
    tags: ["orgs"],
    security: bearer,
    request: { params: organizationName.extend({ tokenId: z.string() }) },
    responses: {
      200: jsonAnswer("It has no access any more.", notShown),
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
} as const;
