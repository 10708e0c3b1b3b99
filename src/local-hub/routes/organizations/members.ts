import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import type { MemberRoleChange, OrganizationMember } from "../../../hub/organizations/members.ts";
import { memberOperations } from "../../../hub/organizations/members.ts";
import { authorize, hasPlan, type OrganizationAccess } from "../../access.ts";
import { accountId, formatFullName } from "../../accounts.ts";
import type { AuditEntry, AuditLog } from "../../resources/audit-log.ts";
import { getAvatarUrl } from "../../resources/avatars.ts";
import { type KeyedResourceGroup, listAccessibleGroups } from "../../resources/resource-groups.ts";
import type { KeyedRecord, StoredMember } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp, requestOf } from "../api.ts";
import { describeRoute, errorResponses, jsonResponse } from "../openapi.ts";

/** The routes of the operations, as the document describes them. */
export const memberRoutes = {
  list: createRoute({
    ...describeRoute(memberOperations.list),
    tags: ["orgs"],
    responses: {
      200: {
        headers: {
          Link: { description: 'The address of the next page, as rel="next".', schema: { type: "string" } },
        },
        ...jsonResponse("A page of them.", memberOperations.list.response),
      },
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
  setRole: createRoute({
    ...describeRoute(memberOperations.setRole),
    description: "Needs a paid plan.",
    tags: ["orgs"],
    responses: {
      200: jsonResponse("It is changed.", memberOperations.setRole.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
      ...errorResponses.body,
    },
  }),
} as const;

/** What the routes of members need. */
export interface MemberRoutesOptions {
  store: Store;
  auditLog: AuditLog;
  baseUrl: string;
}

/** The operations on the members of an organization (hub-api.md, Organizations). */
export function memberApi({ store, auditLog, baseUrl }: MemberRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(memberRoutes.list, (context) => {
    const organization = context.req.valid("param").name;
    const { search, email, cursor, limit } = context.req.valid("query");
    const access = authorize({ store, caller: context.var.caller, organization }, { role: "anyone" });
    if (email !== undefined && !seesEmails(access)) {
      throw new HTTPException(403, {
        message: `Only an admin of an organization with the plan Team or more may look for members by "email": use "search".`,
      });
    }
    const after = cursor === undefined ? "" : readCursor(cursor);
    const found = store.members
      .of(organization)
      .filter((member) => member.id > after && fits(member, { search, email }));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (last && found.length > page.length) {
      // Of the address that was asked: to a client another name of this machine is another Hub.
      const next = new URL(context.req.url);
      next.searchParams.set("cursor", writeCursor(last.id));
      context.header("link", `<${next.href}>; rel="next"`);
    }
    const { isAdmin } = access;
    const groupsOf = groupsByUser(
      listAccessibleGroups(store, { organization, user: context.var.caller.user, isAdmin }),
    );
    const answer = page.map((member) => toAnswer(member, { access, baseUrl, groups: groupsOf.get(member.id) ?? [] }));
    return context.json(answer, 200);
  });

  app.openapi(memberRoutes.setRole, (context) => {
    const { name: organization, username: user } = context.req.valid("param");
    const { role, resourceGroups = [] } = context.req.valid("json");
    const { caller } = context.var;
    authorize({ store, caller, organization }, { role: "admin", plan: "team", write: true });
    const member = store.members.get({ owner: organization, id: user });
    if (!member) throw new HTTPException(404, { message: `${organization} has no member ${user}.` });
    if (member.role === "admin" && role !== "admin") checkIsNotLastAdmin(store, { organization, user });
    const groups = groupsOfChange(store, { organization, changes: resourceGroups });

    const record = (entry: Pick<AuditEntry, "type" | "message" | "data">) =>
      auditLog.record({
        ...entry,
        organization,
        author: caller.user,
        request: requestOf(context),
      });
    store.transaction(() => {
      if (member.role !== role) {
        store.members.put({ owner: organization, id: user, record: { ...member, role } });
        const data = { user, from: member.role, to: role };
        record({
          type: "org.change_role",
          message: `Changed the role of ${user} from ${member.role} to ${role}`,
          data,
        });
      }
      for (const [group, groupRole] of groups) {
        const before = group.record.users.find((inGroup) => inGroup.user === user)?.role;
        if (before === groupRole) continue;
        store.resourceGroups.put(withUser(group, { user, role: groupRole, addedBy: caller.user }));
        record(groupEvent(group, { user, before, role: groupRole }));
      }
    });
    return context.json({}, 200);
  });

  return app;
}

/** Whether the e-mail addresses of members are shown to the caller. */
function seesEmails({ isAdmin, plan }: OrganizationAccess): boolean {
  return isAdmin && hasPlan(plan, "team");
}

/** A cursor is the name of the last member of a page. */
function writeCursor(user: string): string {
  return Buffer.from(user).toString("base64url");
}

function readCursor(cursor: string): string {
  const user = Buffer.from(cursor, "base64url").toString();
  if (user !== "" && writeCursor(user) === cursor) return user;
  throw new HTTPException(400, { message: `cursor: expected one of a "Link" header: begin again without it` });
}

function fits(
  { owner, id, record }: KeyedRecord<StoredMember>,
  { search = "", email }: { search: string | undefined; email: string | undefined },
): boolean {
  const sought = search.toLowerCase();
  if (!id.toLowerCase().includes(sought) && !formatFullName(id).toLowerCase().includes(sought)) return false;
  return email === undefined || emailOf({ organization: owner, user: id, member: record }) === email.toLowerCase();
}

/** What the organization's single sign-on says is the e-mail address of a member; others do not sign in with it. */
function emailOf(options: { organization: string; user: string; member: StoredMember }): string | null {
  const { organization, user, member } = options;
  return member.isExternalCollaborator ? null : `${user}@${organization}.example`.toLowerCase();
}

type MemberGroup = NonNullable<OrganizationMember["resourceGroups"]>[number];

function groupsByUser(groups: readonly KeyedResourceGroup[]): ReadonlyMap<string, MemberGroup[]> {
  const byUser = new Map<string, MemberGroup[]>();
  for (const { id, record } of groups) {
    for (const { user, role } of record.users) {
      const group = { name: record.name, id, numUsers: record.users.length, role };
      const earlier = byUser.get(user);
      if (earlier) earlier.push(group);
      else byUser.set(user, [group]);
    }
  }
  return byUser;
}

function toAnswer(
  { owner, id: user, record: member }: KeyedRecord<StoredMember>,
  { access, baseUrl, groups }: { access: OrganizationAccess; baseUrl: string; groups: MemberGroup[] },
): OrganizationMember {
  const _id = accountId(user);
  return {
    _id,
    avatarUrl: getAvatarUrl(user, { baseUrl }),
    fullname: formatFullName(user),
    // By the id, which is made from the name: one user in four, always the same ones.
    isPro: _id.charAt(0) < "4",
    user,
    type: "user",
    isFollowing: false,
    ...(access.isMember && {
      role: member.role,
      resourceGroups: groups,
      isExternalCollaborator: member.isExternalCollaborator,
    }),
    // All but one in sixteen.
    ...(access.isAdmin && { twoFaEnabled: _id.charAt(1) !== "0" }),
    ...(seesEmails(access) && { verifiedEmail: emailOf({ organization: owner, user, member }) }),
  };
}

function checkIsNotLastAdmin(store: Store, { organization, user }: { organization: string; user: string }): void {
  const isAnother = ({ id, record }: KeyedRecord<StoredMember>) => id !== user && record.role === "admin";
  if (store.members.of(organization).some(isAnother)) return;
  throw new HTTPException(400, {
    message: `role: ${user} is the last admin of ${organization}: make somebody else one before`,
  });
}

/** The groups in which the role is to change, each with the new one; of a group that is named twice, the last. */
function groupsOfChange(
  store: Store,
  { organization, changes }: { organization: string; changes: NonNullable<MemberRoleChange["resourceGroups"]> },
): (readonly [group: KeyedResourceGroup, role: string])[] {
  const groups = new Map(store.resourceGroups.of(organization).map((group) => [group.id, group]));
  const changed = changes.map(({ id, role }, index) => {
    const group = groups.get(id.toLowerCase());
    if (!group) {
      throw new HTTPException(400, {
        message: `resourceGroups[${index}].id: ${organization} has no resource group of this id`,
      });
    }
    return [group, role] as const;
  });
  return [...new Map(changed)];
}

interface GroupUser {
  user: string;
  role: string;
  addedBy: string;
}

/** The group with the user in the new role. */
function withUser(group: KeyedResourceGroup, { user, role, addedBy }: GroupUser): KeyedResourceGroup {
  const { users } = group.record;
  const isIn = users.some((inGroup) => inGroup.user === user);
  const after = isIn
    ? users.map((inGroup) => (inGroup.user === user ? { ...inGroup, role } : inGroup))
    : [...users, { user, role, addedBy }];
  return { ...group, record: { ...group.record, users: after } };
}

function groupEvent(
  { id, record: { name } }: KeyedResourceGroup,
  { user, before, role }: { user: string; before: string | undefined; role: string },
): Pick<AuditEntry, "type" | "message" | "data"> {
  const resourceGroup = { id, name };
  if (before === undefined) {
    return {
      type: "resource_group.add_users",
      message: `Added ${user} to the resource group ${name} with the role ${role}`,
      data: { resourceGroup, users: [{ user, role }] },
    };
  }
  return {
    type: "resource_group.change_role",
    message: `Changed the role of ${user} in the resource group ${name} from ${before} to ${role}`,
    data: { resourceGroup, user, from: before, to: role },
  };
}
