import {
  accountId,
  type Caller,
  getAccountKind,
  getPlan,
  localUser,
  organizationNames,
  type Plan,
  plans,
  tokenUsers,
} from "./accounts.ts";
import { forbidden, notFound } from "./error-response.ts";
import type { Store } from "./store/store.ts";

export interface Requirement {
  role: "anyone" | "member" | "admin";
  /** The cheapest plan that includes the operation. Default `free`. */
  plan?: Plan;
  /** Whether the token must have write access to the organization. Default `false`. */
  write?: boolean;
}

export type OrganizationAccess = ReturnType<typeof authorize>;

const planNames: Readonly<Record<Plan, string>> = {
  free: "Free",
  team: "Team",
  enterprise: "Enterprise",
  "enterprise-plus": "Enterprise Plus",
};

/** @throws HTTPException 404 if the organization is unknown, 403 if the token, the role, or the plan is not sufficient. */
export function authorize(
  store: Store,
  caller: Caller,
  organization: string,
  { role: required, plan: needed = "free", write = false }: Requirement,
) {
  const plan = getPlan(organization);
  if (plan === undefined)
    throw notFound(
      `Organization "${organization}" does not exist. Valid organizations: ${organizationNames.join(", ")}.`,
    );
  if (store.revocations.get({ owner: organization, id: caller.tokenId })) {
    throw forbidden(`The access of this token to "${organization}" was revoked. Use another token.`);
  }
  const role = store.members.get({ owner: organization, id: caller.user })?.role;
  const isMember = role !== undefined && role !== "no_access";
  const isAdmin = role === "admin";
  if (required === "member" && !isMember) {
    throw forbidden(`Only members of "${organization}" can call this operation. Use the token of a member.`);
  }
  if (required === "admin" && !isAdmin) {
    throw forbidden(`Only admins of "${organization}" can call this operation. Use the token of an admin.`);
  }
  if (write && caller.tokenRole !== "write") {
    throw forbidden(`This token cannot write to "${organization}". Use the token hf_local.`);
  }
  if (!hasPlan(plan, needed)) {
    const examples = organizationNames.filter((name) => hasPlan(getPlan(name) ?? "free", needed)).join(" or ");
    throw forbidden(
      `This operation requires the ${planNames[needed]} plan, but "${organization}" has the ${planNames[plan]} plan. Use the organization ${examples}.`,
    );
  }
  return { organization, plan, role, isMember, isAdmin };
}

export function hasPlan(plan: Plan, needed: Plan): boolean {
  return plans.indexOf(plan) >= plans.indexOf(needed);
}

/** The developer can also read the private repositories of unknown owners. */
export function canReadPrivate(store: Store, user: string, owner: string): boolean {
  if (user === owner) return true;
  const role = store.members.get({ owner, id: user })?.role;
  if (role !== undefined) return role !== "no_access";
  return user === localUser && getAccountKind(owner) === undefined;
}

/** Finds a user by ID among the users with a token and the members of organizations. */
export function findUserById(store: Store, id: string): string | undefined {
  const hasId = (user: string) => accountId(user) === id;
  const found = tokenUsers.find(hasId);
  if (found !== undefined) return found;
  for (const organization of organizationNames) {
    const member = store.members.listByOwner(organization).find(({ id: user }) => hasId(user));
    if (member) return member.id;
  }
  return undefined;
}
