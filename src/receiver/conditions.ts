import type { Logger } from "../core/log.ts";
import type { HubClient } from "../hub/client.ts";
import { matchListedFiles, type PathFilter, pathsReason } from "../payload/filter.ts";
import type { Delivery } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ServerHub } from "./hub.ts";

interface CheckedDelivery {
  endpoint: Endpoint;
  delivery: Pick<Delivery<unknown>, "id">;
  payload: WebhookPayload;
  signal: AbortSignal | undefined;
  hub: ServerHub;
  log: Logger;
}

/** The maximum duration of the check in the background. */
const backgroundLimitMs = 30_000;
/** The maximum duration before a response. With the default timeout of the handler, the Hub waits 1 s longer. */
const inlineLimitMs = 4_000;

/**
 * Checks the conditions of an endpoint that can require calls to the Hub: `ignoreSelf` and `paths`. Returns the reason why the handler
 * does not run, or `undefined` if the handler runs. If the Hub does not answer in time, the handler runs, because an event that is
 * handled once too often is better than a lost event.
 *
 * @throws the abort reason of the delivery's signal.
 */
export async function reasonToIgnore(checked: CheckedDelivery): Promise<string | undefined> {
  const { endpoint, signal } = checked;
  const limit = AbortSignal.timeout(endpoint.queue ? backgroundLimitMs : inlineLimitMs);
  try {
    return await findReason(checked, signal ? AbortSignal.any([signal, limit]) : limit);
  } catch (error) {
    signal?.throwIfAborted();
    checked.log.warn(
      { endpoint: endpoint.name, deliveryId: checked.delivery.id, err: error },
      "The Hub did not answer whether the delivery meets the conditions of the endpoint (ignoreSelf, paths), so the handler runs.",
    );
    return undefined;
  }
}

async function findReason(
  { endpoint, payload, hub }: CheckedDelivery,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { ignoreSelf = false, paths } = endpoint.conditions ?? {};
  if (ignoreSelf) {
    const { isOwnEvent } = await import("./own-event.ts");
    if (await isOwnEvent(payload, hub, signal)) return "this server caused the event";
  }
  return paths && !(await hasChangedPath(payload, paths, hub.client, signal)) ? pathsReason(paths) : undefined;
}

/**
 * Whether a changed file of an event matches the `paths` of an endpoint. Returns `true` if the payload does not contain enough to
 * find the changed files.
 *
 * @throws `HubError` if the Hub does not answer, or the abort reason of the signal.
 */
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
