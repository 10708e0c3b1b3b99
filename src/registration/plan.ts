import { maskUrl } from "../core/urls.ts";
import { hidesSecret } from "../hub/webhooks/changes.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import type { EnableStep, FieldChange, LeftAlone, RegistrationStep, SecretChange } from "./report.ts";
import type { KnownWebhook, NotedSecret } from "./state.ts";
import { type DesiredWebhook, sameSet, sameUrl, sameWatched, watchedTexts } from "./target.ts";

/** What a plan is made from. */
export interface PlanInput {
  /** A webhook for each endpoint that says what to watch. */
  desired: readonly DesiredWebhook[];
  /** The names of the other endpoints. */
  notWatching: readonly string[];
  /** The secret that each webhook is to have; `undefined` leaves each with the one it has. */
  secret: string | undefined;
  /** Whether to remove the secret that a webhook has. Default `false`. */
  removeSecret?: boolean;
  /** What the Hub lists, but for webhooks that are made for a while only and are not meant here. */
  listed: readonly Webhook[];
  /** The webhooks that are ours. Those that are gone on the Hub do not count. */
  known: readonly KnownWebhook[];
  /** The ids of those of which we know that they were given this very secret. */
  secretIsNoted: ReadonlySet<string>;
  /** Whether to delete what is ours and no endpoint's any more. */
  prune: boolean;
  /** Whether to take over what is not ours and delivers to an endpoint. */
  adopt: boolean;
  /** Whether the webhooks are made for a while only. Default `false`. */
  isTemporary?: boolean;
}

/** What is to be done, and what not. */
export interface Plan {
  steps: RegistrationStep[];
  left: LeftAlone[];
  unchanged: { endpoint: string; id: string }[];
}

/** A webhook that is ours, as we know it and as the Hub tells it. */
interface Own {
  known: KnownWebhook;
  webhook: Webhook;
}

/**
 * Says what is to be done so that the Hub has what is desired. It does nothing, and asks nobody.
 *
 * What differs from what is desired is updated, unless it was written like that and only the Hub puts it in other words.
 */
export function planRegistration(input: PlanInput): Plan {
  const { desired, notWatching, listed, known } = input;
  const plan: Plan = { steps: [], left: [], unchanged: [] };
  const own = known.flatMap((entry) => {
    const webhook = listed.find(({ id }) => id === entry.id);
    return webhook ? [{ known: entry, webhook }] : [];
  });
  const foreign = listed.filter(({ id }) => !known.some((entry) => entry.id === id));

  for (const wanted of desired) {
    const strangers = foreign.filter(({ url }) => url !== undefined && sameUrl(url, wanted.url));
    const [mine, ...surplus] = own.filter((candidate) => candidate.known.endpoint === wanted.endpoint);
    if (mine) planExisting(plan, { wanted, own: mine, input, isAdopted: false });
    else planMissing(plan, { wanted, strangers, input });
    if (mine) strangers.forEach((stranger) => void plan.left.push(deliversToo(stranger, wanted)));
    for (const { webhook } of surplus) {
      planNeedless(plan, {
        ...{ endpoint: wanted.endpoint, id: webhook.id, input },
        ...{ reason: "surplus", why: `the endpoint has webhook ${mine?.webhook.id} already` },
      });
    }
  }
  for (const endpoint of notWatching) plan.left.push(notWatched(endpoint));
  for (const { known: entry } of own) {
    if (desired.some(({ endpoint }) => endpoint === entry.endpoint)) continue;
    const isThere = notWatching.includes(entry.endpoint);
    planNeedless(plan, {
      ...{ endpoint: entry.endpoint, id: entry.id, input, reason: "endpoint-gone" },
      why: isThere ? "the endpoint no longer says what to watch" : "the endpoint is gone",
    });
  }
  return plan;
}

function planMissing(
  plan: Plan,
  { wanted, strangers, input }: { wanted: DesiredWebhook; strangers: readonly Webhook[]; input: PlanInput },
): void {
  const [first, ...others] = strangers;
  if (first === undefined) {
    plan.steps.push({ action: "create", ...wanted, secretIsSet: input.secret !== undefined });
    return;
  }
  if (!input.adopt) {
    for (const stranger of strangers) plan.left.push(notOurs(stranger, wanted, input));
    return;
  }
  const taken = { id: first.id, endpoint: wanted.endpoint };
  planExisting(plan, { wanted, own: { known: taken, webhook: first }, input, isAdopted: true });
  for (const stranger of others) plan.left.push(deliversToo(stranger, wanted));
}

function planExisting(
  plan: Plan,
  { wanted, own, input, isAdopted }: { wanted: DesiredWebhook; own: Own; input: PlanInput; isAdopted: boolean },
): void {
  const { endpoint } = wanted;
  const { id } = own.webhook;
  const changes = [...targetChanges(own, wanted), ...secretChanges(own, input)];
  if (changes.length > 0 || isAdopted) plan.steps.push({ action: "update", endpoint, id, changes, isAdopted });
  const enabling = enableStep({ endpoint, webhook: own.webhook, changes });
  if (enabling) plan.steps.push(enabling);
  if (input.secret === undefined && !input.removeSecret && hasSecret(own)) plan.left.push(secretKept(own, wanted));
  if (changes.length === 0 && !isAdopted && !enabling) plan.unchanged.push({ endpoint, id });
}

function planNeedless(
  plan: Plan,
  needless: {
    endpoint: string;
    id: string;
    input: PlanInput;
    reason: "endpoint-gone" | "surplus";
    why: string;
  },
): void {
  const { endpoint, id, input, reason, why } = needless;
  if (input.prune) plan.steps.push({ action: "delete", endpoint, id, why });
  else {
    const message = `Webhook ${id} was made for endpoint "${endpoint}", and ${why}: it is left as it is. Delete it with --prune (prune: true in code).`;
    plan.left.push({ reason, endpoint, id, message });
  }
}

function targetChanges({ known, webhook }: Own, wanted: DesiredWebhook): FieldChange[] {
  const { written, answered } = known;
  const url = webhook.url ?? "";
  const isUrlKept =
    sameUrl(url, wanted.url) || (written?.url === wanted.url && answered !== undefined && answered.url === url);
  const isWatchedKept =
    sameWatched(webhook.watched, wanted.watched) ||
    (written !== undefined &&
      answered !== undefined &&
      sameWatched(written.watched, wanted.watched) &&
      sameWatched(answered.watched, webhook.watched));
  const areDomainsKept =
    sameSet(webhook.domains, wanted.domains) ||
    (written !== undefined &&
      answered !== undefined &&
      sameSet(written.domains, wanted.domains) &&
      sameSet(answered.domains, webhook.domains));
  return [
    ...(isUrlKept ? [] : [changed("url", url === "" ? "none: it runs a job" : maskUrl(url), wanted.url)]),
    ...(isWatchedKept
      ? []
      : [changed("watched", list(watchedTexts(webhook.watched)), list(watchedTexts(wanted.watched)))]),
    ...(areDomainsKept ? [] : [changed("domains", list(webhook.domains), list(wanted.domains))]),
  ];
}

function changed(field: "url" | "watched" | "domains", before: string, after: string): FieldChange {
  return { field, before, after };
}

function list(texts: readonly string[]): string {
  return [...texts].sort().join(", ");
}

function secretChanges(own: Own, input: PlanInput): FieldChange[] {
  const change = secretChange(own, input);
  return change === undefined ? [] : [{ field: "secret", change }];
}

function secretChange(own: Own, { secret, removeSecret, secretIsNoted }: PlanInput): SecretChange | undefined {
  const stored = storedSecret(own.webhook, own.known.secret);
  if (secret === undefined) return removeSecret && stored !== "none" ? "removed" : undefined;
  if (stored === "none") return "set";
  const isSame = stored === "readable" ? own.webhook.secret === secret : secretIsNoted.has(own.known.id);
  return isSame ? undefined : "changed";
}

function hasSecret({ webhook, known }: Own): boolean {
  return ["readable", "hidden"].includes(storedSecret(webhook, known.secret));
}

/**
 * Returns whether a webhook has a secret on the Hub, and whether a read returns it. For a Hub that returns nothing about
 * secrets, what was written last counts.
 *
 * @param noted what was written last; `undefined` where that is unknown.
 */
export function storedSecret(
  webhook: Webhook,
  noted: NotedSecret | undefined,
): "none" | "readable" | "hidden" | "unknown" {
  if (hidesSecret(webhook)) return "hidden";
  if (webhook.secret !== undefined) return webhook.secret === "" ? "none" : "readable";
  if (webhook.hasSecret === false || noted === null) return "none";
  return noted === undefined ? "unknown" : "hidden";
}

function enableStep({
  endpoint,
  webhook,
  changes,
}: {
  endpoint: string;
  webhook: Webhook;
  changes: readonly FieldChange[];
}): EnableStep | undefined {
  const { id, disabled } = webhook;
  if (disabled === false) return undefined;
  if (disabled === true) return { action: "enable", endpoint, id, why: "it was disabled" };
  const causes = changes.flatMap((change) => {
    if (change.field === "url") return [`they went to ${change.before}`];
    return change.field === "secret" ? ["they had another secret"] : [];
  });
  const probably = causes.length > 0 ? `, probably since ${causes.join(" and ")}` : "";
  return {
    ...{ action: "re-enable", endpoint, id },
    why: `the Hub has suspended it, since its deliveries failed for too long${probably}`,
    remedy: `See that endpoint "${endpoint}" answers with 2xx: its log says what failed, and so does the Activity tab of the webhook's page on the Hub.`,
  };
}

function notOurs({ id }: Webhook, { endpoint, url }: DesiredWebhook, { isTemporary }: PlanInput): LeftAlone {
  const remedy = isTemporary
    ? `What it delivers is accepted only if it has the secret that the server asks for now. If it is not needed: hub-webhooks delete ${id}`
    : `Take it over with --adopt (adopt: true in code), or delete it: hub-webhooks delete ${id}`;
  return {
    ...{ reason: "not-ours", endpoint, id },
    message: `Webhook ${id} delivers to ${url} already, and was not made here: no second one is made, which would deliver everything twice. ${remedy}`,
  };
}

function deliversToo({ id }: Webhook, { endpoint, url }: DesiredWebhook): LeftAlone {
  return {
    ...{ reason: "not-ours", endpoint, id },
    message: `Webhook ${id}, which was not made here, delivers to ${url} too, so that deliveries may come twice. If it is not needed: hub-webhooks delete ${id}`,
  };
}

function secretKept({ webhook: { id } }: Own, { endpoint }: DesiredWebhook): LeftAlone {
  return {
    ...{ reason: "secret-kept", endpoint, id },
    message: `Webhook ${id} has a secret on the Hub, and the server has none: the secret is kept. Set WEBHOOK_SECRET for the server and for sync, or remove the secret from the Hub with --remove-secret (removeSecret: true in code).`,
  };
}

function notWatched(endpoint: string): LeftAlone {
  return {
    ...{ reason: "not-watching", endpoint },
    message: `Endpoint "${endpoint}" does not say what to watch, so no webhook is made for it: give it the option watch, as in { watch: "dataset:me/data" }.`,
  };
}
