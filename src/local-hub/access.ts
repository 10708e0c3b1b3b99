import { HTTPException } from "hono/http-exception";
import type { OrganizationRole } from "../hub/schemas.ts";
import { accountKind, type Caller, localUser, organizationNames, type Plan, planOf, plans } from "./accounts.ts";
import type { Store } from "./store/store.ts";

/** What an operation on an organization asks of whoever calls it. */
export interface Requirement {
  /** Anyone who has a token, a member, or an admin: an owner of the organization. */
  as: "anyone" | "member" | "admin";
  /** The cheapest plan of the organization that has it. Default: every plan. */
  plan?: Plan;
  /** The token must be one that may write to the organization. Default `false`. */
  write?: boolean;
}

/** What an organization has been found to be, and the caller in it. */
export interface Admission {
  organization: string;
  plan: Plan;
  /** `undefined` for one who is no member. */
  role: OrganizationRole | undefined;
  /** With a role that allows anything. */
  isMember: boolean;
  /** An owner of the organization. */
  isAdmin: boolean;
}

const planNames: Readonly<Record<Plan, string>> = {
  free: "Free",
  team: "Team",
  enterprise: "Enterprise",
  "enterprise-plus": "Enterprise Plus",
};

/**
 * Lets a caller into an organization, or not (hub-api.md, Authentication).
 *
 * @throws HTTPException 404 for an unknown organization; 403 for a token, a role or a plan that does not do.
 */
export function admit(
  { store, caller, organization }: { store: Store; caller: Caller; organization: string },
  { as, plan: needed = "free", write = false }: Requirement,
): Admission {
  const plan = planOf(organization);
  if (plan === undefined) throw new HTTPException(404, { message: `There is no organization ${organization}.` });
  if (store.revocations.get({ owner: organization, id: caller.tokenId })) {
    throw forbidden(`The access of this token to ${organization} is revoked: use another one.`);
  }
  const role = store.members.get({ owner: organization, id: caller.user })?.role;
  const isMember = role !== undefined && role !== "no_access";
  const isAdmin = role === "admin";
  if (as === "member" && !isMember) {
    throw forbidden(`Only members of ${organization} may do this: use the token of one.`);
  }
  if (as === "admin" && !isAdmin) {
    throw forbidden(`Only an admin of ${organization} may do this: use the token of one.`);
  }
  if (write && caller.tokenRole !== "write") {
    throw forbidden(`This token may not write to ${organization}: hf_local may.`);
  }
  if (!hasPlan(plan, needed)) {
    const examples = organizationNames.filter((name) => hasPlan(planOf(name) ?? "free", needed)).join(" or ");
    throw forbidden(
      `This needs the plan ${planNames[needed]}, and ${organization} has ${planNames[plan]}: try it with ${examples}.`,
    );
  }
  return { organization, plan, role, isMember, isAdmin };
}

/** Whether a plan has what `needed` has. */
export function hasPlan(plan: Plan, needed: Plan): boolean {
  return plans.indexOf(plan) >= plans.indexOf(needed);
}

/** Whether a user may read the private repositories of `owner`. Whatever nobody else owns is the developer's. */
export function canReadPrivate(store: Store, { user, owner }: { user: string; owner: string }): boolean {
  if (user === owner) return true;
  const role = store.members.get({ owner, id: user })?.role;
  if (role !== undefined) return role !== "no_access";
  return user === localUser && accountKind(owner) === undefined;
}

function forbidden(message: string): HTTPException {
  return new HTTPException(403, { message });
}
