import {
  type Action,
  type BucketContentPayload,
  type DiscussionCommentPayload,
  type DiscussionPayload,
  type GitContentPayload,
  isKnownScope,
  type KnownScope,
  type RepoConfigPayload,
  type RepoContentPayload,
  type RepoPayload,
  schemaOf,
  type WebhookPayload,
} from "./schema.ts";

interface PayloadByScope {
  repo: RepoPayload;
  "repo.content": RepoContentPayload;
  "repo.config": RepoConfigPayload;
  discussion: DiscussionPayload;
  "discussion.comment": DiscussionCommentPayload;
}

/**
 * The payload type of a scope. `RepoType` narrows `repo.content` further: a bucket has `updatedFiles`, a model, a
 * dataset and a Space have `updatedRefs`.
 */
export type PayloadOf<Scope extends string, RepoType extends string = string> = Scope extends KnownScope
  ? Scope extends "repo.content"
    ? ContentPayloadOf<RepoType>
    : PayloadByScope[Scope]
  : WebhookPayload;

type ContentPayloadOf<RepoType extends string> = RepoType extends "bucket"
  ? BucketContentPayload
  : RepoType extends "model" | "dataset" | "space"
    ? GitContentPayload
    : RepoContentPayload;

/**
 * Whether `scope` is `wanted` or narrower: the Hub's scopes are a hierarchy, so `repo` covers `repo.content` and a
 * `repo.config.dois` that does not exist yet.
 */
export function coversScope(wanted: string, scope: string): boolean {
  return scope === wanted || scope.startsWith(`${wanted}.`);
}

/**
 * The action to act upon. The Hub's rule for a scope that is not known yet: take it as an `update` of the broader one.
 */
export function actionOf(payload: WebhookPayload): Action {
  const { scope, action } = payload.event;
  return scope.includes(".") && !isKnownScope(scope) ? "update" : action;
}

/** Keeps a payload whose scope is any string from passing for a narrowed one, so that what is left is not `never`. */
interface Scoped<Wanted extends string> {
  event: { scope: Wanted | `${Wanted}.${string}` };
}

/**
 * Whether a delivery is of `scope` or a narrower one, which narrows its type as well: TypeScript does not do so by
 * comparing the nested `event.scope`. A narrower scope that is not known yet counts only when it has what the broader
 * one promises.
 *
 * @example
 * ```ts
 * server.webhook(async function on_change(payload) {
 *   if (isScope(payload, "discussion.comment")) return payload.comment.content;
 * });
 * ```
 */
export function isScope<Wanted extends KnownScope>(
  payload: WebhookPayload,
  scope: Wanted,
): payload is WebhookPayload & PayloadOf<Wanted> & Scoped<Wanted> {
  return coversScope(scope, payload.event.scope) && hasShapeOf(scope, payload);
}

/** A known scope was checked on arrival; a newer, narrower one has to be held against the one it stands in for. */
export function hasShapeOf(scope: string, payload: WebhookPayload): boolean {
  return isKnownScope(payload.event.scope) || schemaOf(scope, payload.repo.type).safeParse(payload).success;
}
