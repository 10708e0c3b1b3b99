import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { accountOperations } from "../../hub/account.ts";
import { getWhoami } from "../resources/whoami.ts";
import type { Store } from "../store/store.ts";
import { type ApiEnvironment, createApiApp } from "./api.ts";
import { describeRoute, errorResponses, jsonResponse } from "./openapi.ts";

/** The routes of the operations, as the document describes them. */
export const accountRoutes = {
  whoami: createRoute({
    ...describeRoute(accountOperations.whoami),
    tags: ["auth"],
    responses: { 200: jsonResponse("The user.", accountOperations.whoami.response), ...errorResponses.unauthorized },
  }),
} as const;

/** What the route of accounts needs. */
export interface AccountRoutesOptions {
  store: Store;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  startedAt: Date;
}

/** The operation on accounts, which every program of Python's client calls first. */
export function accountApi(options: AccountRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();
  app.openapi(accountRoutes.whoami, (context) => context.json(getWhoami(context.var.caller, options), 200));
  return app;
}
