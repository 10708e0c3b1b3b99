import { expect } from "vitest";
import * as z from "zod";
import { type AuditLogEvent, type AuditLogType, auditLogEvent } from "../../../src/hub/organizations/audit-log.ts";
import type { TestHub } from "./hub.ts";

/** The events of a type in the audit log of an organization, the newest first. */
export async function auditEvents(
  hub: TestHub,
  { organization, type }: { organization: string; type: AuditLogType },
): Promise<AuditLogEvent[]> {
  const { status, body, text } = await hub.request(
    `GET /api/organizations/${organization}/audit-log/export?q=type:${type}`,
  );
  expect(status, text).toBe(200);
  return z.array(auditLogEvent).parse(body);
}
