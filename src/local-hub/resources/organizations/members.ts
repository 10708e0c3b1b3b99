import {
  type MemberRoleChange,
  memberOperations,
  memberRoleChange,
  type OrganizationMember,
  organizationMember,
} from "../../../hub/organizations/organizations.ts";
import { hasPlan, type OrganizationAccess } from "../../access.ts";
import { accountId, formatFullName, getAvatarUrl } from "../../accounts.ts";
import { badRequest, forbidden, notFound } from "../../error-response.ts";
import {
  auditorOf,
  authorizeCaller,
  describeRoutes,
  linkNextPage,
  nextPageHeader,
  type ResourceApi,
  serveRoute,
} from "../../routes/route.ts";
import type { AuditEntry } from "../../store/audit-log-store.ts";
import type { KeyedRecord, StoredMember } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { type KeyedResourceGroup, listAccessibleGroups } from "./resource-groups.ts";

const memberRoutes = describeRoutes(memberOperations, "orgs", {
  list: { success: "A page of members.", headers: nextPageHeader },
  setRole: { description: "Requires a paid plan.", success: "The role was changed." },
});

export const memberApi = {
  routes: memberRoutes,
  components: { OrganizationMember: organizationMember, MemberRoleChange: memberRoleChange },
  serve(app, hub) {
    const { store } = hub;
    serveRoute(app, memberRoutes.list, ({ params, query: { search = "", email, cursor, limit } }, context) => {
      const access = authorizeCaller(hub, context, params.name, { role: "anyone" });
      const { organization, isAdmin } = access;
      if (email !== undefined && !seesEmails(access)) {
        throw forbidden(
          `Only admins of organizations with a Team or Enterprise plan can search by "email". Use "search".`,
        );
      }
      const after = cursor === undefined ? "" : readCursor(cursor);
      const found = store.members
        .listByOwner(organization)
        .filter((member) => member.id > after && matches(member, search.toLowerCase(), email?.toLowerCase()));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      if (last && found.length > page.length) linkNextPage(context, { cursor: writeCursor(last.id) });
      const { user } = context.var.caller;
      const groupsOf = groupsByUser(listAccessibleGroups(store, { organization, user, isAdmin }));
      return page.map((member) => toReturnedMember(member, access, hub.hubUrl, groupsOf.get(member.id) ?? []));
    });

    serveRoute(app, memberRoutes.setRole, ({ params, body: { role, resourceGroups = [] } }, context) => {
      const { name: organization, username: user } = params;
      authorizeCaller(hub, context, organization, { role: "admin", plan: "team", write: true });
      const member = store.members.get({ owner: organization, id: user });
      if (!member) throw notFound(`"${organization}" has no member "${user}".`);
      if (member.role === "admin" && role !== "admin") checkIsNotLastAdmin(store, organization, user);
      const groups = groupsOfChange(store, organization, resourceGroups);

      const record = auditorOf(hub, context, organization);
      store.transaction(() => {
        if (member.role !== role) {
          store.members.put({ owner: organization, id: user, record: { ...member, role } });
          const message = `Changed the role of ${user} from ${member.role} to ${role}`;
          record({ type: "org.change_role", message, data: { user, from: member.role, to: role } });
        }
        for (const [group, groupRole] of groups) {
          const before = group.record.users.find((inGroup) => inGroup.user === user)?.role;
          if (before === groupRole) continue;
          store.resourceGroups.put(withUser(group, { user, role: groupRole, addedBy: context.var.caller.user }));
          record(groupEvent(group, user, before, groupRole));
        }
      });
    });
  },
} satisfies ResourceApi;

function seesEmails({ isAdmin, plan }: OrganizationAccess): boolean {
  return isAdmin && hasPlan(plan, "team");
}

function writeCursor(user: string): string {
  return Buffer.from(user).toString("base64url");
}

function readCursor(cursor: string): string {
  const user = Buffer.from(cursor, "base64url").toString();
  if (user !== "" && writeCursor(user) === cursor) return user;
  throw badRequest(`cursor: expected a cursor from a "Link" header. Omit the cursor to get the first page`);
}

function matches(member: KeyedRecord<StoredMember>, search: string, email: string | undefined): boolean {
  const { id } = member;
  if (!id.toLowerCase().includes(search) && !formatFullName(id).toLowerCase().includes(search)) return false;
  return email === undefined || emailOf(member) === email;
}

/** `null` for external collaborators, who do not use single sign-on. */
function emailOf({ owner, id, record }: KeyedRecord<StoredMember>): string | null {
  return record.isExternalCollaborator ? null : `${id}@${owner}.example`.toLowerCase();
}

type MemberGroup = NonNullable<OrganizationMember["resourceGroups"]>[number];

function groupsByUser(groups: readonly KeyedResourceGroup[]): ReadonlyMap<string, MemberGroup[]> {
  const byUser = new Map<string, MemberGroup[]>();
  for (const { id, record } of groups) {
    for (const { user, role } of record.users) {
      const group = { name: record.name, id, numUsers: record.users.length, role };
      byUser.set(user, [...(byUser.get(user) ?? []), group]);
    }
  }
  return byUser;
}

function toReturnedMember(
  member: KeyedRecord<StoredMember>,
  access: OrganizationAccess,
  hubUrl: string,
  groups: MemberGroup[],
): OrganizationMember {
  const { id: user, record } = member;
  const _id = accountId(user);
  return {
    _id,
    avatarUrl: getAvatarUrl(user, { hubUrl }),
    fullname: formatFullName(user),
    // This value is derived from the ID, so that it is true for the same quarter of users in every local Hub.
    isPro: _id.charAt(0) < "4",
    user,
    type: "user",
    isFollowing: false,
    ...(access.isMember && {
      role: record.role,
      resourceGroups: groups,
      isExternalCollaborator: record.isExternalCollaborator,
    }),
    // This value is derived from the ID and is true for 15 of 16 users.
    ...(access.isAdmin && { twoFaEnabled: _id.charAt(1) !== "0" }),
    ...(seesEmails(access) && { verifiedEmail: emailOf(member) }),
  };
}

function checkIsNotLastAdmin(store: Store, organization: string, user: string): void {
  const isAnother = ({ id, record }: KeyedRecord<StoredMember>) => id !== user && record.role === "admin";
  if (store.members.listByOwner(organization).some(isAnother)) return;
  throw badRequest(`role: ${user} is the last admin of ${organization}. Make another member an admin first`);
}

/** Returns the groups to change, with the new roles. If a group is listed twice, the last role applies. */
function groupsOfChange(store: Store, organization: string, changes: NonNullable<MemberRoleChange["resourceGroups"]>) {
  const groups = new Map(store.resourceGroups.listByOwner(organization).map((group) => [group.id, group]));
  const changed = changes.map(({ id, role }, index) => {
    const group = groups.get(id.toLowerCase());
    if (!group) throw badRequest(`resourceGroups[${index}].id: ${organization} has no resource group with this ID`);
    return [group, role] as const;
  });
  return [...new Map(changed)];
}

function withUser(group: KeyedResourceGroup, added: { user: string; role: string; addedBy: string }) {
  const { users } = group.record;
  const { user, role } = added;
  const isIn = users.some((inGroup) => inGroup.user === user);
  const after = users.map((inGroup) => (inGroup.user === user ? { ...inGroup, role } : inGroup));
  return { ...group, record: { ...group.record, users: isIn ? after : [...users, added] } };
}

type GroupEntry = Pick<AuditEntry, "type" | "message" | "data">;

function groupEvent(group: KeyedResourceGroup, user: string, before: string | undefined, role: string): GroupEntry {
  const { name } = group.record;
  const resourceGroup = { id: group.id, name };
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
