import type { Whoami } from "../../hub/account.ts";
import { accountId, type Caller, formatFullName, getPlan, organizationNames, type Plan } from "../accounts.ts";
import type { Store } from "../store/store.ts";
import { getAvatarUrl } from "./avatars.ts";
import { listAccessibleGroups } from "./organizations/resource-groups.ts";

export interface WhoamiSource {
  store: Store;
  hubUrl: string;
  /** The start time of the local Hub, which is also the creation date of the tokens. */
  startedAt: Date;
}

const plans: Readonly<Record<Plan, "team" | "enterprise" | "plus" | undefined>> = {
  free: undefined,
  team: "team",
  enterprise: "enterprise",
  "enterprise-plus": "plus",
};

/** Returns the user of a request, with the user's organizations and the token. */
export function getWhoami(caller: Caller, source: WhoamiSource): Whoami {
  const { user, tokenRole } = caller;
  return {
    type: "user",
    id: accountId(user),
    name: user,
    fullname: formatFullName(user),
    email: `${user}@example.com`,
    emailVerified: true,
    canPay: false,
    isPro: false,
    periodEnd: null,
    avatarUrl: getAvatarUrl(user, source),
    orgs: organizationNames.flatMap((name) => organizationOf(name, caller, source)),
    auth: {
      type: "access_token",
      accessToken: {
        displayName: `${tokenRole} token of the local Hub`,
        role: tokenRole,
        createdAt: source.startedAt.toISOString(),
        ...(tokenRole === "fineGrained" && { fineGrained: fineGrainedOf(user) }),
      },
    },
  };
}

function organizationOf(name: string, caller: Caller, { store, hubUrl }: WhoamiSource): Whoami["orgs"] {
  const role = store.members.get({ owner: name, id: caller.user })?.role;
  if (role === undefined) return [];
  const plan = plans[getPlan(name) ?? "free"];
  const access = { organization: name, user: caller.user, isAdmin: role === "admin" };
  const groups = listAccessibleGroups(store, access).flatMap(({ id, record }) => {
    const held = record.users.find(({ user }) => user === caller.user);
    return held ? [{ id, name: record.name, role: held.role }] : [];
  });
  const isRevoked = store.revocations.get({ owner: name, id: caller.tokenId }) !== undefined;
  return [
    {
      type: "org",
      id: accountId(name),
      name,
      fullname: formatFullName(name),
      avatarUrl: getAvatarUrl(name, { hubUrl }),
      ...(plan && { plan }),
      roleInOrg: role,
      ...(isRevoked && { securityRestrictions: ["token-revoked"] }),
      ...(groups.length > 0 && { resourceGroups: groups }),
    },
  ];
}

/** Returns the permissions of a fine-grained token, which can write to the user's resources but not to those of organizations. */
function fineGrainedOf(user: string): NonNullable<NonNullable<Whoami["auth"]["accessToken"]>["fineGrained"]> {
  const entity = { _id: accountId(user), name: user, type: "user" } as const;
  return {
    scoped: [{ entity, permissions: ["repo.content.read", "repo.write", "discussion.write", "user.webhooks.write"] }],
    canReadGatedRepos: false,
  };
}
