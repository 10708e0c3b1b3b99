import { type Action, isKnownScope, type KnownScope } from "./names.ts";
import {
  type BucketContentPayload,
  type DiscussionCommentPayload,
  type DiscussionPayload,
  type GitContentPayload,
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
 * The payload type of a scope. `RepoType` narrows `repo.content` further: buckets have `updatedFiles`, and models,
 * datasets, and Spaces have `updatedRefs`.
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
 * Whether `scope` is `wanted` or a narrower scope. The Hub's scopes form a hierarchy: `repo` covers `repo.content` and
 * future scopes such as `repo.config.dois`.
 */
export function coversScope(wanted: string, scope: string): boolean {
  return scope === wanted || scope.startsWith(`${wanted}.`);
}

/**
 * Returns the action of a payload. An unknown narrower scope counts as an `update` of the broader scope, as the Hub's
 * documentation recommends.
 */
export function actionOf(payload: WebhookPayload): Action {
  const { scope, action } = payload.event;
  return scope.includes(".") && !isKnownScope(scope) ? "update" : action;
}

/** Prevents the payload type in the `else` branch of {@link isScope} from becoming `never`. */
interface Scoped<Wanted extends string> {
  event: { scope: Wanted | `${Wanted}.${string}` };
}

/**
 * Whether a payload has the scope `scope` or a narrower scope. Narrows the payload type, unlike a comparison of the
 * nested `event.scope`. An unknown narrower scope matches only if the payload has the fields of the broader scope.
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

/**
 * Whether a payload has the fields of `scope`. Payloads of known scopes were validated on arrival, so only payloads of
 * unknown scopes are validated here.
 */
export function hasShapeOf(scope: string, payload: WebhookPayload): boolean {
  return isKnownScope(payload.event.scope) || schemaOf(scope, payload.repo.type).safeParse(payload).success;
}
