import { accountId, developmentTokens, organizationNames } from "../accounts.ts";
import type { Store } from "../store/store.ts";

/** Everybody who has a token of a local Hub. */
export const tokenUsers: readonly string[] = [...new Set(developmentTokens.map(({ user }) => user))];

/** The name of the user who has this id: somebody with a token, or a member of an organization. */
export function userOfId(store: Store, id: string): string | undefined {
  const hasId = (user: string) => accountId(user) === id;
  const found = tokenUsers.find(hasId);
  if (found !== undefined) return found;
  for (const organization of organizationNames) {
    const member = store.members.of(organization).find(({ id: user }) => hasId(user));
    if (member) return member.id;
  }
  return undefined;
}
