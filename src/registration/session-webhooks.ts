import { HubError } from "../core/errors.ts";
import { deleteWebhook } from "./apply.ts";
import type { HubConnection } from "./hub-connection.ts";
import { recordResolved, resolvePending } from "./pending.ts";
import type { ManagedWebhook, PendingWebhook, RegistrationFile } from "./registration-file.ts";

/** A webhook that was deleted. */
export interface DeletedWebhook {
  readonly id: string;
  /** The name of the webhook's endpoint. */
  readonly endpoint: string;
  readonly url: string;
}

/** A webhook that could not be deleted. Its entry stays in the state file. */
export interface FailedDeletion {
  /** The ID of the webhook. Absent if the webhooks could not be listed. */
  readonly id?: string;
  readonly error: HubError;
}

export interface DeleteSessionOptions {
  client: HubConnection;
  file: RegistrationFile;
  sessionIds: ReadonlySet<string>;
  /** Reports the webhooks without deleting them. Default `false`. */
  dryRun?: boolean;
  /** Called for each webhook that could not be deleted. */
  onFailed?: (failed: FailedDeletion) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Deletes the webhooks of the given sessions, including webhooks whose creation was interrupted. Webhooks that cannot
 * be deleted stay in the state file.
 *
 * @throws `STATE_UNUSABLE`, and the signal's abort reason.
 */
export async function deleteSessionWebhooks({
  client,
  file,
  sessionIds,
  dryRun = false,
  onFailed,
  signal,
}: DeleteSessionOptions): Promise<DeletedWebhook[]> {
  const isSelected = ({ session }: ManagedWebhook | PendingWebhook) =>
    session !== undefined && sessionIds.has(session.id);
  const recorded = file.read();
  const pending = recorded.pending.filter(isSelected);
  if (pending.length > 0) {
    const listed = await client.webhooks.list({ signal }).catch((error: unknown) => {
      // Call `requireHubError` even without a listener, because it rethrows other errors.
      const failed = { error: requireHubError(error) };
      onFailed?.(failed);
    });
    const resolved = listed ? resolvePending({ pending, state: recorded, listed, now: Date.now() }) : [];
    recordResolved(recorded, resolved);
    if (!dryRun && resolved.length > 0) await file.change((draft) => recordResolved(draft, resolved));
  }
  const deleted = await Promise.all(
    recorded.webhooks.filter(isSelected).map(async ({ id, endpoint, returned, written }) => {
      const webhook = { id, endpoint, url: returned?.url ?? written?.url ?? "" };
      try {
        if (!dryRun) await deleteWebhook(id, { client, file, signal });
        return [webhook];
      } catch (error) {
        const failed = { id, error: requireHubError(error) };
        onFailed?.(failed);
        return [];
      }
    }),
  );
  return deleted.flat();
}

/** Returns a `HubError` unchanged. Throws every other error, such as the signal's abort reason. */
function requireHubError(error: unknown): HubError {
  if (HubError.isInstance(error)) return error;
  throw error;
}
