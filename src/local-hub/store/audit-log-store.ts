import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { auditLogEvent } from "../../hub/organizations/audit-log.ts";
import { auditLogTypes, type SpecifiedAuditLogType } from "../../hub/organizations/audit-log-types.ts";
import { type Caller, getPlan } from "../accounts.ts";

const { data, location, userAgent, token, oauth } = auditLogEvent.shape;

const record = z.object({
  id: z.string(),
  organization: z.string(),
  type: z.enum(auditLogTypes),
  /** The name of the user. Omitted for the Hub's own actions. */
  author: z.string().optional(),
  /** Whether the user was deleted. */
  isAuthorDeleted: z.boolean().optional(),
  ip: z.string().optional(),
  at: z.number(),
  message: z.string(),
  data,
  location,
  userAgent,
  token,
  oauth,
});

export const systemAuthor = "system";

export type StoredAuditEvent = z.output<typeof record>;

/** An empty list matches all events. The case of authors and IP addresses is ignored. */
export interface AuditFilter {
  authors: readonly string[];
  ips: readonly string[];
  types: readonly string[];
}

export class AuditLogStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  add(...events: StoredAuditEvent[]): void {
    // The values are not read with SQLite's JSON functions, because events can be nested deeper than these functions allow.
    const insert = this.#database.prepare(
      "INSERT INTO audit_log (organization, author, ip, type, record) VALUES (?, ?, ?, ?, ?)",
    );
    for (const event of events) {
      const { organization, author = null, ip = null, type } = event;
      insert.run(organization, author, ip, type, JSON.stringify(event));
    }
  }

  /** Returns the newest events. The returned `before` is the option for the next page, or `undefined` on the last page. */
  page(options: { organization: string; filter: AuditFilter; before?: number | undefined; limit: number }) {
    const { organization, filter, before = Number.MAX_SAFE_INTEGER, limit } = options;
    const rows = this.#database
      .prepare(
        `SELECT sequence, record FROM audit_log
          WHERE organization = :organization AND sequence < :before
            AND (:authors = '[]' OR coalesce(author, :systemAuthor) COLLATE NOCASE IN (SELECT value FROM json_each(:authors)))
            AND (:ips = '[]' OR ip COLLATE NOCASE IN (SELECT value FROM json_each(:ips)))
            AND (:types = '[]' OR type IN (SELECT value FROM json_each(:types)))
          ORDER BY sequence DESC LIMIT :limit`,
      )
      .all({
        organization,
        before,
        systemAuthor,
        authors: JSON.stringify(filter.authors),
        ips: JSON.stringify(filter.ips),
        types: JSON.stringify(filter.types),
        limit,
      });
    return {
      events: rows.map((row) => record.parse(JSON.parse(String(row.record)))),
      before: rows.length < limit ? undefined : Number(rows.at(-1)?.sequence),
    };
  }
}

interface ApiRequest {
  caller: Caller;
  userAgent: string | undefined;
}

export interface AuditEntry {
  /** The name of the organization. Entries for a user are ignored, because only organizations have an audit log. */
  organization: string;
  type: SpecifiedAuditLogType;
  author: string;
  /** Describes the action, such as `Created the organization`. */
  message: string;
  data?: Record<string, unknown>;
  /** Missing if an event caused the action. */
  request?: ApiRequest;
}

export class AuditLog {
  readonly #options;

  constructor(options: { store: AuditLogStore; createId: () => string; now: () => number }) {
    this.#options = options;
  }

  record({ organization, type, author, message, data, request }: AuditEntry): void {
    if (getPlan(organization) === undefined) return;
    const { store, createId, now } = this.#options;
    store.add({
      id: createId(),
      organization,
      type,
      author,
      at: now(),
      message,
      data,
      // The local Hub listens only on the loopback interface.
      ip: "127.0.0.1",
      location: { formatted: "This machine" },
      userAgent: request?.userAgent,
      ...(request && {
        token: { type: "access_token", id: request.caller.tokenId, deleted: false, role: request.caller.tokenRole },
      }),
    });
  }
}
