import { HTTPException } from "hono/http-exception";
import type { Logger } from "../../../core/log.ts";
import { suggest } from "../../../core/options.ts";
import type { AuditLogEvent } from "../../../hub/organizations/audit-log.ts";
import { auditLogTypes, type SpecifiedAuditLogType } from "../../../hub/organizations/audit-log-types.ts";
import { coversScope } from "../../../payload/scope.ts";
import { accountId, type Caller, getOwner, getPlan } from "../../accounts.ts";
import { changedRepository, type RepositoryChange } from "../../events/repository-change.ts";
import {
  type AuditFilter,
  type AuditLogStore,
  type StoredAuditEvent,
  systemAuthor,
} from "../../store/audit-log-store.ts";
import { getAvatarUrl } from "../avatars.ts";

/** The request that caused an action. */
export interface ApiRequest {
  caller: Caller;
  userAgent: string | undefined;
}

/** An action to record in an audit log. */
export interface AuditEntry {
  /** The name of the organization. Entries for a user are ignored, because only organizations have an audit log. */
  organization: string;
  type: SpecifiedAuditLogType;
  /** The name of the user who performed the action. */
  author: string;
  /** Describes the action, such as `Created the organization`. */
  message: string;
  data?: Record<string, unknown>;
  /** Missing if an event caused the action. */
  request?: ApiRequest;
}

/** Records actions in the audit logs of organizations. */
export class AuditLog {
  readonly #options: { store: AuditLogStore; createId: () => string; now: () => number };

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
      ...(data && { data }),
      // The local Hub listens only on the loopback interface.
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

/**
 * Returns the audit log entries of a change. Creating, moving, and deleting a repository and changing its settings are recorded.
 * Changes to contents and discussions are not recorded. A move is recorded for both owners.
 */
export function repositoryAuditEntries(change: RepositoryChange): AuditEntry[] {
  const { scope, action, after, user: author } = change;
  const repository = changedRepository(change);
  const { type, name } = repository;
  const repo = `${type} ${name}`;
  const entry = { organization: getOwner(repository), author };
  const data = { repo: { type, name } };
  if (!after) return [{ ...entry, type: "repo.delete", message: `Deleted the ${repo}`, data }];

  const entries: AuditEntry[] = [];
  if (scope === "repo" && action === "create") {
    entries.push({ ...entry, type: "repo.create", message: `Created the ${repo}`, data });
  }
  if (after.name !== name) {
    const owners = new Set([getOwner(repository), getOwner(after)]);
    const moved = { message: `Moved the ${repo} to ${after.name}`, data: { ...data, movedTo: { name: after.name } } };
    for (const organization of owners) entries.push({ ...entry, organization, type: "repo.move", ...moved });
  }
  if (coversScope("repo.config", scope)) {
    const changed = { ...data, updatedConfig: change.updatedConfig ?? {} };
    entries.push({
      ...entry,
      type: "repo.update_settings",
      message: `Changed the settings of the ${repo}`,
      data: changed,
    });
  }
  return entries;
}

/**
 * Parses the `q` parameter of an audit log, such as `author:ada type:repo.create`. An event must match
 * at least one term of each kind that the query contains.
 *
 * @throws HTTPException 400 if a type is unknown.
 */
export function parseAuditQuery(q: string): AuditFilter {
  const types = termValues("type", q);
  for (const type of types) {
    if (auditLogTypes.some((known) => known === type)) continue;
    throw new HTTPException(400, {
      message: `q: unknown type "${type}". Use a type of the audit log, such as org.change_role.${suggest(type, auditLogTypes)}`,
    });
  }
  return { authors: termValues("author", q), ips: termValues("ip", q), types };
}

function termValues(kind: "author" | "ip" | "type", q: string): string[] {
  const prefix = `${kind}:`;
  return q
    .split(/\s+/)
    .filter((term) => term.startsWith(prefix))
    .map((term) => term.slice(prefix.length));
}

/** The maximum number of exported events, newest first (docs/reference/hub-api.md). */
const maxExportedEvents = 100_000;
/** The number of events that are read into memory at a time. */
const pageSize = 500;

export interface AuditLogExportOptions {
  store: AuditLogStore;
  organization: string;
  filter: AuditFilter;
  /** The URL of the local Hub, without a trailing slash. */
  hubUrl: string;
  log: Logger;
}

/**
 * Streams the events of an organization as a JSON array, newest first. Reads one page at a time, when the stream needs more data,
 * so that slow clients use little memory. Events that are recorded during the export are not included. If the store fails during
 * the export, the JSON array is not closed, so that the client gets invalid JSON instead of an incomplete list.
 */
export function exportAuditLog(options: AuditLogExportOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { organization, log } = options;
  const encoder = new TextEncoder();
  const pages = jsonPages(options);
  // The first page is read before the response starts, so that an error can still be answered with an HTTP status.
  let page = pages.next();
  return new ReadableStream(
    {
      pull(controller) {
        if (page.done) return controller.close();
        controller.enqueue(encoder.encode(page.value));
        try {
          page = pages.next();
        } catch (error) {
          // The error is logged instead of thrown, because the HTTP adapter would write a thrown error into the
          // response body.
          log.error(
            { err: error, organization },
            "The export of an audit log failed, so the response is incomplete. Export the audit log again.",
          );
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

function* jsonPages(options: AuditLogExportOptions): Generator<string, void> {
  const { store, organization, filter } = options;
  let remaining = maxExportedEvents;
  let before: number | undefined;
  do {
    const page = store.page({ organization, filter, before, limit: Math.min(pageSize, remaining) });
    const separator = remaining === maxExportedEvents ? "[" : page.events.length > 0 ? "," : "";
    yield separator + page.events.map((event) => JSON.stringify(toAuditLogEvent(event, options))).join(",");
    remaining -= page.events.length;
    before = page.before;
  } while (before !== undefined && remaining > 0);
  yield "]";
}

function toAuditLogEvent(event: StoredAuditEvent, { hubUrl }: Pick<AuditLogExportOptions, "hubUrl">): AuditLogEvent {
  const { id, at, organization: _organization, author, isAuthorDeleted, ...same } = event;
  const user = author ?? systemAuthor;
  return {
    _id: id,
    createdAt: new Date(at).toISOString(),
    ...same,
    author: {
      _id: accountId(user),
      user,
      avatarUrl: getAvatarUrl(user, { hubUrl }),
      type: author === undefined ? "system" : "user",
      ...(isAuthorDeleted && { deleted: true }),
    },
  };
}
