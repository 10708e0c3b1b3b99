import type { HubClient } from "../../hub/client.ts";
import type { ChangedFile } from "../../hub/repositories/changed-file.ts";
import type { PathFilter } from "../../payload/path-filter.ts";
import type { WebhookPayload } from "../../payload/schema.ts";

type UpdatedRef = NonNullable<WebhookPayload["updatedRefs"]>[number];

const mainRef = "refs/heads/main";

/**
 * Whether a changed file of an event matches the `paths` of an endpoint. Returns `true` if the payload does not contain enough to
 * find the changed files.
 *
 * @throws `HubError` if the Hub does not answer, or the abort reason of the signal.
 */
export async function hasChangedPath(
  payload: WebhookPayload,
  { filter, hub, signal }: { filter: PathFilter; hub: HubClient; signal: AbortSignal },
): Promise<boolean> {
  const { updatedFiles, updatedFilesTruncated, updatedRefs, repo } = payload;
  if (updatedFiles) return updatedFilesTruncated === true || updatedFiles.some(({ path }) => filter.matches(path));
  if (!updatedRefs) return true;
  for (const updated of updatedRefs) {
    if (!filter.acceptsRef(updated.ref) || updated.newSha === null) continue;
    const range = { from: baseOf(updated, repo.headSha), to: updated.newSha };
    if (range.from === range.to) continue;
    const files = await hub.repo(repo).changedFiles({ ...range, signal });
    if (files.some((file) => pathsOf(file).some(filter.matches))) return true;
  }
  return false;
}

/** Returns the paths that a change affects. A renamed file is missing at its previous path. */
function pathsOf({ path, previousPath }: ChangedFile): string[] {
  return previousPath === undefined ? [path] : [path, previousPath];
}

/** Returns the commit to compare with, or `null` if all files of the ref are new. */
function baseOf({ ref, oldSha }: UpdatedRef, headSha: string | undefined): string | null {
  if (oldSha !== null) return oldSha;
  return ref === mainRef ? null : (headSha ?? "main");
}
