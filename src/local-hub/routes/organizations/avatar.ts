import type { OpenAPIHono } from "@hono/zod-openapi";
import { avatarRoutes } from "../../../hub/contract/organizations/avatar.ts";
import { admit } from "../../access.ts";
import { avatarUrlOf } from "../../resources/avatars.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp } from "../api.ts";

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
    admit({ store, caller: context.var.caller, organization }, { as: "anyone" });
    const avatarUrl = avatarUrlOf(organization, { baseUrl });
    const isForImage = context.req.valid("header")["sec-fetch-dest"] === "image";
    if (isForImage || context.req.valid("query").redirect !== undefined) return context.redirect(avatarUrl, 302);
    return context.json({ avatarUrl }, 200);
  });

  return app;
}
