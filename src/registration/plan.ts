import { maskUrl } from "../core/urls.ts";
import { hasHiddenSecret } from "../hub/webhooks/changes.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import { formatWatched } from "../payload/watch.ts";
import type {
  EnableStep,
  FieldChange,
  RegistrationReport,
  RegistrationStep,
  SecretChange,
  SkippedWebhook,
} from "./report.ts";
import type { ManagedWebhook, SecretHash } from "./state.ts";
import type { DesiredWebhook } from "./webhook.ts";
import { isSameSet, isSameUrl, isSameWatched } from "./webhook.ts";

export interface PlanInput {
  /** One webhook for each endpoint with a watch list. */
  desired: readonly DesiredWebhook[];
  /** The names of the endpoints without a watch list. */
  withoutWatch: readonly string[];
  /** The secret of all webhooks. `undefined` keeps existing secrets, and `null` removes them. */
  secret: string | null | undefined;
  /** The webhooks on the Hub, without the temporary webhooks of other sessions. */
  listed: readonly Webhook[];
  /** The managed webhooks in the state file. Webhooks that no longer exist on the Hub are ignored. */
  managed: readonly ManagedWebhook[];
  /** The IDs of the managed webhooks whose stored hash matches `secret`. */
  matchingSecretIds: ReadonlySet<string>;
  /** Whether to delete managed webhooks that no endpoint needs. */
  prune: boolean;
  /** Whether to adopt webhooks that deliver to an endpoint but were created elsewhere. */
  adopt: boolean;
  /** Whether the webhooks are temporary. Default `false`. */
  isTemporary?: boolean;
}

type Plan = {
  steps: RegistrationStep[];
  /**
   * The IDs of webhooks with a secret that the Hub does not return. Updates of these webhooks fail, because an update
   * without the secret would remove the secret. Steps for other webhooks are still applied.
   */
  unreadableSecretIds: Set<string>;
  skipped: SkippedWebhook[];
  unchanged: RegistrationReport["unchanged"][number][];
};

/** A managed webhook: its entry in the state file, and the webhook on the Hub. */
interface Existing {
  entry: ManagedWebhook;
  webhook: Webhook;
}

/**
 * Plans the steps that reconcile the webhooks on the Hub with the desired webhooks. Has no side effects. A field that
 * differs is updated, unless the desired value was already written and the Hub only normalized the value.
 */
export function planSteps(input: PlanInput): Plan {
  const { desired, withoutWatch, listed, managed } = input;
  const plan: Plan = { steps: [], unreadableSecretIds: new Set(), skipped: [], unchanged: [] };
  const existing = managed.flatMap((entry) => {
    const webhook = listed.find(({ id }) => id === entry.id);
    return webhook ? [{ entry, webhook }] : [];
  });
  const unmanaged = listed.filter(({ id }) => !managed.some((entry) => entry.id === id));

  for (const wanted of desired) {
    const atSameUrl = unmanaged.filter(({ url }) => url !== undefined && isSameUrl(url, wanted.url));
    const [first, ...duplicates] = existing.filter(({ entry }) => entry.endpoint === wanted.endpoint);
    if (first) {
      planUpdate(plan, { wanted, existing: first, input, isAdopted: false });
      for (const other of atSameUrl) plan.skipped.push(alsoDelivers(other, wanted));
    } else {
      planCreation(plan, { wanted, atSameUrl, input });
    }
    for (const { webhook } of duplicates) {
      planDeletion(plan, {
        endpoint: wanted.endpoint,
        id: webhook.id,
        input,
        skipReason: "duplicate",
        reason: `the endpoint already has webhook ${first?.webhook.id}`,
      });
    }
  }
  for (const endpoint of withoutWatch) plan.skipped.push(noWatch(endpoint));
  for (const { entry } of existing) {
    if (desired.some(({ endpoint }) => endpoint === entry.endpoint)) continue;
    planDeletion(plan, {
      endpoint: entry.endpoint,
      id: entry.id,
      input,
      skipReason: "endpoint-removed",
      reason: withoutWatch.includes(entry.endpoint)
        ? "the endpoint no longer has a watch list"
        : "the endpoint no longer exists",
    });
  }
  return plan;
}

function planCreation(
  plan: Plan,
  { wanted, atSameUrl, input }: { wanted: DesiredWebhook; atSameUrl: readonly Webhook[]; input: PlanInput },
): void {
  const [first, ...others] = atSameUrl;
  if (first === undefined) {
    plan.steps.push({ action: "create", ...wanted, secretIsSet: typeof input.secret === "string" });
    return;
  }
  if (!input.adopt) {
    for (const webhook of atSameUrl) plan.skipped.push(notManaged(webhook, wanted, input));
    return;
  }
  const entry = { id: first.id, endpoint: wanted.endpoint };
  planUpdate(plan, { wanted, existing: { entry, webhook: first }, input, isAdopted: true });
  for (const webhook of others) plan.skipped.push(alsoDelivers(webhook, wanted));
}

function planUpdate(
  plan: Plan,
  {
    wanted,
    existing,
    input,
    isAdopted,
  }: { wanted: DesiredWebhook; existing: Existing; input: PlanInput; isAdopted: boolean },
): void {
  const { endpoint } = wanted;
  const { id } = existing.webhook;
  const changes = [...findTargetChanges(existing, wanted), ...findSecretChanges(existing, input)];
  if (changes.length > 0 || isAdopted) plan.steps.push({ action: "update", endpoint, id, changes, isAdopted });
  const enabling = planEnabling({ endpoint, webhook: existing.webhook, changes });
  if (enabling) plan.steps.push(enabling);
  if (input.secret === undefined) {
    const visibility = secretVisibility(existing.webhook, existing.entry.secret);
    if (visibility === "hidden") plan.unreadableSecretIds.add(id);
    if (visibility === "hidden" || visibility === "readable") plan.skipped.push(secretKept(existing, wanted));
  }
  if (changes.length === 0 && !isAdopted && !enabling) plan.unchanged.push({ endpoint, id });
}

function planDeletion(
  plan: Plan,
  {
    endpoint,
    id,
    input,
    skipReason,
    reason,
  }: { endpoint: string; id: string; input: PlanInput; skipReason: SkippedWebhook["reason"]; reason: string },
): void {
  if (input.prune) {
    plan.steps.push({ action: "delete", endpoint, id, reason });
    return;
  }
  const message = `Webhook ${id} of endpoint "${endpoint}" is not needed: ${reason}. Delete it with --prune (prune: true in code).`;
  plan.skipped.push({ reason: skipReason, endpoint, id, message });
}

function planEnabling({
  endpoint,
  webhook: { id, disabled },
  changes,
}: {
  endpoint: string;
  webhook: Webhook;
  changes: readonly FieldChange[];
}): EnableStep | undefined {
  if (disabled === false) return undefined;
  if (disabled === true) return { action: "enable", endpoint, id, reason: "the webhook was disabled" };
  const causes = changes.flatMap((change) => {
    if (change.field === "url") return [`the URL was ${change.before}`];
    return change.field === "secret" ? ["the secret was different"] : [];
  });
  const cause = causes.length > 0 ? `, probably because ${causes.join(" and ")}` : "";
  return {
    action: "re-enable",
    endpoint,
    id,
    reason: `the Hub suspended the webhook after too many failed deliveries${cause}`,
    remedy: `Check that endpoint "${endpoint}" returns a 2xx status. See the server's log, or the webhook's Activity tab on the Hub.`,
  };
}

function findTargetChanges({ entry: { written, returned }, webhook }: Existing, wanted: DesiredWebhook): FieldChange[] {
  const url = webhook.url ?? "";
  const isUrlInSync =
    isSameUrl(url, wanted.url) || (written?.url === wanted.url && returned !== undefined && returned.url === url);
  const isWatchedInSync =
    isSameWatched(webhook.watched, wanted.watched) ||
    (written !== undefined &&
      returned !== undefined &&
      isSameWatched(written.watched, wanted.watched) &&
      isSameWatched(returned.watched, webhook.watched));
  const areDomainsInSync =
    isSameSet(webhook.domains, wanted.domains) ||
    (written !== undefined &&
      returned !== undefined &&
      isSameSet(written.domains, wanted.domains) &&
      isSameSet(returned.domains, webhook.domains));
  const changes: (FieldChange | false)[] = [
    !isUrlInSync && { field: "url", before: url === "" ? "none (it runs a job)" : maskUrl(url), after: wanted.url },
    !isWatchedInSync && {
      field: "watched",
      before: formatList(formatWatched(webhook.watched)),
      after: formatList(formatWatched(wanted.watched)),
    },
    !areDomainsInSync && {
      field: "domains",
      before: formatList(webhook.domains),
      after: formatList(wanted.domains),
    },
  ];
  return changes.filter((change) => change !== false);
}

function formatList(texts: readonly string[]): string {
  return [...texts].sort().join(", ");
}

function findSecretChanges(existing: Existing, input: PlanInput): FieldChange[] {
  const change = findSecretChange(existing, input);
  return change === undefined ? [] : [{ field: "secret", change }];
}

function findSecretChange(
  { webhook, entry }: Existing,
  { secret, matchingSecretIds }: PlanInput,
): SecretChange | undefined {
  const visibility = secretVisibility(webhook, entry.secret);
  if (secret === undefined) return undefined;
  if (secret === null) return visibility === "none" ? undefined : "removed";
  if (visibility === "none") return "set";
  const isSame = visibility === "readable" ? webhook.secret === secret : matchingSecretIds.has(entry.id);
  return isSame ? undefined : "changed";
}

/**
 * Returns whether a webhook has a secret on the Hub, and whether the Hub returns the secret. If the Hub returns no
 * information about the secret, the result depends on the stored hash.
 *
 * @param stored The hash of the secret that was last written. `undefined` if unknown.
 */
function secretVisibility(
  webhook: Webhook,
  stored: SecretHash | undefined,
): "none" | "readable" | "hidden" | "unknown" {
  if (hasHiddenSecret(webhook)) return "hidden";
  if (webhook.secret !== undefined) return webhook.secret === "" ? "none" : "readable";
  if (webhook.hasSecret === false || stored === null) return "none";
  return stored === undefined ? "unknown" : "hidden";
}

function notManaged({ id }: Webhook, { endpoint, url }: DesiredWebhook, { isTemporary }: PlanInput): SkippedWebhook {
  const remedy = isTemporary
    ? `Its deliveries are only accepted with the current secret of the server. If you do not need the webhook, run hub-webhooks delete ${id}`
    : `Adopt the webhook with --adopt (adopt: true in code), or run hub-webhooks delete ${id}`;
  return {
    reason: "not-managed",
    endpoint,
    id,
    message: `Webhook ${id} was created elsewhere and already delivers to ${url}. No second webhook was created, because every delivery would arrive twice. ${remedy}`,
  };
}

function alsoDelivers({ id }: Webhook, { endpoint, url }: DesiredWebhook): SkippedWebhook {
  return {
    reason: "not-managed",
    endpoint,
    id,
    message: `Webhook ${id} was created elsewhere and also delivers to ${url}, so deliveries may arrive twice. If you do not need the webhook, run hub-webhooks delete ${id}`,
  };
}

function secretKept({ webhook: { id } }: Existing, { endpoint }: DesiredWebhook): SkippedWebhook {
  return {
    reason: "secret-kept",
    endpoint,
    id,
    message: `Webhook ${id} keeps its secret on the Hub, but the server has none. Set WEBHOOK_SECRET for the server and for sync, or remove the secret from the Hub with --remove-secret (removeSecret: true in code).`,
  };
}

function noWatch(endpoint: string): SkippedWebhook {
  return {
    reason: "no-watch",
    endpoint,
    message: `Endpoint "${endpoint}" has no webhook because it has no watch list. Set the endpoint's watch option, such as { watch: "dataset:me/data" }.`,
  };
}
