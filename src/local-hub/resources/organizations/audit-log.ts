import * as z from "zod/mini";
import { suggest } from "../../../core/options.ts";
import { type AuditLogEvent, auditLogEvent, auditLogOperations } from "../../../hub/organizations/audit-log.ts";
import { auditLogTypes } from "../../../hub/organizations/audit-log-types.ts";
import { accountId, getAvatarUrl } from "../../accounts.ts";
import { badRequest } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import { authorizeCaller, describeRoutes, type ResourceApi, serveRoute } from "../../routes/route.ts";
import {
  type AuditFilter,
  type AuditLogStore,
  type StoredAuditEvent,
  systemAuthor,
} from "../../store/audit-log-store.ts";

/** The client accepts any type. */
const event = z.strictObject({ ...auditLogEvent.shape, type: z.enum(auditLogTypes) });
const operation = { ...auditLogOperations.export, response: z.array(event) };

const auditLogRoutes = describeRoutes({ export: operation }, "orgs", {
  export: {
    description: "The newest 100,000 events. Team or Enterprise.",
    success: "The events, the newest first.",
    headers: { "Content-Disposition": { description: "The name of the exported file." } },
  },
});

export const auditLogApi = {
  routes: auditLogRoutes,
  components: { AuditLogEvent: event },
  serve(app, hub) {
    serveRoute(app, exportOperation, ({ params, query: { q = "" } }, context) => {
      const { organization } = authorizeCaller(hub, context, params.name, { role: "admin", plan: "team" });
      const { hubUrl, log, now } = hub;
      const filter = parseAuditQuery(q);
      return context.body(exportAuditLog({ store: hub.store.auditLog, organization, filter, hubUrl, log }), 200, {
        "content-type": "application/json",
        "content-disposition": `attachment; filename="${fileName(organization, now())}"`,
      });
    });
  },
} satisfies ResourceApi;

/** An event must match one term of each kind that the query contains. @throws HTTPException 400 if a type is unknown. */
function parseAuditQuery(q: string): AuditFilter {
  const types = termValues("type", q);
  for (const type of types) {
    if (auditLogTypes.some((known) => known === type)) continue;
    throw badRequest(
      `q: unknown type "${type}". Use a type of the audit log, such as org.change_role.${suggest(type, auditLogTypes)}`,
    );
  }
  return { authors: termValues("author", q), ips: termValues("ip", q), types };
}

function termValues(kind: "author" | "ip" | "type", q: string): string[] {
  const terms = q.split(/\s+/).filter((term) => term.startsWith(`${kind}:`));
  return terms.map((term) => term.slice(kind.length + 1));
}

const maxExportedEvents = 100_000;

const pageSize = 500;

interface AuditLogExportOptions extends Pick<HubContext, "hubUrl" | "log"> {
  store: AuditLogStore;
  organization: string;
  filter: AuditFilter;
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

/** The local Hub rejects all other terms, because they are probably typing errors. */
const terms = /^\s*(?:(?:author|ip|type):\S+(?:\s+|$))*$/;

const expectedTerms = "expected terms such as author:ada, ip:192.0.2.1, or type:org.add_user";

const search = z.object({ q: z.optional(z.string().check(z.regex(terms, expectedTerms))) });

const exportOperation = { ...operation, request: { ...operation.request, query: search } };

function fileName(organization: string, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10);
  return `${organization.replace(/[^\w.-]/g, "_")}-audit-log-${day}.json`;
}
