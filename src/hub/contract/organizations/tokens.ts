import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer, jsonBody } from "../json.ts";
import { bearer, notShown, refusals } from "../values.ts";
import { organizationName } from "./role.ts";

/** The token that loses its access, as it was issued. */
export const tokenRevocation = z
  .strictObject({ token: z.string().regex(/^hf_/, 'expected a whole token, which begins with "hf_"') })
  .openapi("TokenRevocation");

/** The operation on tokens (hub-api.md, Organizations). */
export const tokenRoutes = {
  revoke: createRoute({
    method: "post",
    path: "/api/organizations/{name}/settings/tokens/revoke",
    operationId: "revokeOrganizationToken",
    summary: "Take a token's access to the organization away",
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
} as const;
