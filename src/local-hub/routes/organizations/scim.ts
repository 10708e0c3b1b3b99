import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { scimOperations } from "../../../hub/organizations/organizations.ts";
import { authorize } from "../../access.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp } from "../api.ts";
import { describeRoute, errorResponses, jsonResponse } from "../openapi.ts";

/** The routes of the operations, as the document describes them. */
export const scimRoutes = {
  config: createRoute({
    ...describeRoute(scimOperations.config),
    description: "Enterprise Plus only, for an owner of the organization whose token may write to it.",
    tags: ["scim"],
    responses: {
      200: jsonResponse("What it can do.", scimOperations.config.response),
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
} as const;

/** What the route of SCIM needs. */
export interface ScimRoutesOptions {
  store: Store;
  baseUrl: string;
}

/** What a provider of SCIM has to say of itself (RFC 7643, section 5), but for where it says so. */
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
      description: "A token of an owner of the organization, that may write to it.",
      specUri: "https://www.rfc-editor.org/info/rfc6750",
      documentationUri: "https://huggingface.co/docs/hub/security-tokens",
    },
  ],
};

/** The operation on SCIM (hub-api.md, Organizations). The only reading one that asks for a token that may write. */
export function scimApi({ store, baseUrl }: ScimRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(scimRoutes.config, (context) => {
    const organization = context.req.valid("param").name;
    authorize(
      { store, caller: context.var.caller, organization },
      { role: "admin", plan: "enterprise-plus", write: true },
    );
    const location = `${baseUrl}${new URL(context.req.url).pathname}`;
    return context.json({ ...config, meta: { resourceType: "ServiceProviderConfig", location } }, 200);
  });

  return app;
}
