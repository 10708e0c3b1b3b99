import { isDeepStrictEqual } from "node:util";
import type { Context } from "hono";
import * as z from "zod/mini";
import { jsonBody } from "../../../hub/operation.ts";
import {
  type NetworkSecurity,
  networkSecurity,
  networkSecurityChange,
  networkSecurityOperations,
} from "../../../hub/organizations/network-security.ts";
import {
  avatarOperations,
  organizationAvatar,
  scimConfig,
  scimOperations,
  tokenOperations,
  tokenRevocation,
} from "../../../hub/organizations/organizations.ts";
import {
  resourceGroup,
  resourceGroupOperations,
  resourceGroupRequest,
} from "../../../hub/organizations/resource-groups.ts";
import { repoRef } from "../../../hub/schemas.ts";
import { type Caller, findCaller, findCallerByTokenId, getAvatarUrl } from "../../accounts.ts";
import { notFound } from "../../error-response.ts";
import {
  type ApiEnvironment,
  auditorOf,
  authorizeCaller,
  describeRoutes,
  type ResourceApi,
  serveRoute,
} from "../../routes/route.ts";
import type { Store } from "../../store/store.ts";
import { createResourceGroup, listAccessibleGroups, toResourceGroup } from "./resource-groups.ts";

const tokenRoutes = describeRoutes(tokenOperations, "orgs", {
  revoke: {
    description: "The token still works outside the organization. Enterprise only.",
    success: "The token has no access.",
  },
  revokeById: {
    description: "The token still works outside the organization. Enterprise only. Since 2026-08-12.",
    success: "The token has no access.",
  },
});

/** Serves the operations on tokens (docs/reference/hub-api.md, Organizations). Tokens are never stored. */
export const tokenApi = {
  routes: tokenRoutes,
  components: { TokenRevocation: tokenRevocation },
  serve(app, hub) {
    const { store, now } = hub;
    const revoke = (context: Context<ApiEnvironment>, organization: string, token: Caller | undefined): void => {
      authorizeCaller(hub, context, organization, { role: "admin", plan: "enterprise", write: true });
      // Tokens of other users get the same response as unknown tokens, so that the response does not reveal whether a token exists.
      if (!token || !store.members.get({ owner: organization, id: token.user })) {
        throw notFound(`No member of "${organization}" has this token.`);
      }
      const { user, tokenId } = token;
      const key = { owner: organization, id: tokenId };
      if (store.revocations.get(key)) return;
      const record = auditorOf(hub, context, organization);
      store.transaction(() => {
        store.revocations.put({ ...key, record: { at: now() } });
        record({
          type: "org.token_approval.authorization_request.revoked",
          message: `Revoked the access of a token of ${user}`,
          data: { tokenId },
        });
      });
    };

    serveRoute(app, tokenRoutes.revoke, ({ params, body }, context) =>
      revoke(context, params.name, findCaller(body.token)),
    );
    serveRoute(app, tokenRoutes.revokeById, ({ params }, context) =>
      revoke(context, params.name, findCallerByTokenId(params.tokenId)),
    );
  },
} satisfies ResourceApi;

const scimRoutes = describeRoutes(scimOperations, "scim", {
  config: {
    description: "Enterprise Plus only. Requires a token of an owner of the organization, with write access.",
    success: "The SCIM configuration.",
  },
});

/** Unlike other GET requests, this operation requires a token with write access. */
export const scimApi = {
  routes: scimRoutes,
  components: { ScimServiceProviderConfig: scimConfig },
  serve(app, hub) {
    serveRoute(app, scimRoutes.config, ({ params }, context) => {
      authorizeCaller(hub, context, params.name, { role: "admin", plan: "enterprise-plus", write: true });
      const location = `${hub.hubUrl}${new URL(context.req.url).pathname}`;
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

const redirectQuery = z.object({ redirect: z.optional(z.string()) });

const avatarRoutes = describeRoutes(
  { get: { ...avatarOperations.get, request: { ...avatarOperations.get.request, query: redirectQuery } } },
  "orgs",
  {
    get: {
      parameters: {
        redirect: { in: "query", description: "Any value redirects to the avatar." },
        "sec-fetch-dest": { in: "header", description: "`image` redirects to the avatar." },
      },
      success: "The URL of the avatar.",
      redirect: {
        description: "A redirect to the avatar.",
        headers: { Location: { description: "The URL of the avatar." } },
      },
    },
  },
);

export const avatarApi = {
  routes: avatarRoutes,
  components: { OrganizationAvatar: organizationAvatar },
  serve(app, hub) {
    serveRoute(app, avatarRoutes.get, ({ params, query }, context) => {
      authorizeCaller(hub, context, params.name, { role: "anyone" });
      const avatarUrl = getAvatarUrl(params.name, hub);
      const isForImage = context.req.header("sec-fetch-dest") === "image";
      if (isForImage || query.redirect !== undefined) return context.redirect(avatarUrl, 302);
      return { avatarUrl };
    });
  },
} satisfies ResourceApi;

const networkSecurityRoutes = describeRoutes(networkSecurityOperations, "orgs", {
  get: { success: "The settings." },
  update: { success: "The settings." },
});

const { ipRanges, ...fields } = networkSecurityChange.shape;

/** The Hub's specification requires at least one IP range, so the local Hub does too. The real Hub also accepts an empty list. */
const updateOperation = {
  ...networkSecurityOperations.update,
  request: {
    ...networkSecurityOperations.update.request,
    body: jsonBody(z.object({ ...fields, ipRanges: z.optional(ipRanges.def.innerType.check(z.minLength(1))) })),
  },
};

/** The local Hub does not enforce these settings. */
export const networkSecurityApi = {
  routes: networkSecurityRoutes,
  components: { NetworkSecurity: networkSecurity, NetworkSecurityChange: networkSecurityChange },
  serve(app, hub) {
    serveRoute(app, networkSecurityRoutes.get, ({ params }, context) => {
      authorizeCaller(hub, context, params.name, { role: "admin" });
      return getNetworkSecurity(hub.store, params.name);
    });

    serveRoute(app, updateOperation, ({ params, body }, context) => {
      const { organization } = authorizeCaller(hub, context, params.name, { role: "admin", write: true });
      const before = getNetworkSecurity(hub.store, organization);
      const after = { ...before, ...body };
      const changed = Object.entries(after).filter(
        ([field, value]) => !isDeepStrictEqual(value, Reflect.get(before, field)),
      );
      if (changed.length === 0) return after;
      hub.store.transaction(() => {
        hub.store.networkSecurity.put({ owner: organization, id: "network-security", record: after });
        const message = `Changed the network security: ${changed.map(([field]) => field).join(", ")}`;
        const data = Object.fromEntries(changed);
        auditorOf(hub, context, organization)({ type: "org.update_settings", message, data });
      });
      return after;
    });
  },
} satisfies ResourceApi;

const resourceGroupRoutes = describeRoutes(resourceGroupOperations, "resource-groups", {
  list: { description: "Enterprise only.", success: "The resource groups." },
  create: { description: "Enterprise only.", success: "The new resource group." },
});

export const resourceGroupApi = {
  routes: resourceGroupRoutes,
  components: { ResourceGroup: resourceGroup, ResourceGroupRequest: resourceGroupRequest, RepoId: repoRef },
  serve(app, hub) {
    serveRoute(app, resourceGroupRoutes.list, ({ params }, context) => {
      const access = authorizeCaller(hub, context, params.name, { role: "member", plan: "enterprise" });
      const groups = listAccessibleGroups(hub.store, { ...access, user: context.var.caller.user });
      return groups.map((group) => toResourceGroup(group, hub));
    });

    serveRoute(app, resourceGroupRoutes.create, ({ params, body }, context) => {
      const access = { role: "admin", plan: "enterprise", write: true } as const;
      const { organization } = authorizeCaller(hub, context, params.name, access);
      const recordAction = auditorOf(hub, context, organization);
      const addedBy = context.var.caller.user;
      const group = createResourceGroup(hub, { organization, fields: body, addedBy, recordAction });
      return toResourceGroup(group, hub);
    });
  },
} satisfies ResourceApi;

export const defaultNetworkSecurity: NetworkSecurity = {
  enforceAuth: false,
  enforceIpRestriction: false,
  highRateLimits: false,
  ipRanges: [],
  // The Hub has two fields for each list, and does not document how they are related, so each field has its own value.
  blockedContents: [],
  allowedContents: [],
  keepReposMetadataVisible: false,
  blockedUrls: [],
  allowedUrls: [],
};

export function getNetworkSecurity(store: Pick<Store, "networkSecurity">, organization: string): NetworkSecurity {
  // Records in state files of earlier releases lack newer fields, so the defaults apply.
  return { ...defaultNetworkSecurity, ...store.networkSecurity.get({ owner: organization, id: "network-security" }) };
}
