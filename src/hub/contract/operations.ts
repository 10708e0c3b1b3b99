import { accountRoutes } from "./account.ts";
import { jobRoutes } from "./jobs.ts";
import { notificationRoutes } from "./notifications.ts";
import { auditLogRoutes } from "./organizations/audit-log.ts";
import { avatarRoutes } from "./organizations/avatar.ts";
import { memberRoutes } from "./organizations/members.ts";
import { networkSecurityRoutes } from "./organizations/network-security.ts";
import { resourceGroupRoutes } from "./organizations/resource-groups.ts";
import { scimRoutes } from "./organizations/scim.ts";
import { tokenRoutes } from "./organizations/tokens.ts";
import { paperRoutes } from "./papers.ts";
import { settingsRoutes } from "./settings.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Every operation of the Hub's API that is known here. */
export const operations = [
  webhookRoutes,
  notificationRoutes,
  settingsRoutes,
  paperRoutes,
  tokenRoutes,
  auditLogRoutes,
  resourceGroupRoutes,
  networkSecurityRoutes,
  avatarRoutes,
  memberRoutes,
  scimRoutes,
  accountRoutes,
  jobRoutes,
].flatMap((routes) => Object.values(routes));
