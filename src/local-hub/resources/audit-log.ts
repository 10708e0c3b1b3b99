import { HTTPException } from "hono/http-exception";
import type { Logger } from "../../core/logger.ts";
import { suggest } from "../../core/option-error.ts";
import { type AuditLogEvent, auditLogTypes, type SpecifiedAuditLogType } from "../../hub/organizations/audit-log.ts";
import { coversScope } from "../../payload/scope.ts";
import { accountId, type Caller, localUser, ownerOf, planOf } from "../accounts.ts";
import type { CheckedEvent } from "../events/event-request.ts";
import { type AuditFilter, type AuditLogStore, hubItself, type StoredAuditEvent } from "../store/audit-log-store.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { avatarUrlOf } from "./avatars.ts";

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

/** What has happened to a repository. */
export interface RepositoryChange {
  event: Pick<CheckedEvent, "event" | "updatedConfig">;
  /** Whether the repository was there before. */
  isNew: boolean;
  before: StoredRepository;
  /** `undefined`: it is deleted. */
  after: StoredRepository | undefined;
}

/**
 * What the audit logs are told of an event on a repository: that it came to be, also by an event that says nothing of
 * that; that it moved (to the log of both owners), was deleted or got other settings. Of contents and discussions they
 * tell nothing.
 */
export function auditEntriesOf({ event, isNew, before, after }: RepositoryChange): AuditEntry[] {
  const { scope, action } = event.event;
  const { type, name } = before;
  const repo = `${type} ${name}`;
  const entry = { organization: ownerOf(before), author: localUser };
  const data = { repo: { type, name } };
  if (!after) return [{ ...entry, type: "repo.delete", message: `Deleted the ${repo}`, data }];

  const entries: AuditEntry[] = [];
  if (isNew || (scope === "repo" && action === "create")) {
    entries.push({ ...entry, type: "repo.create", message: `Created the ${repo}`, data });
  }
  if (after.name !== name) {
    const owners = new Set([ownerOf(before), ownerOf(after)]);
    const moved = { message: `Moved the ${repo} to ${after.name}`, data: { ...data, movedTo: { name: after.name } } };
    for (const organization of owners) entries.push({ ...entry, organization, type: "repo.move", ...moved });
  }
  if (coversScope("repo.config", scope)) {
    const changed = { ...data, updatedConfig: event.updatedConfig ?? {} };
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
 * Reads the terms of an audit log's `q`, such as `author:ada type:repo.create`: of those of one kind any may match, of
 * different kinds all must.
 *
 * @throws HTTPException 400 for a type that there is not.
 */
export function readAuditQuery(q: string): AuditFilter {
  const types = valuesOf("type", q);
  for (const type of types) {
    if (auditLogTypes.some((known) => known === type)) continue;
    throw new HTTPException(400, {
      message: `q: behind "type:" expected a type of the audit log, such as org.change_role.${suggest(type, auditLogTypes)}`,
    });
  }
  return { authors: valuesOf("author", q), ips: valuesOf("ip", q), types };
}

function valuesOf(kind: "author" | "ip" | "type", q: string): string[] {
  const prefix = `${kind}:`;
  return q
    .split(/\s+/)
    .filter((term) => term.startsWith(prefix))
    .map((term) => term.slice(prefix.length));
}

/** How many events an export holds at most: the newest of those that were asked for (hub-api.md, Limits). */
const mostExported = 100_000;
/** How many of them are in memory at a time. */
const pageSize = 500;

/** What is exported, and from where. */
export interface AuditLogExportOptions {
  store: AuditLogStore;
  organization: string;
  filter: AuditFilter;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  log: Logger;
}

/**
 * The events of an organization as a JSON array, the newest first. A page of them is read when the reader asks for
 * more, so that a slow reader costs no memory and one who goes away costs nothing. What happens meanwhile is not in it.
 * Where the store fails in the middle of it, the array is left without its end: it is no JSON then.
 */
export function exportAuditLog(options: AuditLogExportOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { organization, log } = options;
  const encoder = new TextEncoder();
  const parts = partsOf(options);
  // The first page is read at once: what cannot be read at all is then a refusal, and not the half of an answer.
  let part = parts.next();
  return new ReadableStream(
    {
      pull(controller) {
        if (part.done) return controller.close();
        controller.enqueue(encoder.encode(part.value));
        try {
          part = parts.next();
        } catch (error) {
          // An error of the stream would be written into the answer by the adapter, as if it belonged there.
          log.error({ err: error, organization }, "the export of an audit log was cut short");
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

/** The pages, each as a part of the array. */
function* partsOf(options: AuditLogExportOptions): Generator<string, void> {
  const { store, organization, filter } = options;
  let left = mostExported;
  let before: number | undefined;
  do {
    const page = store.page({ organization, filter, before, most: Math.min(pageSize, left) });
    const begin = left === mostExported ? "[" : page.events.length > 0 ? "," : "";
    yield begin + page.events.map((event) => JSON.stringify(toAnswer(event, options))).join(",");
    left -= page.events.length;
    before = page.before;
  } while (before !== undefined && left > 0);
  yield "]";
}

function toAnswer(event: StoredAuditEvent, { baseUrl }: Pick<AuditLogExportOptions, "baseUrl">): AuditLogEvent {
  const { id, at, organization: _organization, author, isAuthorDeleted, ...same } = event;
  const user = author ?? hubItself;
  return {
    _id: id,
    createdAt: new Date(at).toISOString(),
    ...same,
    author: {
      _id: accountId(user),
      user,
      avatarUrl: avatarUrlOf(user, { baseUrl }),
      type: author === undefined ? "system" : "user",
      ...(isAuthorDeleted && { deleted: true }),
    },
  };
}
