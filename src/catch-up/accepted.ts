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
  /** Whether it is known what of it catch-up has derived. */
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

  /** Adds a later delivery. `isCompared`: the cursor contains its refs. Following them again is wrong if a force push restored a commit. */
  add({ id, payload, receivedAt }: AcceptedDelivery, { isCompared }: { isCompared: boolean }): void {
    const { event, updatedRefs = [], updatedFiles = [], movedTo, updatedConfig, discussion, repo } = payload;
    this.ids.push(id);
    const number = Number(/^catch-up-(\d+)-/.exec(id)?.[1] ?? 0);
    this.derived = Math.max(this.derived, number);
    const key = keyOf(payload);
    if (key !== undefined) this.keys.add(key);
    if (!isCompared) {
      for (const { ref, oldSha, newSha } of updatedRefs) append(this.refs, ref, { ref, oldSha, newSha });
      for (const file of updatedFiles) append(this.files, file.path, { state: fileState(file), receivedAt });
      if (payload.updatedFilesTruncated) this.truncatedAt = Math.max(this.truncatedAt, receivedAt);
    }
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

export type AcceptedDeliveries = ReturnType<typeof createAcceptedDeliveries>;

/** The accepted deliveries of an endpoint, by repository. */
export function createAcceptedDeliveries(endpoint: string, inbox: Pick<Inbox, "list" | "get">) {
  const byRepository = new Map<string, AcceptedDelivery[]>();
  const seen = new Set<string>();

  /** Reads further deliveries, those of all repositories: a delivery can contain an earlier name of a repository. */
  async function read(receivedFrom: Date): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await inbox.list({ receivedFrom, endpoint, limit: 1_000, ...(cursor && { cursor }) });
      for (const stored of page.deliveries) {
        const { id, body, receivedAt } = stored;
        if (body === undefined || seen.has(id)) continue;
        seen.add(id);
        const payload = readPayload(body);
        if (!payload) continue;
        const state = stateOf(stored);
        // It repeats a derived delivery.
        if (state.isCovered) continue;
        append(byRepository, idOf(payload.repo), { id, receivedAt: receivedAt.getTime(), ...state, payload });
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /** Returns the accepted changes of a repository, without deliveries that will be ignored because catch-up has derived them. */
  async function changesOf(
    repositoryId: string,
    { compared, readCoverage, listCommits, after = Number.NEGATIVE_INFINITY }: Comparable,
  ): Promise<AcceptedChanges> {
    const accepted = new AcceptedChanges();
    const known = compared === "all" ? undefined : new Set(compared);
    // Lists are newest first.
    const deliveries = byRepository.get(repositoryId)?.toReversed() ?? [];
    for (const delivery of deliveries.sort((one, other) => one.receivedAt - other.receivedAt)) {
      const { id, payload, receivedAt } = delivery;
      if (receivedAt < after) continue;
      if (!delivery.isDecided) await update(delivery);
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

  async function update(delivery: AcceptedDelivery): Promise<void> {
    const stored = await inbox.get({ endpoint, id: delivery.id });
    if (stored) Object.assign(delivery, stateOf(stored));
  }

  return { read, changesOf };
}

function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Returns the fields of an {@link AcceptedDelivery} that can change. */
function stateOf({ id, status, attempts }: Pick<StoredDelivery, "id" | "status" | "attempts">) {
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
