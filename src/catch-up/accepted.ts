import type { Inbox } from "../inbox/inbox.ts";
import { coveredReason } from "../payload/filter.ts";
import { parsePayload } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import type { RefChange } from "./cursor.ts";

/** What the accepted deliveries of an endpoint say about a repository. */
export class AcceptedChanges {
  /** The changes of each ref, oldest first. */
  readonly refs = new Map<string, RefChange[]>();
  /** The keys of other changes: see {@link keyOf}. */
  readonly keys = new Set<string>();
  /** The name after the last accepted move. */
  name: string | undefined;
  isPrivate: boolean | undefined;
  /** The last accepted status and title of discussions, by number. */
  readonly discussions = new Map<number, { status: string; title: string }>();
  /** The number of derived deliveries up to the last accepted one. */
  derived = 0;

  /** Adds a delivery that was accepted after those that were added before. */
  add(payload: WebhookPayload): void {
    const { updatedRefs = [], movedTo, updatedConfig, discussion } = payload;
    for (const { ref, oldSha, newSha } of updatedRefs) {
      this.refs.set(ref, [...(this.refs.get(ref) ?? []), { ref, oldSha, newSha }]);
    }
    if (movedTo) this.name = movedTo.name;
    if (updatedConfig?.private !== undefined) this.isPrivate = updatedConfig.private;
    if (discussion) this.discussions.set(discussion.num, { status: discussion.status, title: discussion.title });
    const key = keyOf(payload);
    if (key !== undefined) this.keys.add(key);
  }
}

/**
 * Returns a text that identifies a change that does not move a ref, or `undefined` for other changes. The texts of a derived and of a
 * real delivery are equal.
 */
export function keyOf({ event, movedTo, updatedConfig, discussion, comment }: WebhookPayload): string | undefined {
  if (event.scope === "repo" && event.action === "create") return "create";
  if (movedTo) return `name ${movedTo.name}`;
  if (event.scope === "repo.config") return `private ${updatedConfig?.private}`;
  if (event.scope === "discussion.comment") {
    return event.action === "create" ? `comment ${comment?.id}` : undefined;
  }
  if (event.scope !== "discussion" || !discussion) return undefined;
  const { num, status, title } = discussion;
  return event.action === "create" ? `discussion ${num}` : `discussion ${num} ${status} ${title}`;
}

/** Reads the number of a derived delivery from its ID. */
const numberPattern = /^catch-up-(\d+)-/;

/** The accepted deliveries of an endpoint, by repository. */
export class AcceptedDeliveries {
  readonly #endpoint: string;
  readonly #inbox: Pick<Inbox, "list">;
  readonly #deliveries = new Map<string, { id: string; receivedAt: number; payload: WebhookPayload }[]>();
  readonly #read = new Set<string>();

  constructor(endpoint: string, inbox: Pick<Inbox, "list">) {
    this.#endpoint = endpoint;
    this.#inbox = inbox;
  }

  /** Reads deliveries from the inbox, without those that were already read. */
  async read(filter: { receivedFrom: Date; repository?: string }): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await this.#inbox.list({
        ...filter,
        endpoint: this.#endpoint,
        limit: 1_000,
        ...(cursor && { cursor }),
      });
      for (const { id, body, receivedAt, attempts } of page.deliveries) {
        // A covered delivery repeats what a derived one says.
        if (body === undefined || this.#read.has(id) || attempts.at(-1)?.reason === coveredReason) continue;
        this.#read.add(id);
        const payload = readPayload(body);
        if (!payload) continue;
        const { repo } = payload;
        this.#deliveries.set(repo.id, [
          ...(this.#deliveries.get(repo.id) ?? []),
          { id, receivedAt: receivedAt.getTime(), payload },
        ]);
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /** Returns what the accepted deliveries say about a repository. */
  of(repositoryId: string): AcceptedChanges {
    const accepted = new AcceptedChanges();
    const deliveries = this.#deliveries.get(repositoryId) ?? [];
    // Lists are newest first.
    for (const { id, payload } of deliveries.toReversed().sort((one, other) => one.receivedAt - other.receivedAt)) {
      accepted.add(payload);
      accepted.derived = Math.max(accepted.derived, Number(numberPattern.exec(id)?.[1] ?? 0));
    }
    return accepted;
  }
}

function readPayload(body: string): WebhookPayload | undefined {
  try {
    return parsePayload(JSON.parse(body));
  } catch {
    // An endpoint with its own schema can accept other bodies.
    return undefined;
  }
}
