import { describe, expect, test } from "vitest";
import { memberOperations } from "../../../src/hub/organizations/members.ts";
import type { JsonObject } from "../../hub/schemas/bounds.ts";
import { documentSchema } from "../../hub/schemas/document-schemas.ts";
import { answerTables, requestTables } from "../../hub/schemas/request-tables.ts";

/** Returns the results of our schema and of the document's schema for a body. */
function verdicts(component: string, changes: JsonObject) {
  const table = [...requestTables, ...answerTables].find((known) => known.component === component);
  if (!table) throw new Error(`No table has ${component}.`);
  const body = { ...table.body, ...changes };
  return {
    ours: table.schema.safeParse(body).success,
    document: documentSchema(`/components/schemas/${component}`)(body),
  };
}

const moment = { notifications: { product_updates_after: "2026-06-30T23:59:60Z" } };

/** All known differences: rules that JSON Schema cannot express, or that the validator interprets differently. */
describe("Our schemas and an independent validator differ on", () => {
  test("a leap second, which a JavaScript date cannot represent", () => {
    expect(verdicts("NotificationSettingsChange", moment)).toEqual({ ours: false, document: true });
    expect(verdicts("AuditLogEvent", { createdAt: "2026-06-30T23:59:60Z" })).toEqual({ ours: false, document: true });
  });

  test("a lowercase t in a timestamp, which RFC 3339 allows and hub-api.md does not", () => {
    expect(verdicts("AuditLogEvent", { createdAt: "2026-09-01t12:34:56Z" })).toEqual({ ours: false, document: true });
    expect(verdicts("AuditLogEvent", { createdAt: "2026-09-01T12:34:56z" })).toEqual({ ours: false, document: false });
  });

  test("an avatar URL with an invalid port", () => {
    const avatarUrl = "http://localhost:65536/";
    expect(verdicts("OrganizationAvatar", { avatarUrl })).toEqual({ ours: false, document: true });
  });

  test("an avatar URL that is not percent-encoded, which our schema accepts like a browser", () => {
    const avatarUrl = "https://example.com/é";
    expect(verdicts("OrganizationAvatar", { avatarUrl })).toEqual({ ours: true, document: false });
  });

  test("an e-mail address with a rare character", () => {
    const email = "ada!x@acme.example";
    const path = "/paths/~1api~1organizations~1{name}~1members/get/parameters/2/schema";
    expect(memberOperations.list.request.query.safeParse({ email }).success).toBe(false);
    expect(documentSchema(path)(email)).toBe(true);
  });
});
