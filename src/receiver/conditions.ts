import type { CatchUp, DecidedDelivery } from "../catch-up/catch-up.ts";
import type { DeliveryPart } from "../catch-up/cursor.ts";
import type { HubClient } from "../hub/client.ts";
import type { RepoRef } from "../hub/schemas.ts";
import { coveredReason, matchListedFiles, type PathFilter, pathsReason } from "../payload/filter.ts";
import { coversScope, type WebhookPayload } from "../payload/schema.ts";
import type { Endpoint } from "./endpoint.ts";
import { changeKey, type ServerHub } from "./hub.ts";

/** The parts of a server that conditions require. */
export interface ConditionParts {
  hub: ServerHub;
  /** See `CatchUp.uncovered`. */
  catchUp: () => Promise<{
    uncovered(delivery: DecidedDelivery, signal: AbortSignal): ReturnType<CatchUp["uncovered"]>;
  }>;
}

const backgroundLimitMs = 30_000;
/** The maximum duration before a response. With the default timeout of the handler, the Hub waits 1 s longer. */
const inlineLimitMs = 4_000;

/**
 * Checks the conditions of an endpoint that can require calls to the Hub. Returns why the handler does not run, or the part of the changes
 * for which it runs.
 *
 * @throws `HubError` if the Hub does not answer, or the abort reason of the signal.
 */
export async function checkConditions(
  { conditions, queue }: Endpoint,
  delivery: DecidedDelivery,
  { hub, catchUp: loadCatchUp }: ConditionParts,
  aborted: AbortSignal,
): Promise<{ ignored?: string; part?: DeliveryPart | undefined }> {
  const { catchUp = false, ignoreSelf = false, paths } = conditions ?? {};
  let part: DeliveryPart | undefined;
  if (catchUp) {
    const check = await loadCatchUp();
    // Has limits of its own, because it can wait for a comparison.
    const uncovered = await check.uncovered(delivery, aborted);
    if (uncovered === "nothing") return { ignored: coveredReason };
    if (uncovered !== "all") part = uncovered;
  }
  const payload = { ...delivery.payload, ...part };
  const limit = AbortSignal.timeout(queue ? backgroundLimitMs : inlineLimitMs);
  const signal = AbortSignal.any([aborted, limit]);
  if (ignoreSelf && (await isOwnEvent(payload, hub, signal))) return { ignored: "this server caused the event" };
  if (paths && !(await hasChangedPath(payload, paths, hub.client, signal))) return { ignored: pathsReason(paths) };
  return { part };
}

/** Whether a changed file matches the `paths` of an endpoint. Returns `true` if the payload does not contain enough to find the files. */
async function hasChangedPath(
  payload: WebhookPayload,
  filter: PathFilter,
  hub: HubClient,
  signal: AbortSignal,
): Promise<boolean> {
  const { repo } = payload;
  const refs = matchListedFiles(filter, payload);
  if (typeof refs === "boolean") return refs;
  for (const { ref, oldSha, newSha } of refs) {
    if (newSha === null) continue;
    // All files of a new main branch are new. Another new ref is compared with the main branch.
    const from = oldSha ?? (ref === "refs/heads/main" ? null : (repo.headSha ?? "main"));
    if (from === newSha) continue;
    const files = await hub.repo(repo).changedFiles({ from, to: newSha, signal });
    // A renamed file is missing at its previous path.
    const paths = files.flatMap(({ path, previousPath }) => [path, previousPath ?? path]);
    if (paths.some(filter.matches)) return true;
  }
  return false;
}

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
 */
async function isOwnEvent(payload: WebhookPayload, hub: ServerHub, signal: AbortSignal): Promise<boolean> {
  const changes = announcedChanges(payload);
  if (changes.length > 0) {
    if ((await unknownChanges(changes, hub)).length === 0) return true;
    await hub.ownChanges.waitFor(payload.repo, signal);
    const unknown = await unknownChanges(changes, hub);
    if (unknown.length === 0) return true;
    const commits = unknown.flatMap(({ commit }) => commit ?? []);
    if (commits.length === unknown.length) {
      for (const commit of commits) if (!(await isMarkedCommit(commit, payload.repo, hub, signal))) return false;
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
    return updatedRefs.map(({ ref, oldSha, newSha }) => {
      const commit = newSha ?? "";
      const keys = [changeKey(repo, { kind: "commit", id: commit })];
      // A new pull request without changes points to a commit that existed before.
      const [, id] = /^refs\/pr\/(\d+)$/.exec(ref) ?? [];
      if (oldSha === null && id !== undefined) keys.push(changeKey(repo, { kind: "discussion", id }));
      return { keys, commit };
    });
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

async function unknownChanges(changes: readonly AnnouncedChange[], { ownChanges }: ServerHub) {
  const found = await ownChanges.find(changes.flatMap(({ keys }) => keys));
  return changes.filter(({ keys }) => !keys.some((key) => found.has(key)));
}

async function hasMarkedComment({ comment }: WebhookPayload, hub: ServerHub, signal: AbortSignal): Promise<boolean> {
  if (comment?.content === undefined || !(await isSigned(comment.content, hub))) return false;
  return comment.author.id === (await hub.account(signal)).id;
}

async function isMarkedCommit(revision: string, repo: RepoRef, hub: ServerHub, signal: AbortSignal): Promise<boolean> {
  for await (const { message, authors } of hub.client.repo(repo).commits({ revision, signal })) {
    if (!(await isSigned(message, hub))) return false;
    const { name } = await hub.account(signal);
    return authors.some(({ user }) => user === name);
  }
  return false;
}

/** Loads the markers, which only `ignoreSelf` reads. */
async function isSigned(text: string, { signature }: ServerHub): Promise<boolean> {
  const { readDescriptionMarker, readMarker } = await import("../hub/repositories/marker.ts");
  return (readMarker(text) ?? readDescriptionMarker(text))?.signature === signature;
}
