import type { EndpointDetails } from "../receiver/control.ts";
import { applySteps, findFailingUpdates } from "./apply.ts";
import { planSteps } from "./plan.ts";
import type { RegistrationReport } from "./report.ts";
import { type HubState, type RegistrationFile, type RegistrationSession, SecretHasher } from "./state.ts";
import { type HubConnection, recordResolved, resolvePending, toDesiredWebhook } from "./webhook.ts";

export interface ReconcileOptions {
  client: HubConnection;
  file: RegistrationFile;
  endpoints: readonly Pick<EndpointDetails, "name" | "watch" | "domains">[];
  /** The validated public URL of the server, without a trailing slash. */
  publicUrl: string;
  /** The secret of all webhooks. `undefined` keeps existing secrets, and `null` removes them. */
  secret: string | null | undefined;
  /** The session that owns the webhooks. `undefined` for permanent webhooks. */
  session?: RegistrationSession | undefined;
  dryRun?: boolean;
  prune?: boolean;
  adopt?: boolean;
  signal?: AbortSignal | undefined;
  /** Returns the time in milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
}

/**
 * Compares the webhooks that endpoints declare with the webhooks on the Hub, and plans the steps that resolve the
 * differences. Applies the steps unless `dryRun` is `true`.
 *
 * @throws `HubError` if the webhooks cannot be listed, `STATE_UNUSABLE` if the state file cannot be used, and the signal's abort
 *   reason. Failed steps are in `failed` of the report.
 */
export async function reconcileWebhooks(options: ReconcileOptions): Promise<RegistrationReport> {
  const { client, file, endpoints, publicUrl, secret, session, dryRun = false, signal, now = Date.now } = options;
  const { prune = false, adopt = false } = options;
  // Read the file before listing the webhooks. Otherwise, a webhook that is created after the listing could be recorded
  // but not listed, and would count as deleted.
  const recorded = file.read();
  const listed = await client.webhooks.list({ signal });
  const isOwn = (entry: { session?: RegistrationSession | undefined }) => entry.session?.id === session?.id;

  const resolved = resolvePending({ pending: recorded.pending.filter(isOwn), state: recorded, listed, now: now() });
  if (resolved.length > 0) {
    recordResolved(recorded, resolved);
    if (!dryRun) await file.change((draft) => recordResolved(draft, resolved));
  }

  const managed = recorded.webhooks.filter(isOwn);
  const ignored = findTemporaryIds(recorded, { isOwn, listed, now: now() });
  const hasher = new SecretHasher(secret ?? undefined);
  const matching = await Promise.all(
    managed.map(async (entry) => ((await hasher.matches(entry.secret)) ? [entry.id] : [])),
  );
  const desired = endpoints
    .filter(({ watch }) => watch.length > 0)
    .map((endpoint) => toDesiredWebhook(endpoint, publicUrl));
  const { unreadableSecretIds, ...plan } = planSteps({
    desired,
    withoutWatch: endpoints.filter(({ watch }) => watch.length === 0).map(({ name }) => name),
    secret,
    listed: listed.filter(({ id }) => !ignored.has(id)),
    managed,
    matchingSecretIds: new Set(matching.flat()),
    prune,
    adopt,
    isTemporary: session !== undefined,
  });
  const report = { hubUrl: client.hubUrl, publicUrl, ...plan };
  if (dryRun) return { ...report, done: [], failed: findFailingUpdates(plan.steps, unreadableSecretIds) };

  const existingIds = listed.map(({ id }) => id);
  const applied = await applySteps(plan.steps, {
    client,
    file,
    secret,
    unreadableSecretIds,
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
 * Returns the IDs of temporary webhooks of other sessions, including webhooks that are being created. These webhooks
 * are not adopted and do not count as duplicates.
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
