import { accountApi, paperApi, profileApi, settingsApi } from "../resources/account.ts";
import { bucketApi } from "../resources/buckets/buckets.ts";
import { jobApi } from "../resources/jobs.ts";
import { notificationApi } from "../resources/notifications.ts";
import { auditLogApi } from "../resources/organizations/audit-log.ts";
import { memberApi } from "../resources/organizations/members.ts";
import {
  avatarApi,
  networkSecurityApi,
  resourceGroupApi,
  scimApi,
  tokenApi,
} from "../resources/organizations/organization.ts";
import { commitApi } from "../resources/repositories/commits.ts";
import { discussionApi } from "../resources/repositories/discussion-routes.ts";
import { fileApi } from "../resources/repositories/files.ts";
import { lfsApi } from "../resources/repositories/lfs.ts";
import { refApi } from "../resources/repositories/refs.ts";
import { repositoryApi } from "../resources/repositories/repositories.ts";
import { spaceApi } from "../resources/spaces.ts";
import { webhookApi } from "../resources/webhooks.ts";
import type { ResourceApi, Route } from "./route.ts";

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

/** The local Hub serves the part of these resources that the official clients use. */
const repositoryApis: readonly ResourceApi[] = [
  repositoryApi,
  refApi,
  discussionApi,
  profileApi,
  commitApi,
  fileApi,
  lfsApi,
  spaceApi,
  bucketApi,
];

/** The resources of the API, in the order of the OpenAPI document. */
export const resourceApis: readonly ResourceApi[] = [...specifiedApis, ...repositoryApis];

/** The routes of the operations of the Hub's specification. */
export const specifiedRoutes: readonly Route[] = specifiedApis.flatMap((api) => Object.values<Route>(api.routes));

/** The routes of all operations of the API. */
export const routes: readonly Route[] = resourceApis.flatMap((api) => Object.values<Route>(api.routes));
