import { randomUUID } from "node:crypto";
import { HubError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import { webhooksPath } from "../core/urls.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import {
  type ControllableServer,
  type EndpointDetails,
  isControllableServer,
  type ServerDescription,
  serverControl,
} from "../receiver/control.ts";
import type { EndpointRegistration } from "../receiver/counts.ts";
import { planSteps } from "./plan.ts";
import type { CreateStep, FailedStep, RegistrationReport, RegistrationStep, UpdateStep } from "./report.ts";
import {
  type HubState,
  type ManagedWebhook,
  type PendingWebhook,
  RegistrationFile,
  type RegistrationSession,
  recordResolved,
  resolvePending,
  type SecretHash,
  SecretHasher,
  uncertainSecret,
} from "./state.ts";
import {
  type DesiredWebhook,
  fieldsOf,
  type HubConnection,
  type RegisterOptions,
  validatePublicUrl,
  validateSecret,
} from "./webhook.ts";

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
  const isOwn = (entry: ManagedWebhook | PendingWebhook) => entry.session?.id === session?.id;

  const resolved = resolvePending(recorded.pending.filter(isOwn), { state: recorded, listed, now: now() });
  if (resolved.length > 0) {
    recordResolved(recorded, resolved);
    if (!dryRun) await file.change((draft) => recordResolved(draft, resolved));
  }

  const managed = recorded.webhooks.filter(isOwn);
  const ignored = findTemporaryIds(recorded, { session, listed, now: now() });
  const hasher = new SecretHasher(secret ?? undefined);
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
  const applied = await applySteps(plan.steps, { ...options, now, unreadableSecretIds, hasher, desired, existingIds });
  return { ...report, ...applied };
}

/**
 * Returns the IDs of temporary webhooks of other sessions, including webhooks that are being created. These webhooks
 * are not adopted and do not count as duplicates.
 */
function findTemporaryIds(
  state: HubState,
  { session, listed, now }: Pick<ReconcileOptions, "session"> & { listed: readonly Webhook[]; now: number },
): ReadonlySet<string | undefined> {
  const isOther = (entry: ManagedWebhook | PendingWebhook) =>
    entry.session !== undefined && entry.session.id !== session?.id;
  const resolved = resolvePending(state.pending.filter(isOther), { state, listed, now });
  return new Set([...state.webhooks.filter(isOther), ...resolved.map(({ created }) => created)].map((one) => one?.id));
}

interface ApplyOptions extends Pick<ReconcileOptions, "client" | "file" | "secret" | "session" | "signal"> {
  /**
   * The IDs of webhooks that cannot be updated, because the Hub does not return their secrets, and an update without
   * the secret would remove the secret.
   */
  unreadableSecretIds: ReadonlySet<string>;
  hasher: SecretHasher;
  desired: readonly DesiredWebhook[];
  /** The IDs of the webhooks on the Hub. */
  existingIds: readonly string[];
  now: () => number;
}

/**
 * Applies planned steps in order. The state file records each webhook before it is created, and again after it is
 * created, updated, or deleted. If a step fails with a `HubError`, adds the step to `failed` and skips the remaining
 * steps for the same webhook.
 *
 * @throws `STATE_UNUSABLE` and the signal's abort reason. Both errors stop all remaining steps.
 */
async function applySteps(
  steps: readonly RegistrationStep[],
  options: ApplyOptions,
): Promise<Pick<RegistrationReport, "done" | "failed">> {
  const done: RegistrationStep[] = [];
  const failed: FailedStep[] = [];
  for (const step of steps) {
    options.signal?.throwIfAborted();
    // Do not enable a webhook that could not be updated.
    if (step.id !== undefined && failed.some((failure) => failure.step.id === step.id)) continue;
    try {
      done.push(await applyStep(step, options));
    } catch (error) {
      if (!HubError.isInstance(error)) throw error;
      failed.push({ step, error });
    }
  }
  return { done, failed };
}

/** Returns the updates that {@link applySteps} would fail without a request, because they would lose a secret. */
function findFailingUpdates(
  steps: readonly RegistrationStep[],
  unreadableSecretIds: ReadonlySet<string>,
): readonly FailedStep[] {
  return steps.flatMap((step) =>
    step.action === "update" && unreadableSecretIds.has(step.id) ? [{ step, error: secretUnreadable(step.id) }] : [],
  );
}

async function applyStep(step: RegistrationStep, options: ApplyOptions): Promise<RegistrationStep> {
  const { client, signal } = options;
  switch (step.action) {
    case "create":
      return { ...step, id: await createWebhook(step, options) };
    case "update":
      await updateWebhook(step, options);
      return step;
    case "enable":
    case "re-enable":
      await client.webhooks.enable(step.id, { signal });
      return step;
    case "delete":
      await deleteWebhook(step.id, options);
      return step;
  }
}

async function createWebhook(
  step: CreateStep,
  { client, file, hasher, secret, existingIds, session, signal, now }: ApplyOptions,
): Promise<string> {
  const key = randomUUID();
  const written = fieldsOf(step);
  const entry = { endpoint: step.endpoint, secret: await hasher.hash(), written, session };
  const startedAt = new Date(now()).toISOString();
  await file.change(({ pending }) => {
    pending.push({ key, ...entry, existingIds: [...existingIds], startedAt });
  });
  let webhook: Webhook;
  try {
    webhook = await client.webhooks.create({ ...written, ...(typeof secret === "string" && { secret }) }, { signal });
  } catch (error) {
    if (isRejection(error)) await file.change((draft) => removePending(draft, key));
    throw error;
  }
  await file.change((draft) => {
    removePending(draft, key);
    putWebhook(draft, { id: webhook.id, ...entry, returned: fieldsOf(webhook) });
  });
  return webhook.id;
}

async function updateWebhook(
  { id, endpoint, changes: planned }: UpdateStep,
  { client, file, hasher, secret, unreadableSecretIds, desired, session, signal }: ApplyOptions,
): Promise<void> {
  const wanted = desired.find((candidate) => candidate.endpoint === endpoint);
  if (!wanted) return;
  if (unreadableSecretIds.has(id)) throw secretUnreadable(id);
  // The Hub replaces the whole webhook. If `secret` is omitted, the client sends the webhook's current secret.
  const written = fieldsOf(wanted);
  const changes = { ...written, ...(secret !== undefined && { secret }) };
  const former = file.read().webhooks.find((managed) => managed.id === id)?.secret;
  const isSecretRecorded = former !== undefined && planned.some(({ field }) => field === "secret");
  // Otherwise, if the response is lost and the change is then undone, the former hash would match.
  if (isSecretRecorded) await file.change((draft) => setSecret(draft, { id, secret: uncertainSecret }));
  let webhook: Webhook;
  try {
    webhook = await client.webhooks.update(id, changes, { signal });
  } catch (error) {
    if (isSecretRecorded && isRejection(error)) await file.change((draft) => setSecret(draft, { id, secret: former }));
    throw error;
  }
  const entry = { id, endpoint, written, returned: fieldsOf(webhook), session };
  const newSecret = secret === undefined ? {} : { secret: await hasher.hash() };
  await file.change((draft) => {
    const previous = draft.webhooks.find((managed) => managed.id === id)?.secret;
    putWebhook(draft, { secret: previous, ...entry, ...newSecret });
  });
}

/**
 * Deletes a managed webhook and its entry in the state file. If the webhook no longer exists, deletes only the entry.
 *
 * @throws `HubError`, `STATE_UNUSABLE`.
 */
export async function deleteWebhook(
  webhookId: string,
  { client, file, signal }: Pick<ApplyOptions, "client" | "file" | "signal">,
): Promise<void> {
  try {
    await client.webhooks.delete(webhookId, { signal });
  } catch (error) {
    if (!HubError.isInstance(error) || error.code !== "HUB_NOT_FOUND") throw error;
  }
  await file.change((draft) => {
    draft.webhooks = draft.webhooks.filter(({ id }) => id !== webhookId);
  });
}

function putWebhook(state: HubState, webhook: ManagedWebhook): void {
  state.webhooks = [...state.webhooks.filter(({ id }) => id !== webhook.id), webhook];
}

function setSecret(state: HubState, { id, secret }: { id: string; secret: SecretHash }): void {
  for (const managed of state.webhooks) if (managed.id === id) managed.secret = secret;
}

function removePending(state: HubState, key: string): void {
  state.pending = state.pending.filter((entry) => entry.key !== key);
}

function secretUnreadable(id: string): HubError {
  return new HubError(
    `Webhook ${id} cannot be updated: the Hub does not return its secret, and an update without the secret would remove it. Set WEBHOOK_SECRET, pass the secret with --secret-stdin, or remove it with --remove-secret (removeSecret: true in code).`,
    { code: "VALUE_UNREADABLE", fields: ["secret"] },
  );
}

/** Whether the error proves that the Hub changed nothing. After any other error, it may have made the change. */
function isRejection(error: unknown): boolean {
  if (!HubError.isInstance(error)) return false;
  // The cause is an earlier attempt, which the Hub may have processed.
  if (error.status !== undefined) return error.status >= 400 && error.status <= 499 && error.cause === undefined;
  return ["ARGUMENT_INVALID", "HUB_TOKEN_MISSING", "HUB_TOKEN_INVALID"].includes(error.code);
}

export async function registerServer(
  server: ControllableServer,
  client: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  if (!isControllableServer(server)) {
    throw optionError(
      "The first argument of register() is not a WebhooksServer, or it was created by an incompatible version of hub-webhooks. Pass a WebhooksServer, and install only one version of the package.",
    );
  }
  const control = server[serverControl];
  const report = await registerDescription(control.describe(), client, options);
  control.setRegistrations(registrationsOf(report));
  return report;
}

function registrationsOf({ steps, done, unchanged }: RegistrationReport): Map<string, EndpointRegistration> {
  const registrations = new Map<string, EndpointRegistration>();
  for (const { action, endpoint } of steps) {
    if (action !== "delete") registrations.set(endpoint, action === "create" ? "missing" : "registered");
  }
  for (const { action, endpoint } of done) if (action === "create") registrations.set(endpoint, "registered");
  for (const { endpoint } of unchanged) registrations.set(endpoint, "registered");
  return registrations;
}

/** Implements `hub-webhooks sync`. */
export async function registerDescription(
  server: ServerDescription,
  client: HubConnection,
  options: RegisterOptions,
): Promise<RegistrationReport> {
  const { dryRun = false, prune = false, adopt = false, removeSecret = false, signal } = options;
  const publicUrl = validatePublicUrl(options.publicUrl, { hubUrl: client.hubUrl });
  const secret = validateSecret(options.secret ?? server.secret);
  if (removeSecret && secret !== undefined) {
    throw optionError(
      'Option "removeSecret" cannot be combined with a secret. To remove the secret, unset WEBHOOK_SECRET and omit the "secret" option of the server. To keep the secret, omit "removeSecret".',
    );
  }
  const file = new RegistrationFile({ path: options.state, hubUrl: client.hubUrl });
  const reconciled = { client, file, endpoints: server.endpoints, publicUrl, secret: removeSecret ? null : secret };
  const run = () => reconcileWebhooks({ ...reconciled, dryRun, prune, adopt, signal });
  // Run one registration at a time. Two at the same time would create every missing webhook twice.
  return dryRun ? run() : file.runExclusive(run, { signal });
}
