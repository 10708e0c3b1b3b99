import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { auditLogEvent, auditLogTypes } from "../../hub/organizations/audit-log.ts";

const { data, location, userAgent, token, oauth } = auditLogEvent.shape;

const record = z.object({
  id: z.string(),
  organization: z.string(),
  type: z.enum(auditLogTypes),
  /** Name of the user who did it; left out where it was the Hub itself. */
  author: z.string().optional(),
  /** Whether that user is no more. */
  isAuthorDeleted: z.boolean().optional(),
  ip: z.string().optional(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  message: z.string(),
  data,
  location,
  userAgent,
  token,
  oauth,
});

/** The name under which the Hub itself is found as an author. */
export const hubItself = "system";

/** Something that was done in an organization. */
export type StoredAuditEvent = z.output<typeof record>;

/** Which events: of each list, one of its values, authors and addresses in any case; an empty list asks for nothing. */
export interface AuditFilter {
  authors: readonly string[];
  ips: readonly string[];
  types: readonly string[];
}

/** A part of an audit log: the newest events that come before the one of the number `before`. */
export interface AuditPage {
  events: StoredAuditEvent[];
  /** Where the next page begins; `undefined` after the last one. */
  before: number | undefined;
}

/** The audit logs of the organizations of a local Hub. Nothing in them ever changes. */
export class AuditLogStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Adds events, the oldest first. */
  add(...events: StoredAuditEvent[]): void {
    // Not by SQLite's own JSON, which is not nested as deeply as what an event may be about.
    const insert = this.#database.prepare(
      "INSERT INTO audit_log (organization, author, ip, type, record) VALUES (?, ?, ?, ?, ?)",
    );
    for (const event of events) {
      const { organization, author = null, ip = null, type } = event;
      insert.run(organization, author, ip, type, JSON.stringify(event));
    }
  }

  /** The newest events of an organization, in pages: so that an export of all of them is never in memory whole. */
  page(options: { organization: string; filter: AuditFilter; before?: number | undefined; most: number }): AuditPage {
    const { organization, filter, before = Number.MAX_SAFE_INTEGER, most } = options;
    const rows = this.#database
      .prepare(
        `SELECT sequence, record FROM audit_log
          WHERE organization = :organization AND sequence < :before
            AND (:authors = '[]' OR coalesce(author, :hubItself) COLLATE NOCASE IN (SELECT value FROM json_each(:authors)))
            AND (:ips = '[]' OR ip COLLATE NOCASE IN (SELECT value FROM json_each(:ips)))
            AND (:types = '[]' OR type IN (SELECT value FROM json_each(:types)))
          ORDER BY sequence DESC LIMIT :most`,
      )
      .all({
        organization,
        before,
        hubItself,
        authors: JSON.stringify(filter.authors),
        ips: JSON.stringify(filter.ips),
        types: JSON.stringify(filter.types),
        most,
      });
    return {
      events: rows.map((row) => record.parse(JSON.parse(String(row.record)))),
      before: rows.length < most ? undefined : Number(rows.at(-1)?.sequence),
    };
  }
}
