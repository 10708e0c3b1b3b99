import { randomUUID } from "node:crypto";
import { HubError } from "../core/errors.ts";
import type { Webhook, WebhookRequest } from "../hub/webhooks/schemas.ts";
import type { HubConnection } from "./hub-connection.ts";
import type { CreateStep, RegistrationStep, UpdateStep } from "./report.ts";
import type { SecretHashes } from "./secret-hash.ts";
import type { HubState, KnownWebhook, RegistrationSession } from "./state.ts";
import type { StateFile } from "./state-file.ts";
import { type DesiredWebhook, targetOf } from "./target.ts";

/** A step that failed, and why. The others were tried all the same. */
export interface FailedStep {
  readonly step: RegistrationStep;
  readonly error: HubError;
}

/** What a {@link StepRunner} needs. */
export interface StepRunnerOptions {
  hub: HubConnection;
  state: StateFile;
  /** The secret to write; `undefined` keeps what each webhook has, unless `removeSecret` is set. */
  secret: string | undefined;
  removeSecret: boolean;
  /** The ids of the webhooks whose secret the Hub does not return. */
  hiddenSecrets: ReadonlySet<string>;
  hashes: SecretHashes;
  desired: readonly DesiredWebhook[];
  /** The ids of the webhooks that the Hub has. */
  before: readonly string[];
  /** For whom the webhooks are made; absent where they are to stay. */
  session: RegistrationSession | undefined;
  signal: AbortSignal | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Carries out what was planned, and notes what is ours: before a webhook is made, and after each change. */
export class StepRunner {
  readonly done: RegistrationStep[] = [];
  readonly failed: FailedStep[] = [];
  readonly #options: StepRunnerOptions;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
  }

  /**
   * Carries out one step after the other. What the Hub refuses is kept in `failed`, and of the same webhook nothing more
   * is done.
   *
   * @throws `STATE_UNUSABLE` and the reason of the signal: then nothing more is done at all.
   */
  async run(steps: readonly RegistrationStep[]): Promise<void> {
    for (const step of steps) {
      this.#options.signal?.throwIfAborted();
      // A webhook that could not be mended is not enabled either.
      if (step.id !== undefined && this.failed.some((failure) => failure.step.id === step.id)) continue;
      try {
        this.done.push(await this.#carryOut(step));
      } catch (error) {
        if (!HubError.isInstance(error)) throw error;
        this.failed.push({ step, error });
      }
    }
  }

  async #carryOut(step: RegistrationStep): Promise<RegistrationStep> {
    const { hub, state, signal } = this.#options;
    switch (step.action) {
      case "create":
        return { ...step, id: await this.#create(step) };
      case "update":
        await this.#update(step);
        return step;
      case "enable":
      case "re-enable":
        await hub.webhooks.enable(step.id, { signal });
        return step;
      case "delete":
        await deleteWebhook({ hub, state, signal }, step.id);
        return step;
    }
  }

  async #create(step: CreateStep): Promise<string> {
    const { hub, state, hashes, secret, before, session, signal, now } = this.#options;
    const key = randomUUID();
    const written = targetOf(step);
    const noted = { endpoint: step.endpoint, secret: await hashes.note(), written, ...(session && { session }) };
    const notedAt = new Date(now()).toISOString();
    await state.change(({ pending }) => void pending.push({ key, ...noted, before: [...before], notedAt }));
    let webhook: Webhook;
    try {
      webhook = await hub.webhooks.create({ ...requestOf(step), ...(secret !== undefined && { secret }) }, { signal });
    } catch (error) {
      if (isRefusal(error)) await state.change((noting) => forget(noting, { key }));
      throw error;
    }
    await state.change((noting) => {
      forget(noting, { key });
      note(noting, { id: webhook.id, ...noted, answered: targetOf(webhook) });
    });
    return webhook.id;
  }

  async #update({ id, endpoint }: UpdateStep): Promise<void> {
    const { hub, state, hashes, secret, removeSecret, hiddenSecrets, desired, session, signal } = this.#options;
    const wanted = desired.find((candidate) => candidate.endpoint === endpoint);
    if (!wanted) return;
    const isKept = secret === undefined && !removeSecret;
    if (isKept && hiddenSecrets.has(id)) throw secretUnreadable(id);
    // The Hub writes a webhook whole: without a secret here, the client sends back the one that it has read.
    const changes = { ...requestOf(wanted), ...(!isKept && { secret: secret ?? null }) };
    const webhook = await hub.webhooks.update(id, changes, { signal });
    const noted = { id, endpoint, written: targetOf(wanted), answered: targetOf(webhook), ...(session && { session }) };
    const written = isKept ? {} : { secret: await hashes.note() };
    await state.change((noting) => {
      const before = noting.webhooks.find((entry) => entry.id === id)?.secret;
      note(noting, { ...(before !== undefined && { secret: before }), ...noted, ...written });
    });
  }
}

/**
 * Deletes a webhook of ours and forgets it. One that is gone already is only forgotten.
 *
 * @throws `HubError`, `STATE_UNUSABLE`.
 */
export async function deleteWebhook(
  { hub, state, signal }: Pick<StepRunnerOptions, "hub" | "state" | "signal">,
  webhookId: string,
): Promise<void> {
  try {
    await hub.webhooks.delete(webhookId, { signal });
  } catch (error) {
    if (!HubError.isInstance(error) || error.code !== "HUB_NOT_FOUND") throw error;
  }
  await state.change((noting) => {
    noting.webhooks = noting.webhooks.filter(({ id }) => id !== webhookId);
  });
}

function requestOf({ url, watched, domains }: DesiredWebhook): Pick<WebhookRequest, "url" | "watched" | "domains"> {
  return { url, watched: watched.map(({ type, name }) => ({ type, name })), domains: [...domains] };
}

function note(state: HubState, webhook: KnownWebhook): void {
  state.webhooks = [...state.webhooks.filter(({ id }) => id !== webhook.id), webhook];
}

function forget(state: HubState, { key }: { key: string }): void {
  state.pending = state.pending.filter((entry) => entry.key !== key);
}

function secretUnreadable(id: string): HubError {
  return new HubError(
    `Nothing was written: webhook ${id} has a secret that the Hub does not return, and an update without it would remove it. Set WEBHOOK_SECRET, give the secret with --secret-stdin, or remove it with --remove-secret (removeSecret: true in code).`,
    { code: "VALUE_UNREADABLE", fields: ["secret"] },
  );
}

/** Whether nothing can have been made: of any other failure, the answer alone may be lost. */
function isRefusal(error: unknown): boolean {
  if (!HubError.isInstance(error)) return false;
  if (error.status !== undefined) return error.status >= 400 && error.status <= 499;
  return ["ARGUMENT_INVALID", "TOKEN_MISSING", "TOKEN_INVALID"].includes(error.code);
}
