import { readDescriptionMarker, readMarker } from "../hub/repositories/marker.ts";
import type { RepoRef } from "../hub/schemas.ts";
import { coversScope, type WebhookPayload } from "../payload/schema.ts";
import { changeKey, type ServerHub } from "./hub.ts";

/** A change that a payload announces. The server made the change if one of the keys is stored. */
interface AnnouncedChange {
  readonly keys: readonly string[];
  /** The new commit, which can have a marker. */
  readonly commit?: string;
}

/**
 * Whether this server caused an event. The server looks for the IDs of its changes, first immediately, and then after its calls for
 * the repository that are in progress: an event can arrive before the response of the call that caused it. If the IDs are not
 * stored, for example because the inbox was deleted or the process stopped during the call, the server looks for its marker. A marker
 * only counts if the token's account is the author, because everyone can copy a marker.
 *
 * @throws `HubError` if the Hub does not answer, or the abort reason of the signal.
 */
export async function isOwnEvent(payload: WebhookPayload, hub: ServerHub, signal: AbortSignal): Promise<boolean> {
  const changes = announcedChanges(payload);
  if (changes.length > 0) {
    if ((await unknownChanges(changes, hub)).length === 0) return true;
    await hub.ownChanges.waitFor(payload.repo, signal);
    const unknown = await unknownChanges(changes, hub);
    if (unknown.length === 0) return true;
    if (unknown.every(({ commit }) => commit !== undefined)) {
      for (const { commit } of unknown) {
        if (commit === undefined || !(await isMarkedCommit(commit, payload.repo, hub, signal))) return false;
      }
      return true;
    }
  }
  return hasMarkedComment(payload, hub, signal);
}

/** Returns the changes that a payload announces. An empty list means that the IDs in the payload do not identify a change. */
function announcedChanges(payload: WebhookPayload): readonly AnnouncedChange[] {
  const { repo, event, discussion, comment, updatedRefs = [] } = payload;
  if (coversScope("repo.content", event.scope)) {
    // A deleted ref has no ID, so an event with a deleted ref counts as an event of someone else.
    if (updatedRefs.some(({ newSha }) => newSha === null)) return [];
    return updatedRefs.map((updated) => announcedRef(repo, updated));
  }
  if (event.scope === "discussion" && discussion) {
    const { num, status, changes } = discussion;
    if (event.action === "create") return [{ keys: [changeKey(repo, { kind: "discussion", id: String(num) })] }];
    const commit = status === "merged" ? changes?.mergeCommitId : undefined;
    if (event.action === "update" && commit !== undefined) {
      return [{ keys: [changeKey(repo, { kind: "commit", id: commit })], commit }];
    }
  }
  // Other people can edit and hide a comment of this server, so only its creation is recognized by its ID.
  if (event.scope === "discussion.comment" && event.action === "create" && comment) {
    return [{ keys: [changeKey(repo, { kind: "comment", id: comment.id })] }];
  }
  return [];
}

function announcedRef(
  repo: RepoRef,
  { ref, oldSha, newSha }: NonNullable<WebhookPayload["updatedRefs"]>[number],
): AnnouncedChange {
  const commit = newSha ?? "";
  const keys = [changeKey(repo, { kind: "commit", id: commit })];
  // A new pull request without changes points to a commit that existed before.
  const [, pullRequest] = /^refs\/pr\/(\d+)$/.exec(ref) ?? [];
  if (oldSha === null && pullRequest !== undefined) keys.push(changeKey(repo, { kind: "discussion", id: pullRequest }));
  return { keys, commit };
}

async function unknownChanges(changes: readonly AnnouncedChange[], { ownChanges }: ServerHub) {
  const found = await ownChanges.find(changes.flatMap(({ keys }) => keys));
  return changes.filter(({ keys }) => !keys.some((key) => found.has(key)));
}

async function hasMarkedComment({ comment }: WebhookPayload, hub: ServerHub, signal: AbortSignal): Promise<boolean> {
  if (comment?.content === undefined || !isSigned(comment.content, hub)) return false;
  return comment.author.id === (await hub.account(signal)).id;
}

async function isMarkedCommit(revision: string, repo: RepoRef, hub: ServerHub, signal: AbortSignal): Promise<boolean> {
  for await (const { message, authors } of hub.client.repo(repo).commits({ revision, signal })) {
    if (!isSigned(message, hub)) return false;
    const { name } = await hub.account(signal);
    return authors.some(({ user }) => user === name);
  }
  return false;
}

function isSigned(text: string, { signature }: ServerHub): boolean {
  return (readMarker(text) ?? readDescriptionMarker(text))?.signature === signature;
}
