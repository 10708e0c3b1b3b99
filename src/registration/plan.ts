import type { Webhook } from "../hub/webhooks/schemas.ts";
import { hasHiddenSecret } from "../hub/webhooks/webhooks.ts";
import type { EnableStep, FieldChange, RegistrationReport, RegistrationStep, SkippedWebhook } from "./report.ts";
import type { ManagedWebhook } from "./state.ts";
import {
  type DesiredWebhook,
  fieldRules,
  fieldsOf,
  isSameUrl,
  type WebhookFields,
  webhookFieldNames,
} from "./webhook.ts";

export interface PlanInput {
  desired: readonly DesiredWebhook[];
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

/** A webhook on the Hub, and its entry in the state file. */
interface Existing {
  entry: Pick<ManagedWebhook, "id" | "secret" | "written" | "returned">;
  webhook: Webhook;
}

/**
 * Plans the steps that reconcile the webhooks on the Hub with the desired webhooks. Has no side effects. A field that
 * differs is updated, unless the desired value was already written and the Hub only normalized the value.
 */
export function planSteps(input: PlanInput) {
  const { desired, withoutWatch, secret, listed, managed, prune, adopt, isTemporary } = input;
  const steps: RegistrationStep[] = [];
  const skipped: SkippedWebhook[] = [];
  const unchanged: RegistrationReport["unchanged"][number][] = [];
  /**
   * The IDs of webhooks with a secret that the Hub does not return. Updates of these webhooks fail, because an update
   * without the secret would remove the secret. Steps for other webhooks are still applied.
   */
  const unreadableSecretIds = new Set<string>();

  /** Plans the creation of a webhook, or the adoption of one that delivers to the same URL. */
  const create = (wanted: DesiredWebhook, atSameUrl: readonly Webhook[]) => {
    const { endpoint, url } = wanted;
    const [first, ...others] = atSameUrl;
    if (first === undefined) {
      steps.push({ action: "create", ...wanted, secretIsSet: typeof secret === "string" });
    } else if (adopt) {
      update(wanted, { entry: { id: first.id }, webhook: first }, { isAdopted: true });
      skipOthers(wanted, others);
    } else {
      for (const { id } of atSameUrl) {
        const remedy = isTemporary
          ? `Its deliveries are only accepted with the current secret of the server. If you do not need the webhook, run hub-webhooks delete ${id}`
          : `Adopt the webhook with --adopt (adopt: true in code), or run hub-webhooks delete ${id}`;
        const message = `Webhook ${id} was created elsewhere and already delivers to ${url}. No second webhook was created, because every delivery would arrive twice. ${remedy}`;
        skipped.push({ reason: "not-managed", endpoint, id, message });
      }
    }
  };

  const update = (wanted: DesiredWebhook, existing: Existing, { isAdopted }: { isAdopted: boolean }) => {
    const { endpoint } = wanted;
    const { id } = existing.webhook;
    const visibility = secretVisibility(existing);
    const changes = [...findTargetChanges(existing, wanted), ...findSecretChange(existing, input)];
    if (changes.length > 0 || isAdopted) steps.push({ action: "update", endpoint, id, changes, isAdopted });
    const enabling = planEnabling(endpoint, existing.webhook, changes);
    if (enabling) steps.push(enabling);
    if (secret === undefined && (visibility === "hidden" || visibility === "readable")) {
      if (visibility === "hidden") unreadableSecretIds.add(id);
      const message = `Webhook ${id} keeps its secret on the Hub, but the server has none. Set WEBHOOK_SECRET for the server and for sync, or remove the secret from the Hub with --remove-secret (removeSecret: true in code).`;
      skipped.push({ reason: "secret-kept", endpoint, id, message });
    }
    if (changes.length === 0 && !isAdopted && !enabling) unchanged.push({ endpoint, id });
  };

  /** Skips webhooks that deliver to the URL of another webhook. */
  const skipOthers = ({ endpoint, url }: DesiredWebhook, others: readonly Webhook[]) => {
    for (const { id } of others) {
      const message = `Webhook ${id} was created elsewhere and also delivers to ${url}, so deliveries may arrive twice. If you do not need the webhook, run hub-webhooks delete ${id}`;
      skipped.push({ reason: "not-managed", endpoint, id, message });
    }
  };

  const remove = ({ endpoint, id }: ManagedWebhook, skipReason: SkippedWebhook["reason"], reason: string) => {
    if (prune) return void steps.push({ action: "delete", endpoint, id, reason });
    const message = `Webhook ${id} of endpoint "${endpoint}" is not needed: ${reason}. Delete it with --prune (prune: true in code).`;
    skipped.push({ reason: skipReason, endpoint, id, message });
  };

  const existing = managed.flatMap((entry) => {
    const webhook = listed.find(({ id }) => id === entry.id);
    return webhook ? [{ entry, webhook }] : [];
  });
  const unmanaged = listed.filter(({ id }) => !managed.some((entry) => entry.id === id));
  for (const wanted of desired) {
    const atSameUrl = unmanaged.filter(({ url }) => url !== undefined && isSameUrl(url, wanted.url));
    const [first, ...duplicates] = existing.filter(({ entry }) => entry.endpoint === wanted.endpoint);
    if (first) {
      update(wanted, first, { isAdopted: false });
      skipOthers(wanted, atSameUrl);
    } else {
      create(wanted, atSameUrl);
    }
    for (const { entry } of duplicates) {
      remove(entry, "duplicate", `the endpoint already has webhook ${first?.webhook.id}`);
    }
  }
  for (const endpoint of withoutWatch) {
    const message = `Endpoint "${endpoint}" has no webhook because it has no watch list. Set the endpoint's watch option, such as { watch: "dataset:me/data" }.`;
    skipped.push({ reason: "no-watch", endpoint, message });
  }
  for (const { entry } of existing) {
    if (desired.some(({ endpoint }) => endpoint === entry.endpoint)) continue;
    const missing = withoutWatch.includes(entry.endpoint) ? "has a watch list" : "exists";
    remove(entry, "endpoint-removed", `the endpoint no longer ${missing}`);
  }
  return { steps, unreadableSecretIds, skipped, unchanged };
}

function findSecretChange(existing: Existing, { secret, matchingSecretIds }: PlanInput): FieldChange[] {
  const visibility = secretVisibility(existing);
  if (secret === undefined) return [];
  if (secret === null) return visibility === "none" ? [] : [{ field: "secret", change: "removed" }];
  if (visibility === "none") return [{ field: "secret", change: "set" }];
  const { entry, webhook } = existing;
  const isSame = visibility === "readable" ? webhook.secret === secret : matchingSecretIds.has(entry.id);
  return isSame ? [] : [{ field: "secret", change: "changed" }];
}

function planEnabling(
  endpoint: string,
  { id, disabled }: Webhook,
  changes: readonly FieldChange[],
): EnableStep | undefined {
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
  const found = fieldsOf(webhook);
  const desired = fieldsOf(wanted);
  const changesOf = <Field extends keyof WebhookFields>(field: Field): FieldChange[] => {
    const { isSame, format } = fieldRules[field];
    const isNormalized =
      written && returned && isSame(written[field], desired[field]) && isSame(returned[field], found[field]);
    if (isNormalized || isSame(found[field], desired[field])) return [];
    return [{ field, before: format(found[field]), after: format(desired[field]) }];
  };
  return webhookFieldNames.flatMap((field) => changesOf(field));
}

/**
 * Returns whether a webhook has a secret on the Hub, and whether the Hub returns the secret. If the Hub returns no
 * information about the secret, the result depends on the hash of the secret that was last written.
 */
function secretVisibility({
  webhook,
  entry: { secret: stored },
}: Existing): "none" | "readable" | "hidden" | "unknown" {
  if (hasHiddenSecret(webhook)) return "hidden";
  if (webhook.secret !== undefined) return webhook.secret === "" ? "none" : "readable";
  if (webhook.hasSecret === false || stored === null) return "none";
  return stored === undefined ? "unknown" : "hidden";
}
