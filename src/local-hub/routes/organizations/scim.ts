import type { Hono } from "hono";
import { scimConfig, scimOperations } from "../../../hub/organizations/scim.ts";
import { authorize } from "../../access.ts";
import type { HubContext } from "../../hub-context.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const scimRoutes = {
  config: describeRoute(scimOperations.config, {
    tag: "scim",
    description: "Enterprise Plus only. Requires a token of an owner of the organization, with write access.",
    success: { description: "The SCIM configuration." },
    errors: ["forbidden", "notFound"],
  }),
} as const;

/**
 * Serves the SCIM configuration (docs/reference/hub-api.md, Organizations). Unlike other GET requests, this operation requires a
 * token with write access.
 */
export const scimApi = {
  routes: scimRoutes,
  components: { ScimServiceProviderConfig: scimConfig },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl }: Pick<HubContext, "store" | "hubUrl">) {
    serveRoute(app, scimRoutes.config, ({ params }, context) => {
      const organization = params.name;
      authorize(
        { store, caller: context.var.caller, organization },
        { role: "admin", plan: "enterprise-plus", write: true },
      );
      const location = `${hubUrl}${new URL(context.req.url).pathname}`;
      return { ...scimServiceProvider, meta: { resourceType: "ServiceProviderConfig", location } };
    });
  },
} satisfies ResourceApi;

/** The configuration of a SCIM service provider (RFC 7643, section 5), without `meta.location`. */
const scimServiceProvider = {
  schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
  documentationUri: "https://huggingface.co/docs/hub/enterprise-scim",
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 100 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Access token",
      description: "A token of an owner of the organization, with write access.",
      specUri: "https://www.rfc-editor.org/info/rfc6750",
      documentationUri: "https://huggingface.co/docs/hub/security-tokens",
    },
  ],
};
