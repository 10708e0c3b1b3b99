import type { Hono } from "hono";
import * as z from "zod/mini";
import { avatarOperations, organizationAvatar } from "../../../hub/organizations/organizations.ts";
import { authorize } from "../../access.ts";
import type { HubContext } from "../../hub-context.ts";
import { getAvatarUrl } from "../../resources/avatars.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const redirectQuery = z.object({ redirect: z.optional(z.string()) });

const avatarRoutes = {
  get: describeRoute(
    { ...avatarOperations.get, request: { ...avatarOperations.get.request, query: redirectQuery } },
    {
      tag: "orgs",
      parameters: {
        redirect: { in: "query", description: "Any value redirects to the avatar." },
        "sec-fetch-dest": { in: "header", description: "`image` redirects to the avatar." },
      },
      success: { description: "The URL of the avatar." },
      redirect: {
        description: "A redirect to the avatar.",
        headers: { Location: { description: "The URL of the avatar." } },
      },
      errors: ["invalid", "forbidden", "notFound"],
    },
  ),
};

/** Serves the avatar of an organization (docs/reference/hub-api.md, Organizations). */
export const avatarApi = {
  routes: avatarRoutes,
  components: { OrganizationAvatar: organizationAvatar },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl }: Pick<HubContext, "store" | "hubUrl">) {
    serveRoute(app, avatarRoutes.get, ({ params, query }, context) => {
      const organization = params.name;
      authorize({ store, caller: context.var.caller, organization }, { role: "anyone" });
      const avatarUrl = getAvatarUrl(organization, { hubUrl });
      const isForImage = context.req.header("sec-fetch-dest") === "image";
      if (isForImage || query.redirect !== undefined) return context.redirect(avatarUrl, 302);
      return { avatarUrl };
    });
  },
} satisfies ResourceApi;
