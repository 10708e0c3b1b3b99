import { randomUUID } from "node:crypto";
import { HubError } from "../core/errors.ts";
import type { Webhook, WebhookRequest } from "../hub/webhooks/schemas.ts";
import type { HubWebhooks } from "../hub/webhooks/webhooks.ts";
import type { CreateStep, DesiredWebhook, FailedStep, RegistrationStep, UpdateStep } from "./report.ts";
import type { SecretHasher } from "./secret-hash.ts";
import type { HubState, ManagedWebhook, RegistrationSession, StateFile } from "./state-file.ts";
import { targetOf } from "./webhook-fields.ts";

/** The Hub on which webhooks are registered: a `HubClient`. */
export interface HubConnection {
  /** Its address, which identifies the Hub in the state file. */
  readonly endpoint: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}

interface StepRunnerOptions {
  hub: HubConnection;
  state: StateFile;
  /** The secret to write; `undefined` keeps the secret of each webhook, unless `removeSecret` is set. */
  secret: string | undefined;
  removeSecret: boolean;
  /** The ids of the webhooks whose secret the Hub does not return. */
  hiddenSecrets: ReadonlySet<string>;
  hasher: SecretHasher;
  desired: readonly DesiredWebhook[];
  /** The ids of the webhooks on the Hub. */
  existingIds: readonly string[];
  /** The owner of temporary webhooks; absent for permanent ones. */
  session: RegistrationSession | undefined;
  signal: AbortSignal | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Executes planned steps and records managed webhooks: before a webhook is created, and after each change. */
export class StepRunner {
  readonly done: RegistrationStep[] = [];
  readonly failed: FailedStep[] = [];
  readonly #options: StepRunnerOptions;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
  }

  /**
   * Executes the steps in order. A step that the Hub rejects is added to `failed`, and the remaining steps for the same
   * webhook are skipped.
   *
   * @throws `STATE_UNUSABLE` and the reason of the signal, which stop all remaining steps.
   */
  async run(steps: readonly RegistrationStep[]): Promise<void> {
    for (const step of steps) {
      this.#options.signal?.throwIfAborted();
      // A webhook that could not be updated must not be enabled.
      if (step.id !== undefined && this.failed.some((failure) => failure.step.id === step.id)) continue;
      try {
        this.done.push(await this.#execute(step));
      } catch (error) {
        if (!HubError.isInstance(error)) throw error;
        this.failed.push({ step, error });
      }
    }
  }

  async #execute(step: RegistrationStep): Promise<RegistrationStep> {
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
    const { hub, state, hasher, secret, existingIds, session, signal, now } = this.#options;
    const key = randomUUID();
    const written = targetOf(step);
    const entry = { endpoint: step.endpoint, secret: await hasher.hash(), written, ...(session && { session }) };
    const startedAt = new Date(now()).toISOString();
    await state.change(({ pending }) => {
      pending.push({ key, ...entry, existingIds: [...existingIds], startedAt });
    });
    let webhook: Webhook;
    try {
      webhook = await hub.webhooks.create({ ...toRequest(step), ...(secret !== undefined && { secret }) }, { signal });
    } catch (error) {
      if (isRejection(error)) await state.change((draft) => removePending(draft, { key }));
      throw error;
    }
    await state.change((draft) => {
      removePending(draft, { key });
      putWebhook(draft, { id: webhook.id, ...entry, returned: targetOf(webhook) });
    });
    return webhook.id;
  }

  async #update({ id, endpoint }: UpdateStep): Promise<void> {
    const { hub, state, hasher, secret, removeSecret, hiddenSecrets, desired, session, signal } = this.#options;
    const wanted = desired.find((candidate) => candidate.endpoint === endpoint);
    if (!wanted) return;
    const keepsSecret = secret === undefined && !removeSecret;
    if (keepsSecret && hiddenSecrets.has(id)) throw secretUnreadable(id);
    // The Hub replaces the whole webhook: without a secret here, the client sends back the one it has read.
    const changes = { ...toRequest(wanted), ...(!keepsSecret && { secret: secret ?? null }) };
    const webhook = await hub.webhooks.update(id, changes, { signal });
    const entry = { id, endpoint, written: targetOf(wanted), returned: targetOf(webhook), ...(session && { session }) };
    const newSecret = keepsSecret ? {} : { secret: await hasher.hash() };
    await state.change((draft) => {
      const previous = draft.webhooks.find((managed) => managed.id === id)?.secret;
      putWebhook(draft, { ...(previous !== undefined && { secret: previous }), ...entry, ...newSecret });
    });
  }
}

/**
 * Deletes a managed webhook and its entry in the state file. If it is already gone, only the entry is deleted.
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
  await state.change((draft) => {
    draft.webhooks = draft.webhooks.filter(({ id }) => id !== webhookId);
  });
}

function toRequest({ url, watched, domains }: DesiredWebhook): Pick<WebhookRequest, "url" | "watched" | "domains"> {
  return { url, watched: watched.map(({ type, name }) => ({ type, name })), domains: [...domains] };
}

function putWebhook(state: HubState, webhook: ManagedWebhook): void {
  state.webhooks = [...state.webhooks.filter(({ id }) => id !== webhook.id), webhook];
}

function removePending(state: HubState, { key }: { key: string }): void {
  state.pending = state.pending.filter((entry) => entry.key !== key);
}

function secretUnreadable(id: string): HubError {
  return new HubError(
    `Webhook ${id} was not updated: the Hub does not return its secret, and an update without it would remove it. Set WEBHOOK_SECRET, pass the secret with --secret-stdin, or remove it with --remove-secret (removeSecret: true in code).`,
    { code: "VALUE_UNREADABLE", fields: ["secret"] },
  );
}

/** Whether the Hub has certainly not created anything. After any other failure, only the response may be lost. */
function isRejection(error: unknown): boolean {
  if (!HubError.isInstance(error)) return false;
  if (error.status !== undefined) return error.status >= 400 && error.status <= 499;
  return ["ARGUMENT_INVALID", "HUB_TOKEN_MISSING", "HUB_TOKEN_INVALID"].includes(error.code);
}
