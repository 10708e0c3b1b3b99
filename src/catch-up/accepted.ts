import type { Inbox, StoredDelivery } from "../inbox/inbox.ts";
import { coveredReason } from "../payload/filter.ts";
import { derivedIdPrefix, parsePayload } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import { type AcceptedFile, fileState } from "./bucket-state.ts";
import { keyOf, type ListCommits, uncoveredPart } from "./covered.ts";
import { type Coverage, idOf, type RefChange } from "./cursor.ts";

/** A delivery in the inbox. */
interface AcceptedDelivery {
  id: string;
  receivedAt: number;
  /** Whether its handler has ended. */
  hasEnded: boolean;
  /** Whether it has already been found out what of it catch-up has derived. */
  isDecided: boolean;
  /** Whether it was ignored, because catch-up has derived it. */
  isCovered: boolean;
  payload: WebhookPayload;
}

interface Comparable {
  /** The IDs of the deliveries that the cursor of the repository contains. `all` for a cursor that starts at the present state. */
  compared: readonly string[] | "all";
  readCoverage: () => Promise<Coverage>;
  listCommits: ListCommits;
  /** When the bucket was created. What was delivered before concerns an earlier one with its name. */
  after: number | undefined;
}

/** The changes of a repository that the accepted deliveries of an endpoint contain. */
export class AcceptedChanges {
  /** What catch-up has derived, without what the deliveries undo. Missing if it was not needed. */
  coverage: Coverage | undefined;
  /** Whether a delivery undoes what catch-up has derived. */
  undoes = false;
  /** When the first delivery whose handler has not ended was received. */
  openSince: number | undefined;
  /** The changes of each ref since the last comparison, oldest first. */
  readonly refs = new Map<string, RefChange[]>();
  /** The states of files in a bucket since the last comparison, by path. */
  readonly files = new Map<string, AcceptedFile[]>();
  /** When the last delivery was received that does not list all files. */
  truncatedAt = Number.NEGATIVE_INFINITY;
  /** The ID of the repository in the last delivery of the Hub. */
  repositoryId: string | undefined;
  /** The IDs of the deliveries that run, also of those before the last comparison. */
  readonly ids: string[] = [];
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

  /**
   * Adds a delivery that was accepted after those that were added before. `isCompared`: whether the cursor already contains its changes
   * of refs. To follow them again would lead elsewhere if a force push restored an earlier commit.
   */
  add(
    { id, payload, receivedAt }: Pick<AcceptedDelivery, "id" | "payload" | "receivedAt">,
    { isCompared }: { isCompared: boolean },
  ): void {
    const { event, updatedRefs = [], updatedFiles = [], movedTo, updatedConfig, discussion, repo } = payload;
    this.ids.push(id);
    const number = Number(numberPattern.exec(id)?.[1] ?? 0);
    this.derived = Math.max(this.derived, number);
    const key = keyOf(payload);
    if (key !== undefined) this.keys.add(key);
    for (const { ref, oldSha, newSha } of isCompared ? [] : updatedRefs) {
      const change = { ref, oldSha, newSha };
      const changes = this.refs.get(ref);
      if (changes) changes.push(change);
      else this.refs.set(ref, [change]);
    }
    for (const file of isCompared ? [] : updatedFiles) {
      const change = { state: fileState(file), receivedAt };
      const changes = this.files.get(file.path);
      if (changes) changes.push(change);
      else this.files.set(file.path, [change]);
    }
    if (payload.updatedFilesTruncated && !isCompared) this.truncatedAt = Math.max(this.truncatedAt, receivedAt);
    if (!id.startsWith(derivedIdPrefix)) this.repositoryId = repo.id;
    if (movedTo) this.name = movedTo.name;
    if (updatedConfig?.private !== undefined) this.isPrivate = updatedConfig.private;
    // A comment can arrive after a later change of the status that it contains.
    if (discussion && event.scope === "discussion")
      this.discussions.set(discussion.num, { status: discussion.status, title: discussion.title });
    // A derived creation contains the present commit.
    if (key === "create" && number === 0) this.created = { name: repo.name, commit: repo.headSha };
  }
}

/** Reads the number of a derived delivery from its ID. */
const numberPattern = /^catch-up-(\d+)-/;

/** The accepted deliveries of an endpoint, by repository. */
export class AcceptedDeliveries {
  readonly #endpoint: string;
  readonly #inbox: Pick<Inbox, "list" | "get">;
  readonly #deliveries = new Map<string, AcceptedDelivery[]>();
  readonly #read = new Set<string>();

  constructor(endpoint: string, inbox: Pick<Inbox, "list" | "get">) {
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
        if (body === undefined || this.#read.has(id)) continue;
        this.#read.add(id);
        const payload = readPayload(body);
        if (!payload) continue;
        const repositoryId = idOf(payload.repo);
        const state = stateOf({ id, status, attempts });
        // It repeats a derived delivery.
        if (state.isCovered) continue;
        const delivery = { id, receivedAt: receivedAt.getTime(), ...state, payload };
        const deliveries = this.#deliveries.get(repositoryId);
        if (deliveries) deliveries.push(delivery);
        else this.#deliveries.set(repositoryId, [delivery]);
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /**
   * Returns the changes of a repository that were accepted. Without those of deliveries that wait in the inbox and will be ignored,
   * because catch-up has derived them.
   */
  async changesOf(
    repositoryId: string,
    { compared, readCoverage, listCommits, after = Number.NEGATIVE_INFINITY }: Comparable,
  ): Promise<AcceptedChanges> {
    const accepted = new AcceptedChanges();
    const known = compared === "all" ? undefined : new Set(compared);
    // Lists are newest first.
    const deliveries = this.#deliveries.get(repositoryId)?.toReversed() ?? [];
    for (const delivery of deliveries.sort((one, other) => one.receivedAt - other.receivedAt)) {
      const { id, payload, receivedAt } = delivery;
      if (receivedAt < after) continue;
      if (!delivery.isDecided) await this.#update(delivery);
      if (delivery.isCovered) continue;
      if (!delivery.hasEnded) accepted.openSince ??= receivedAt;
      const isCompared = known?.has(id) ?? true;
      if (isCompared || id.startsWith(derivedIdPrefix)) {
        accepted.add(delivery, { isCompared });
        continue;
      }
      accepted.coverage ??= await readCoverage();
      const { changes, parts } = accepted.coverage;
      if (parts[id]) {
        accepted.add({ ...delivery, payload: { ...payload, ...parts[id] } }, { isCompared });
        continue;
      }
      const { part, covered } = await uncoveredPart(delivery, changes, listCommits);
      if (delivery.isDecided) {
        // What ran although it was derived, because the Hub did not answer in time, is no further change.
        const ran = typeof part === "object" ? { ...payload, ...part } : payload;
        if (part !== "nothing") accepted.add({ ...delivery, payload: ran }, { isCompared });
        continue;
      }
      accepted.undoes ||= covered !== changes;
      accepted.coverage = { changes: [...covered], parts };
      // A delivery that will run for some of its refs counts when it has run. Until then, the other refs are derived.
      if (part === "all") accepted.add(delivery, { isCompared });
    }
    return accepted;
  }

  /** Reads whether a delivery has been decided since it was read. */
  async #update(delivery: AcceptedDelivery): Promise<void> {
    const stored = await this.#inbox.get({ endpoint: this.#endpoint, id: delivery.id });
    if (stored) Object.assign(delivery, stateOf(stored));
  }
}

function stateOf({
  id,
  status,
  attempts,
}: Pick<StoredDelivery, "id" | "status" | "attempts">): Pick<AcceptedDelivery, "hasEnded" | "isDecided" | "isCovered"> {
  const hasEnded = status !== "queued" && status !== "running";
  const wasTried = attempts.some(({ outcome }) => outcome !== "abandoned");
  return {
    hasEnded,
    isDecided: hasEnded || wasTried || id.startsWith(derivedIdPrefix),
    isCovered: attempts.at(-1)?.reason === coveredReason,
  };
}

function readPayload(body: string): WebhookPayload | undefined {
  try {
    return parsePayload(JSON.parse(body));
  } catch {
    // An endpoint with its own schema can accept other bodies.
    return undefined;
  }
}
