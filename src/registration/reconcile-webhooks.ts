import { webhooksPath } from "../core/paths.ts";
import type { EndpointDetails } from "../receiver/lifecycle/server-control.ts";
import { applySteps } from "./apply.ts";
import { recordResolved, resolvePending } from "./pending.ts";
import { planSteps, secretVisibility } from "./plan.ts";
import type { HubConnection } from "./register-options.ts";
import type { HubState, RegistrationFile, RegistrationSession } from "./registration-file.ts";
import type { RegistrationReport } from "./report.ts";
import { SecretHasher } from "./secret-hash.ts";

export interface ReconcileOptions {
  client: HubConnection;
  state: RegistrationFile;
  endpoints: readonly Pick<EndpointDetails, "name" | "watch" | "domains">[];
  /** The validated public URL of the server, without a trailing slash. */
  publicUrl: string;
  secret: string | undefined;
  /** Whether to remove existing secrets. Default `false`: if `secret` is not set, webhooks keep their secrets. */
  removeSecret?: boolean;
  /** The session that owns the webhooks. `undefined` for permanent webhooks. */
  session?: RegistrationSession | undefined;
  dryRun?: boolean;
  prune?: boolean;
  adopt?: boolean;
  signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
}

/**
 * Compares the webhooks that endpoints declare with the webhooks on the Hub, and applies the differences.
 *
 * @throws `HubError` if the webhooks cannot be listed, `STATE_UNUSABLE`, and the signal's abort reason.
 */
export async function reconcileWebhooks(options: ReconcileOptions): Promise<RegistrationReport> {
  const { client, state, endpoints, publicUrl, secret, session, dryRun = false, signal, now = Date.now } = options;
  const { prune = false, adopt = false, removeSecret = false } = options;
  // The state is read before the webhooks are listed, because a webhook that is recorded in between must not count as
  // deleted.
  const recorded = state.read();
  const listed = await client.webhooks.list({ signal });
  const isOwn = (entry: { session?: RegistrationSession | undefined }) => entry.session?.id === session?.id;

  const resolved = resolvePending({ pending: recorded.pending.filter(isOwn), state: recorded, listed, now: now() });
  if (resolved.length > 0) {
    recordResolved(recorded, resolved);
    if (!dryRun) await state.change((draft) => recordResolved(draft, resolved));
  }

  const managed = recorded.webhooks.filter(isOwn);
  const ignored = findTemporaryIds(recorded, { isOwn, listed, now: now() });
  const hasher = new SecretHasher(secret);
  const matching = await Promise.all(
    managed.map(async (entry) => ((await hasher.matches(entry.secret)) ? [entry.id] : [])),
  );
  const desired = endpoints
    .filter(({ watch }) => watch.length > 0)
    .map(({ name, watch, domains }) => ({
      endpoint: name,
      url: `${publicUrl}${webhooksPath}${name}`,
      watched: watch,
      domains,
    }));
  const plan = planSteps({
    desired,
    withoutWatch: endpoints.filter(({ watch }) => watch.length === 0).map(({ name }) => name),
    secret,
    removeSecret,
    listed: listed.filter(({ id }) => !ignored.has(id)),
    managed,
    matchingSecretIds: new Set(matching.flat()),
    prune,
    adopt,
    isTemporary: session !== undefined,
  });
  const report = { hubUrl: client.hubUrl, publicUrl, ...plan };
  if (dryRun) return { ...report, done: [], failed: [] };

  const existingIds = listed.map(({ id }) => id);
  const storedSecrets = new Map(managed.map((entry) => [entry.id, entry.secret]));
  const hidden = listed.filter((webhook) => secretVisibility(webhook, storedSecrets.get(webhook.id)) === "hidden");
  const hiddenSecrets = new Set(hidden.map(({ id }) => id));
  const applied = await applySteps(plan.steps, {
    client,
    state,
    secret,
    removeSecret,
    hiddenSecrets,
    hasher,
    desired,
    existingIds,
    session,
    signal,
    now,
  });
  return { ...report, ...applied };
}

/**
 * Finds the temporary webhooks of other sessions, including webhooks that are being created. They are not adopted and
 * do not count as duplicates.
 */
function findTemporaryIds(
  state: HubState,
  {
    isOwn,
    listed,
    now,
  }: {
    isOwn: (entry: { session?: RegistrationSession | undefined }) => boolean;
    listed: Parameters<typeof resolvePending>[0]["listed"];
    now: number;
  },
): ReadonlySet<string | undefined> {
  const isOther = (entry: { session?: RegistrationSession | undefined }) =>
    entry.session !== undefined && !isOwn(entry);
  const created = resolvePending({ pending: state.pending.filter(isOther), state, listed, now });
  return new Set([...state.webhooks.filter(isOther).map(({ id }) => id), ...created.map(({ created }) => created?.id)]);
}
