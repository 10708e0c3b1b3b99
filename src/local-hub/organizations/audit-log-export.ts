import type { Logger } from "../../core/logger.ts";
import type { AuditLogEvent } from "../../hub/contract/organizations/audit-log.ts";
import { accountId, avatarUrlOf } from "../accounts.ts";
import { type AuditFilter, type AuditLogStore, hubItself, type StoredAuditEvent } from "../store/audit-log-store.ts";

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
