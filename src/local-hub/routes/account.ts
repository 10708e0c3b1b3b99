import { Hono } from "hono";
import { accountOperations } from "../../hub/account.ts";
import { getWhoami } from "../resources/account.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, serveRoute } from "./route.ts";

export const accountRoutes = {
  whoami: describeRoute(accountOperations.whoami, {
    tag: "auth",
    success: { description: "The user." },
    errors: [],
  }),
} as const;

export interface AccountRoutesOptions {
  store: Store;
  /** The base URL of the local Hub, without a trailing slash. */
  hubUrl: string;
  startedAt: Date;
}

/** Serves the user of the token. The commands of the Python client call this first. */
export function accountApi(options: AccountRoutesOptions): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();
  serveRoute(app, accountRoutes.whoami, (_request, context) => getWhoami(context.var.caller, options));
  return app;
}
