import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer } from "../json.ts";
import { bearer, refusals } from "../values.ts";
import { organizationName } from "./role.ts";

/** Where the picture of an organization is. */
export const organizationAvatar = z.strictObject({ avatarUrl: z.url() }).openapi("OrganizationAvatar");

/** The operation on the picture of an organization (hub-api.md, Organizations). */
export const avatarRoutes = {
  get: createRoute({
    method: "get",
    path: "/api/organizations/{name}/avatar",
    operationId: "getOrganizationAvatar",
    summary: "Find the avatar of an organization",
    tags: ["orgs"],
    security: bearer,
    request: {
      params: organizationName,
      query: z.object({
        redirect: z.string().optional().openapi({ description: "Redirects to the picture, whatever its value." }),
      }),
      headers: z.object({
        "sec-fetch-dest": z.string().optional().openapi({ description: "`image` redirects to the picture." }),
      }),
    },
    responses: {
      200: jsonAnswer("Where it is.", organizationAvatar),
      302: {
        description: "To the picture.",
        headers: { Location: { description: "Where it is.", schema: { type: "string" } } },
      },
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
} as const;
