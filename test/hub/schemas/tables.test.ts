import { describe, expect, test } from "vitest";
import { auditLogTypes as ourAuditLogTypes, specifiedAuditLogTypes } from "../../../src/hub/organizations/audit-log.ts";
import { type BoundTable, casesOf, namedFields, readBodies } from "./bounds.ts";
import { documentSchema } from "./document-schemas.ts";
import { auditLogTypes } from "./organizations/audit-log-bounds.ts";
import { answerTables, requestTables } from "./request-tables.ts";
import { notificationSwitches } from "./settings-bounds.ts";

/** Returns a row for each test: one rule of the specification at one place of a body. */
function rowsOf(tables: BoundTable[]) {
  return tables.flatMap((table) =>
    table.bounds.map((bound) => {
      const cases = casesOf({ bounds: [bound], body: table.body });
      return { ...table, at: bound.at || "the body", rule: bound.rule, ...cases };
    }),
  );
}

type Row = ReturnType<typeof rowsOf>[number];

/**
 * Asserts that our schema and the document accept and reject the same values, and that parsing changes only defaults.
 */
function holdsFor({ schema, component, defaults, accepted, refused, ignored }: Row): void {
  const validByDocument = documentSchema(`/components/schemas/${component}`);
  for (const { title, body } of accepted) {
    const { data, error } = schema.safeParse(body);
    expect(error, title).toBeUndefined();
    expect(data, title).toEqual({ ...defaults, ...(body instanceof Object && body) });
    expect([validByDocument(body), validByDocument.errors], title).toEqual([true, null]);
  }
  for (const { title, body, left } of ignored) {
    expect(schema.parse(body), title).toEqual({ ...defaults, ...(left instanceof Object && left) });
    expect([validByDocument(body), validByDocument.errors], title).toEqual([true, null]);
  }
  for (const { title, body, names } of refused) {
    const { error } = schema.safeParse(body);
    expect(error && namedFields(error), title).toEqual([names]);
    expect(validByDocument(body), title).toBe(false);
  }
}

describe("Our schema and the document check a request:", () => {
  test.each(rowsOf(requestTables))("$subject: $at $rule", holdsFor);
});

describe("Our schema and the document check a response:", () => {
  test.each(rowsOf(answerTables))("$subject: $at $rule", holdsFor);
});

describe("A complete body", () => {
  const tables = [...requestTables, ...answerTables];
  const whole = tables.map((table) => ({ ...table, at: "", rule: "", accepted: [], refused: [], ignored: [] }));
  const written = readBodies("least-bodies");

  test.each(whole)("with every field is parsed unchanged: $subject", (row) => {
    holdsFor({ ...row, accepted: [{ title: row.subject, body: row.body }] });
  });

  test.each(written)("with only the required fields is accepted: %s", (component, body) => {
    const found = whole.find((table) => table.component === component);
    if (!found) throw new Error(`No table has ${component}.`);
    holdsFor({ ...found, accepted: [{ title: component, body }] });
  });

  test("with only the required fields exists for each schema", () => {
    const components = new Set(tables.map(({ component }) => component));
    expect(written.map(([component]) => component).sort()).toEqual([...components].sort());
  });
});

test("The list contains the 84 event types of the audit log, in the order of the specification, and the 35 later ones", () => {
  expect(new Set(auditLogTypes).size).toBe(84);
  expect(specifiedAuditLogTypes).toEqual(auditLogTypes);
  expect(new Set(ourAuditLogTypes).size).toBe(84 + 35);
});

test("The notification settings have 23 switches", () => {
  expect(new Set(notificationSwitches).size).toBe(23);
});
