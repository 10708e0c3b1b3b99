import { Hono } from "hono";
import { scimOperations } from "../../../hub/organizations/organizations.ts";
import { authorize } from "../../access.ts";
import type { Store } from "../../store/store.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { describeRoute, serveRoute } from "../route.ts";

export const scimRoutes = {
  config: describeRoute(scimOperations.config, {
    tag: "scim",
    description: "Enterprise Plus only. Requires a token of an owner of the organization, with write access.",
    success: { description: "The SCIM configuration." },
    errors: ["forbidden", "notFound"],
  }),
} as const;

export interface ScimRoutesOptions {
  store: Store;
  hubUrl: string;
}

/** The configuration of a SCIM service provider (RFC 7643, section 5), without its location. */
const config = {
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

/**
 * Serves the SCIM configuration (docs/reference/hub-api.md, Organizations). Requires a token with write access, unlike other
 * GET requests.
 */
export function scimApi({ store, hubUrl }: ScimRoutesOptions): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

  serveRoute(app, scimRoutes.config, ({ params }, context) => {
    const organization = params.name;
    authorize(
      { store, caller: context.var.caller, organization },
      { role: "admin", plan: "enterprise-plus", write: true },
    );
    const location = `${hubUrl}${new URL(context.req.url).pathname}`;
    return { ...config, meta: { resourceType: "ServiceProviderConfig", location } };
  });

  return app;
}
