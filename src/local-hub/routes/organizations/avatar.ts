import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute, z } from "@hono/zod-openapi";
import { avatarOperations } from "../../../hub/organizations/organizations.ts";
import { authorize } from "../../access.ts";
import { getAvatarUrl } from "../../resources/avatars.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp } from "../api.ts";
import { describeRoute, errorResponses, jsonResponse } from "../openapi.ts";

/** The routes of the operations, as the document describes them. */
export const avatarRoutes = {
  get: createRoute({
    ...describeRoute(avatarOperations.get),
    request: {
      ...avatarOperations.get.request,
      query: z.object({
        redirect: z.string().optional().openapi({ description: "Redirects to the picture, whatever its value." }),
      }),
      headers: z.object({
        "sec-fetch-dest": z.string().optional().openapi({ description: "`image` redirects to the picture." }),
      }),
    },
    tags: ["orgs"],
    responses: {
      200: jsonResponse("Where it is.", avatarOperations.get.response),
      302: {
        description: "To the picture.",
        headers: { Location: { description: "Where it is.", schema: { type: "string" } } },
      },
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
} as const;

/** What the route of avatars needs. */
export interface AvatarRoutesOptions {
  store: Store;
  baseUrl: string;
}

/** The operation on the picture of an organization (hub-api.md, Organizations). */
export function avatarApi({ store, baseUrl }: AvatarRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(avatarRoutes.get, (context) => {
    const organization = context.req.valid("param").name;
    authorize({ store, caller: context.var.caller, organization }, { role: "anyone" });
    const avatarUrl = getAvatarUrl(organization, { baseUrl });
    const isForImage = context.req.valid("header")["sec-fetch-dest"] === "image";
    if (isForImage || context.req.valid("query").redirect !== undefined) return context.redirect(avatarUrl, 302);
    return context.json({ avatarUrl }, 200);
  });

  return app;
}
