import type { Hono } from "hono";
import { accountOperations, organizationOverview, userOverview, whoami } from "../../hub/account.ts";
import type { HubContext } from "../hub-context.ts";
import { getWhoami } from "../resources/account.ts";
import { getOrganizationOverview, getUserOverview } from "../resources/profiles.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const accountRoutes = {
  whoami: describeRoute(accountOperations.whoami, {
    tag: "auth",
    success: { description: "The user." },
    errors: [],
  }),
  userOverview: describeRoute(accountOperations.userOverview, {
    tag: "users",
    token: "optional",
    success: { description: "The profile." },
    errors: ["notFound"],
  }),
  organizationOverview: describeRoute(accountOperations.organizationOverview, {
    tag: "orgs",
    token: "optional",
    success: { description: "The profile." },
    errors: ["notFound"],
  }),
} as const;

/** Serves the user of the token. The Python client's commands call this operation first. */
export const accountApi = {
  routes: accountRoutes,
  components: { Whoami: whoami, UserOverview: userOverview, OrganizationOverview: organizationOverview },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl, startedAt }: Pick<HubContext, "store" | "hubUrl" | "startedAt">) {
    serveRoute(app, accountRoutes.whoami, (_request, context) =>
      getWhoami(context.var.caller, { store, hubUrl, startedAt }),
    );

    serveRoute(app, accountRoutes.userOverview, ({ params }) =>
      getUserOverview(params.username, { store, hubUrl, startedAt }),
    );

    serveRoute(app, accountRoutes.organizationOverview, ({ params }) =>
      getOrganizationOverview(params.name, { store, hubUrl }),
    );
  },
} satisfies ResourceApi;
