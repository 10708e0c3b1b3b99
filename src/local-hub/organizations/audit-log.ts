import type { SpecifiedAuditLogType } from "../../hub/contract/organizations/audit-log.ts";
import { type Caller, planOf } from "../accounts.ts";
import type { AuditLogStore } from "../store/audit-log-store.ts";

/** Something that was done, as an audit log is told of it. */
export interface AuditEntry {
  /** Where it was done. Only organizations have an audit log: what is done elsewhere is passed over. */
  organization: string;
  type: SpecifiedAuditLogType;
  /** Name of the user who did it. */
  author: string;
  /** What was done, in a sentence. */
  message: string;
  data?: Record<string, unknown>;
  /** How it came in, where that was a request to the API. */
  request?: { caller: Caller; userAgent: string | undefined };
}

/** Writes down what is done in organizations. */
export class AuditLog {
  readonly #options: { store: AuditLogStore; newId: () => string; now: () => number };

  constructor(options: { store: AuditLogStore; newId: () => string; now: () => number }) {
    this.#options = options;
  }

  record({ organization, type, author, message, data, request }: AuditEntry): void {
    if (planOf(organization) === undefined) return;
    const { store, newId, now } = this.#options;
    store.add({
      id: newId(),
      organization,
      type,
      author,
      at: now(),
      message,
      ...(data && { data }),
      // Nobody else can reach a local Hub.
      ip: "127.0.0.1",
      location: { formatted: "This machine" },
      ...(request?.userAgent !== undefined && { userAgent: request.userAgent }),
      ...(request && {
        token: {
          type: "access_token",
          id: request.caller.tokenId,
          deleted: false,
          role: request.caller.tokenRole,
        },
      }),
    });
  }
}
