import { accountApi, paperApi, profileApi, settingsApi } from "./account.ts";
import { commitApi } from "./commits.ts";
import { discussionApi } from "./discussions.ts";
import { resolveApi } from "./files/resolve.ts";
import { treeApi } from "./files/tree.ts";
import { jobApi } from "./jobs.ts";
import { lfsApi } from "./lfs.ts";
import { notificationApi } from "./notifications.ts";
import { auditLogApi } from "./organizations/audit-log.ts";
import { memberApi } from "./organizations/members.ts";
import { avatarApi, networkSecurityApi, resourceGroupApi, scimApi, tokenApi } from "./organizations/organization.ts";
import { refApi } from "./refs.ts";
import { repositoryApi } from "./repositories.ts";
import type { ResourceApi, Route } from "./route.ts";
import { webhookApi } from "./webhooks.ts";

/** The resources of the Hub's specification. The tests compare each operation with the specification. */
export const specifiedApis: readonly ResourceApi[] = [
  webhookApi,
  notificationApi,
  settingsApi,
  paperApi,
  tokenApi,
  auditLogApi,
  resourceGroupApi,
  networkSecurityApi,
  avatarApi,
  memberApi,
  scimApi,
  accountApi,
  jobApi,
];

/**
 * The resources of repositories. The Hub publishes them with more parameters and larger responses, of which the local Hub serves what
 * the official clients use.
 */
const repositoryApis: readonly ResourceApi[] = [
  repositoryApi,
  refApi,
  discussionApi,
  profileApi,
  commitApi,
  treeApi,
  resolveApi,
  lfsApi,
];

/** The resources of the API, in the order of the OpenAPI document. */
export const resourceApis: readonly ResourceApi[] = [...specifiedApis, ...repositoryApis];

/** The routes of the operations of the Hub's specification. */
export const specifiedRoutes: readonly Route[] = specifiedApis.flatMap((api) => Object.values<Route>(api.routes));

/** The routes of all operations of the API. */
export const routes: readonly Route[] = resourceApis.flatMap((api) => Object.values<Route>(api.routes));
