import { HTTPException } from "hono/http-exception";
import { suggest } from "../../core/suggest.ts";
import { auditLogTypes } from "../../hub/contract/organizations/audit-log.ts";
import type { AuditFilter } from "../store/audit-log-store.ts";

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
