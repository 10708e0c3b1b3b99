import type { Hono } from "hono";
import { paperClaim, paperClaimResult, paperOperations } from "../../hub/papers.ts";
import type { HubContext } from "../hub-context.ts";
import { claimPaper } from "../resources/papers.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const paperRoutes = {
  claim: describeRoute(paperOperations.claim, {
    tag: "papers",
    success: { description: "Whether the claim was accepted." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on papers (docs/reference/hub-api.md, Papers). */
export const paperApi = {
  routes: paperRoutes,
  components: { PaperClaim: paperClaim, PaperClaimResult: paperClaimResult },
  serve(app: Hono<ApiEnvironment>, { store }: Pick<HubContext, "store">) {
    serveRoute(app, paperRoutes.claim, ({ body }, context) => {
      return claimPaper({ store, user: context.var.caller.user }, body);
    });
  },
} satisfies ResourceApi;
