import type { RepoId } from "../../hub/contract/repositories.ts";
import { coversScope } from "../../payload/scope.ts";
import { accountKind, ownerOf } from "../accounts.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { stateOf } from "../webhook-summary.ts";

/** What happened, as far as it decides who is told. */
export interface Occurrence {
  repo: RepoId;
  isReadableBy: (user: string) => boolean;
  /** Such as `repo.content`. */
  scope: string;
}

/**
 * Why a webhook is silent about a repository that it watches: the domain is none of its, the repository is private and
 * its owner cannot read that, or it was stopped, by a person or after failures.
 */
export type Silence = "domain" | "private" | "disabled" | "suspended";

/** Whether a webhook watches the repository, or the user or organization to whom that belongs. */
export function isWatching({ definition }: StoredWebhook, { repo }: Pick<Occurrence, "repo">): boolean {
  const owner = ownerOf(repo);
  return definition.watched.some(({ type, name }) => {
    if (type !== "user" && type !== "org") return type === repo.type && name === repo.name;
    // A name that nobody has here may be either.
    return name === owner && type === (accountKind(owner) ?? type);
  });
}

/** Why a webhook does not fire, of those that watch the repository; `undefined` when it does. */
export function silenceOf(webhook: StoredWebhook, occurrence: Occurrence): Silence | undefined {
  const { scope, isReadableBy } = occurrence;
  if (!webhook.definition.domains.some((domain) => coversScope(domain, scope))) return "domain";
  if (!isReadableBy(webhook.owner)) return "private";
  const state = stateOf(webhook);
  return state === "enabled" ? undefined : state;
}
