import type { DecidedDelivery } from "../catch-up/catch-up.ts";
import type { DeliveryPart } from "../catch-up/cursor.ts";
import type { Logger } from "../core/log.ts";
import type { HubClient } from "../hub/client.ts";
import { coveredReason, matchListedFiles, type PathFilter, pathsReason } from "../payload/filter.ts";
import type { Delivery } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ServerHub } from "./hub.ts";

/** Finds out what a delivery changes that catch-up has not derived: see `CatchUp.uncovered`. */
export interface CoverageCheck {
  uncovered(delivery: DecidedDelivery, signal: AbortSignal): Promise<"all" | "nothing" | DeliveryPart>;
}

interface CheckedDelivery {
  endpoint: Endpoint;
  delivery: Pick<Delivery<unknown>, "id" | "receivedAt">;
  payload: WebhookPayload;
  signal: AbortSignal | undefined;
  hub: ServerHub;
  catchUp: () => Promise<CoverageCheck>;
  log: Logger;
}

/** Why the handler does not run, or the part of the changes for which it runs. */
interface CheckedConditions {
  ignored?: string;
  part?: DeliveryPart | undefined;
}

const backgroundLimitMs = 30_000;
/** The maximum duration before a response. With the default timeout of the handler, the Hub waits 1 s longer. */
const inlineLimitMs = 4_000;

/**
 * Checks the conditions of an endpoint that can require calls to the Hub: `catchUp`, `ignoreSelf`, and `paths`. If the Hub does not answer in
 * time, the handler runs, because an event that is handled once too often is better than a lost event.
 *
 * @throws the abort reason of the delivery's signal.
 */
export async function checkConditions(checked: CheckedDelivery): Promise<CheckedConditions> {
  const { endpoint, signal } = checked;
  try {
    return await check(checked);
  } catch (error) {
    signal?.throwIfAborted();
    checked.log.warn(
      { endpoint: endpoint.name, deliveryId: checked.delivery.id, err: error },
      "The Hub did not answer whether the conditions of the endpoint (catchUp, ignoreSelf, paths) are met. The handler runs.",
    );
    return {};
  }
}

async function check({
  endpoint,
  delivery,
  payload: given,
  // Never aborted.
  signal: aborted = AbortSignal.any([]),
  hub,
  catchUp: loadCatchUp,
}: CheckedDelivery): Promise<CheckedConditions> {
  const { catchUp = false, ignoreSelf = false, paths } = endpoint.conditions ?? {};
  let part: DeliveryPart | undefined;
  if (catchUp) {
    const check = await loadCatchUp();
    // Has limits of its own, because it can wait for a comparison.
    const uncovered = await check.uncovered({ ...delivery, endpoint: endpoint.name, payload: given }, aborted);
    if (uncovered === "nothing") return { ignored: coveredReason };
    if (uncovered !== "all") part = uncovered;
  }
  const payload = { ...given, ...part };
  const limit = AbortSignal.timeout(endpoint.queue ? backgroundLimitMs : inlineLimitMs);
  const signal = AbortSignal.any([aborted, limit]);
  if (ignoreSelf) {
    const { isOwnEvent } = await import("./own-event.ts");
    if (await isOwnEvent(payload, hub, signal)) return { ignored: "this server caused the event" };
  }
  if (paths && !(await hasChangedPath(payload, paths, hub.client, signal))) return { ignored: pathsReason(paths) };
  return { part };
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
