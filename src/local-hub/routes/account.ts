import type { Hono } from "hono";
import { accountOperations, whoami } from "../../hub/account.ts";
import type { HubContext } from "../hub-context.ts";
import { getWhoami } from "../resources/account.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const accountRoutes = {
  whoami: describeRoute(accountOperations.whoami, {
    tag: "auth",
    success: { description: "The user." },
    errors: [],
  }),
} as const;

/** Serves the user of the token. The Python client's commands call this operation first. */
export const accountApi = {
  routes: accountRoutes,
  components: { Whoami: whoami },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl, startedAt }: Pick<HubContext, "store" | "hubUrl" | "startedAt">) {
    serveRoute(app, accountRoutes.whoami, (_request, context) =>
      getWhoami(context.var.caller, { store, hubUrl, startedAt }),
    );
  },
} satisfies ResourceApi;
