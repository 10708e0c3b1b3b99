import { describe, expect, test } from "vitest";
import { memberOperations } from "../../../src/hub/organizations/members.ts";
import type { JsonObject } from "../../hub/schemas/bounds.ts";
import { documentSchema } from "../../hub/schemas/document-schemas.ts";
import { answerTables, requestTables } from "../../hub/schemas/request-tables.ts";

/** What our schema says of a body of one kind, and what the document says. */
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

/** All in which the two differ: what an independent validator cannot be told, or reads in its own way. */
describe("Our schemas and an independent validator differ on", () => {
  test("a leap second, which no date of JavaScript can hold", () => {
    expect(verdicts("NotificationSettingsChange", moment)).toEqual({ ours: false, document: true });
    expect(verdicts("AuditLogEvent", { createdAt: "2026-06-30T23:59:60Z" })).toEqual({ ours: false, document: true });
  });

  test("a small t in a timestamp, which RFC 3339 knows and hub-api.md does not", () => {
    expect(verdicts("AuditLogEvent", { createdAt: "2026-09-01t12:34:56Z" })).toEqual({ ours: false, document: true });
    expect(verdicts("AuditLogEvent", { createdAt: "2026-09-01T12:34:56z" })).toEqual({ ours: false, document: false });
  });

  test("the address of a picture whose port is none", () => {
    const avatarUrl = "http://localhost:65536/";
    expect(verdicts("OrganizationAvatar", { avatarUrl })).toEqual({ ours: false, document: true });
  });

  test("the address of a picture that is not percent-encoded, which our reader takes as a browser does", () => {
    const avatarUrl = "https://example.com/é";
    expect(verdicts("OrganizationAvatar", { avatarUrl })).toEqual({ ours: true, document: false });
  });

  test("an e-mail address with a character that hardly any has", () => {
    const email = "ada!x@acme.example";
    const path = "/paths/~1api~1organizations~1{name}~1members/get/parameters/2/schema";
    expect(memberOperations.list.request.query.safeParse({ email }).success).toBe(false);
    expect(documentSchema(path)(email)).toBe(true);
  });
});
