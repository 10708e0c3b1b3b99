import type { Hono } from "hono";
import { organizationOverview, profileOperations, userOverview } from "../../hub/account.ts";
import type { HubContext } from "../hub-context.ts";
import { getOrganizationOverview, getUserOverview } from "../resources/profiles.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const profileRoutes = {
  user: describeRoute(profileOperations.user, {
    tag: "users",
    token: "optional",
    success: { description: "The profile." },
    errors: ["notFound"],
  }),
  organization: describeRoute(profileOperations.organization, {
    tag: "orgs",
    token: "optional",
    success: { description: "The profile." },
    errors: ["notFound"],
  }),
} as const;

/** Serves the public profiles of users and organizations. */
export const profileApi = {
  routes: profileRoutes,
  components: { UserOverview: userOverview, OrganizationOverview: organizationOverview },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl, startedAt }: Pick<HubContext, "store" | "hubUrl" | "startedAt">) {
    serveRoute(app, profileRoutes.user, ({ params }) => getUserOverview(params.username, { store, hubUrl, startedAt }));

    serveRoute(app, profileRoutes.organization, ({ params }) =>
      getOrganizationOverview(params.name, { store, hubUrl }),
    );
  },
} satisfies ResourceApi;
