import type { RepoId } from "../hub/contract/repositories.ts";
import { coversScope } from "../payload/scope.ts";
import { accountKind, canReadPrivate } from "./accounts.ts";
import type { StoredWebhook } from "./store/webhook-store.ts";

/** What happened, as far as it decides who is told. */
export interface Occurrence {
  repo: RepoId;
  private: boolean;
  /** Such as `repo.content`. */
  scope: string;
}

/**
 * Whether a webhook fires: it is enabled, the domain is one of its, and it watches the repository, or the user or
 * organization to whom that belongs. A private repository is nobody's business who cannot read it.
 */
export function isWatching(webhook: StoredWebhook, { repo, scope, private: isPrivate }: Occurrence): boolean {
  const { disabled, owner: user, definition } = webhook;
  const owner = repo.name.slice(0, repo.name.indexOf("/"));
  if (disabled !== false) return false;
  if (isPrivate && !canReadPrivate({ user, owner })) return false;
  if (!definition.domains.some((domain) => coversScope(domain, scope))) return false;
  return definition.watched.some(({ type, name }) => {
    if (type !== "user" && type !== "org") return type === repo.type && name === repo.name;
    // A name that nobody has here may be either.
    return name === owner && type === (accountKind(owner) ?? type);
  });
}
