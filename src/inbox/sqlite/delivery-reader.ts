import type {
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  DeliveryStatus,
  ListOptions,
  StoredDelivery,
} from "../inbox.ts";
import { pageSize } from "../inbox.ts";
import { cursorInvalid } from "../inbox-errors.ts";
import type { AttemptTable } from "./attempt-table.ts";
import type { Statements } from "./statements.ts";

const statuses = ["queued", "running", "succeeded", "dead"] as const;

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
    return row && this.#toStored(row);
  }

  /** @throws `OPTION_INVALID` if the limit or the cursor is invalid. */
  list(options: ListOptions): DeliveryPage {
    const { endpoint, status, cursor } = options;
    const limit = pageSize(options);
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    if (!Number.isSafeInteger(before)) throw cursorInvalid();
    const sequences = this.#sequences({ endpoint, status, before, limit });
    const last = sequences.at(-1);
    const rows = sequences.map((sequence) => this.#statements.row.get(sequence)).filter((row) => row !== undefined);
    return {
      deliveries: rows.map((row) => this.#toStored(row)),
      ...(sequences.length === limit && last !== undefined && { next: String(last) }),
    };
  }

  /**
   * Returns the sequences of the newest deliveries. Merges several queries, because the index sorts only within one endpoint and
   * status.
   */
  #sequences({ endpoint, status, before, limit }: ListOptions & { before: number; limit: number }): number[] {
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
      counts[endpoint] ??= { queued: 0, running: 0, succeeded: 0, dead: 0 };
      const status = statuses.find((known) => known === row.status);
      if (status) counts[endpoint][status] = Number(row.deliveries);
    }
    return counts;
  }

  #toStored(row: Row): StoredDelivery {
    const status = statuses.find((known) => known === row.status) ?? "dead";
    return {
      id: String(row.id),
      endpoint: String(row.endpoint),
      status,
      receivedAt: new Date(Number(row.received_at)),
      ...(status === "queued" && { dueAt: new Date(Number(row.due_at)) }),
      ...(status === "running" && row.started_at !== null && { startedAt: new Date(Number(row.started_at)) }),
      ...(row.finished_at !== null && { finishedAt: new Date(Number(row.finished_at)) }),
      ...(row.body !== null && { body: String(row.body) }),
      attempts: this.#attempts.list(Number(row.sequence)),
    };
  }
}
