import { webhooksPath } from "../receiver/delivery-request.ts";
import type { EndpointDetails } from "../receiver/server-details.ts";
import type { HubConnection } from "./hub-connection.ts";
import { noteResolved, resolvePending } from "./pending.ts";
import { planRegistration, storedSecret } from "./plan.ts";
import type { LeftAlone, RegistrationStep } from "./report.ts";
import { SecretHashes } from "./secret-hash.ts";
import type { HubState, RegistrationSession } from "./state.ts";
import type { StateFile } from "./state-file.ts";
import { type FailedStep, StepRunner } from "./step-runner.ts";

/** What a registration has done, or would do. */
export interface RegistrationReport {
  /** Address of the Hub. */
  readonly hub: string;
  /** Public address of the server. */
  readonly baseUrl: string;
  /** What there was to do, in this order; nothing where all was in step. */
  readonly steps: readonly RegistrationStep[];
  /** What of that was done: nothing in a dry run. */
  readonly done: readonly RegistrationStep[];
  /** What could not be done, with the reason. What would have followed for the same webhook was not tried. */
  readonly failed: readonly FailedStep[];
  /** What there is to say of what was left as it is. */
  readonly left: readonly LeftAlone[];
  /** The webhooks that are as they should be. */
  readonly unchanged: readonly { readonly endpoint: string; readonly id: string }[];
}

/** What {@link bringInStep} needs. */
export interface BringInStepOptions {
  hub: HubConnection;
  state: StateFile;
  endpoints: readonly Pick<EndpointDetails, "name" | "watch" | "domains">[];
  /** Checked, without a trailing slash. */
  baseUrl: string;
  secret: string | undefined;
  /** Whether to remove the secrets that the webhooks have. Default `false`: without `secret`, they are kept. */
  removeSecret?: boolean;
  /** Whose webhooks are meant; absent: those that are to stay. */
  session?: RegistrationSession | undefined;
  dryRun?: boolean;
  prune?: boolean;
  adopt?: boolean;
  signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
}

/**
 * Compares what endpoints want with what the Hub has, and does what differs.
 *
 * @throws `HubError` when the Hub does not list the webhooks, `STATE_UNUSABLE`, and the reason of the signal.
 */
export async function bringInStep(options: BringInStepOptions): Promise<RegistrationReport> {
  const { hub, state, endpoints, baseUrl, secret, session, dryRun = false, signal, now = Date.now } = options;
  const { prune = false, adopt = false, removeSecret = false } = options;
  // Before the list: what is noted later is not thought to be gone.
  const noted = state.read();
  const listed = await hub.webhooks.list({ signal });
  const isOurs = (entry: { session?: RegistrationSession | undefined }) => entry.session?.id === session?.id;

  const resolved = resolvePending({ pending: noted.pending.filter(isOurs), state: noted, listed, now: now() });
  if (resolved.length > 0) {
    noteResolved(noted, resolved);
    if (!dryRun) await state.change((noting) => noteResolved(noting, resolved));
  }

  const known = noted.webhooks.filter(isOurs);
  const others = noted.pending.filter((entry) => entry.session !== undefined && !isOurs(entry));
  const madeByOthers = resolvePending({ pending: others, state: noted, listed, now: now() }).map(
    ({ made }) => made?.id,
  );
  const elsewhere = new Set([...temporaryIds(noted, { isOurs }), ...madeByOthers]);
  const hashes = new SecretHashes(secret);
  const recognised = await Promise.all(
    known.map(async (entry) => ((await hashes.isNoted(entry.secret)) ? [entry.id] : [])),
  );
  const desired = endpoints
    .filter(({ watch }) => watch.length > 0)
    .map(({ name, watch, domains }) => ({
      ...{ endpoint: name, url: `${baseUrl}${webhooksPath}${name}` },
      ...{ watched: watch, domains },
    }));
  const plan = planRegistration({
    desired,
    notWatching: endpoints.filter(({ watch }) => watch.length === 0).map(({ name }) => name),
    secret,
    removeSecret,
    listed: listed.filter(({ id }) => !elsewhere.has(id)),
    known,
    secretIsNoted: new Set(recognised.flat()),
    prune,
    adopt,
    isTemporary: session !== undefined,
  });
  const report = { hub: hub.endpoint, baseUrl, ...plan };
  if (dryRun) return { ...report, done: [], failed: [] };

  const before = listed.map(({ id }) => id);
  const notedSecrets = new Map(known.map(({ id, secret: noted }) => [id, noted]));
  const hidden = listed.filter((webhook) => storedSecret(webhook, notedSecrets.get(webhook.id)) === "hidden");
  const hiddenSecrets = new Set(hidden.map(({ id }) => id));
  const runner = new StepRunner({
    ...{ hub, state, secret, removeSecret, hiddenSecrets, hashes, desired, before, session, signal, now },
  });
  await runner.run(plan.steps);
  return { ...report, done: runner.done, failed: runner.failed };
}

/** The webhooks that others have made for a while: they are nobody's to take over, and hinder nobody. */
function temporaryIds(
  { webhooks }: HubState,
  { isOurs }: { isOurs: (entry: HubState["webhooks"][number]) => boolean },
): readonly string[] {
  return webhooks.filter((entry) => entry.session !== undefined && !isOurs(entry)).map(({ id }) => id);
}
