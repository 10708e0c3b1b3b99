import type {
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  DeliveryStatus,
  ListOptions,
  StoredDelivery,
} from "../inbox.ts";
import { deliveryStatuses, pageSize } from "../inbox.ts";
import { cursorInvalid } from "../inbox-errors.ts";
import { decodeHeaders } from "../recorded-headers.ts";
import type { AttemptTable } from "./attempt-table.ts";
import type { Statements } from "./statements.ts";

type Row = Record<string, unknown>;

/** Reads deliveries for lists and details. */
export class DeliveryReader {
  readonly #statements: Statements;
  readonly #attempts: AttemptTable;

  constructor(statements: Statements, attempts: AttemptTable) {
    this.#statements = statements;
    this.#attempts = attempts;
  }

  get({ endpoint, id }: DeliveryKey): StoredDelivery | undefined {
    const row = this.#statements.find.get(endpoint, id);
    if (!row) return undefined;
    const headers = typeof row.headers === "string" ? decodeHeaders(row.headers) : undefined;
    return {
      ...this.#toStored(row),
      ...(headers && { headers }),
      attempts: this.#attempts.listWithDetails(Number(row.sequence)),
    };
  }

  /** @throws `OPTION_INVALID` if the limit or the cursor is invalid. */
  list(options: ListOptions): DeliveryPage {
    const limit = pageSize(options);
    const sequences = this.sequences({ ...options, before: readCursor(options), limit });
    const last = sequences.at(-1);
    return {
      deliveries: sequences.map((sequence) => this.read(sequence)).filter((delivery) => delivery !== undefined),
      ...(sequences.length === limit && last !== undefined && { next: String(last) }),
    };
  }

  /** Returns a delivery for a list. */
  read(sequence: number): StoredDelivery | undefined {
    const row = this.#statements.row.get(sequence);
    return row && this.#toStored(row);
  }

  /**
   * Returns the sequences of the newest deliveries with a sequence below `before`, in descending order. Merges several queries, because the index sorts only within one endpoint and
   * status.
   */
  sequences({
    endpoint,
    status,
    before,
    limit,
  }: Pick<ListOptions, "endpoint" | "status"> & { before: number; limit: number }): number[] {
    const { newest, newestOf, totals } = this.#statements;
    const rows =
      endpoint === undefined && status === undefined
        ? newest.all(before, limit)
        : totals
            .all()
            .filter((total) => total.endpoint === (endpoint ?? total.endpoint))
            .filter((total) => total.status === (status ?? total.status))
            .flatMap((total) => newestOf.all(String(total.endpoint), String(total.status), before, limit));
    const sequences = rows.map(({ sequence }) => Number(sequence));
    return sequences.sort((one, other) => other - one).slice(0, limit);
  }

  counts(): Record<string, DeliveryCounts> {
    // The object has no prototype, because an endpoint may be named "__proto__".
    const counts: Record<string, Record<DeliveryStatus, number>> = Object.create(null);
    for (const row of this.#statements.totals.all()) {
      const endpoint = String(row.endpoint);
      const known = counts[endpoint] ?? { queued: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0 };
      counts[endpoint] = known;
      const status = deliveryStatuses.find((one) => one === row.status);
      if (status) known[status] = Number(row.deliveries);
    }
    return counts;
  }

  #toStored(row: Row): StoredDelivery {
    const status = deliveryStatuses.find((known) => known === row.status) ?? "dead";
    return {
      id: String(row.id),
      endpoint: String(row.endpoint),
      status,
      receivedAt: new Date(Number(row.received_at)),
      ...(status === "queued" && { dueAt: new Date(Number(row.due_at)) }),
      ...(status === "running" && row.started_at !== null && { startedAt: new Date(Number(row.started_at)) }),
      ...(row.finished_at !== null && { finishedAt: new Date(Number(row.finished_at)) }),
      ...(row.body !== null && { body: String(row.body) }),
      ...(typeof row.replay_of === "string" && { replayOf: row.replay_of }),
      attempts: this.#attempts.list(Number(row.sequence)),
    };
  }
}

/** Returns the sequence before which a page starts. @throws `OPTION_INVALID` if the cursor is invalid. */
export function readCursor({ cursor }: Pick<ListOptions, "cursor">): number {
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
  if (!Number.isSafeInteger(before)) throw cursorInvalid();
  return before;
}
