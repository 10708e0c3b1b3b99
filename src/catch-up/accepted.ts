import type { Inbox, StoredDelivery } from "../inbox/inbox.ts";
import { coveredReason } from "../payload/filter.ts";
import { parsePayload } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import type { RefChange } from "./cursor.ts";

/** `isHandled`: the handler has succeeded. Another delivery can still be ignored. */
export type AcceptedRefChange = RefChange & { id: string; isHandled: boolean };

/** A delivery in the inbox. */
type AcceptedDelivery = Pick<StoredDelivery, "id" | "status"> & { receivedAt: number; payload: WebhookPayload };

/** The changes of a repository that the accepted deliveries of an endpoint contain. */
export class AcceptedChanges {
  /** The changes of each ref since the last comparison, oldest first. */
  readonly refs = new Map<string, AcceptedRefChange[]>();
  /** The IDs of the deliveries that change refs, also before the last comparison. */
  readonly refIds: string[] = [];
  /** The IDs of those that the next comparison considers: see `missedRanges`. */
  readonly waiting = new Set<string>();
  /** The name and the commit of the main branch with which the repository was created. */
  created: { name: string; commit: string | undefined } | undefined;
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
  add({ id, status, payload }: AcceptedDelivery, compared: ReadonlySet<string>): void {
    const { event, updatedRefs = [], movedTo, updatedConfig, discussion, repo } = payload;
    if (updatedRefs.length > 0) this.refIds.push(id);
    // The cursor contains what was compared. To follow it again would lead elsewhere if a force push restored an earlier commit.
    for (const { ref, oldSha, newSha } of compared.has(id) ? [] : updatedRefs) {
      const change = { ref, oldSha, newSha, id, isHandled: status === "succeeded" };
      const changes = this.refs.get(ref);
      if (changes) changes.push(change);
      else this.refs.set(ref, [change]);
    }
    const number = Number(numberPattern.exec(id)?.[1] ?? 0);
    this.derived = Math.max(this.derived, number);
    if (movedTo) this.name = movedTo.name;
    if (updatedConfig?.private !== undefined) this.isPrivate = updatedConfig.private;
    // A comment can arrive after a later change of the status that it contains.
    if (discussion && event.scope === "discussion")
      this.discussions.set(discussion.num, { status: discussion.status, title: discussion.title });
    const key = keyOf(payload);
    if (key !== undefined) this.keys.add(key);
    // A derived creation contains the present commit.
    if (key === "create" && number === 0) this.created = { name: repo.name, commit: repo.headSha };
  }
}

/** Reads the number of a derived delivery from its ID. */
const numberPattern = /^catch-up-(\d+)-/;

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

/** The accepted deliveries of an endpoint, by repository. */
export class AcceptedDeliveries {
  readonly #endpoint: string;
  readonly #inbox: Pick<Inbox, "list">;
  readonly #deliveries = new Map<string, AcceptedDelivery[]>();
  readonly #read = new Set<string>();

  constructor(endpoint: string, inbox: Pick<Inbox, "list">) {
    this.#endpoint = endpoint;
    this.#inbox = inbox;
  }

  /**
   * Reads the deliveries that were received at a time or later, without those that were already read. Those of all repositories, because
   * a delivery can contain an earlier name of a repository.
   */
  async read(receivedFrom: Date): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await this.#inbox.list({
        receivedFrom,
        endpoint: this.#endpoint,
        limit: 1_000,
        ...(cursor && { cursor }),
      });
      for (const { id, status, body, receivedAt, attempts } of page.deliveries) {
        // A covered delivery repeats a derived one.
        if (body === undefined || this.#read.has(id) || attempts.at(-1)?.reason === coveredReason) continue;
        this.#read.add(id);
        const payload = readPayload(body);
        if (!payload) continue;
        const { repo } = payload;
        const delivery = { id, status, receivedAt: receivedAt.getTime(), payload };
        const deliveries = this.#deliveries.get(repo.id);
        if (deliveries) deliveries.push(delivery);
        else this.#deliveries.set(repo.id, [delivery]);
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /** Returns the accepted changes of a repository. `compared`: the IDs of those that its cursor contains. */
  of(repositoryId: string, compared: readonly string[]): AcceptedChanges {
    const accepted = new AcceptedChanges();
    const deliveries = this.#deliveries.get(repositoryId) ?? [];
    // Lists are newest first.
    const known = new Set(compared);
    for (const delivery of deliveries.toReversed().sort((one, other) => one.receivedAt - other.receivedAt)) {
      accepted.add(delivery, known);
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
