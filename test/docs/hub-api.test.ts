import { describe, expect, test } from "vitest";
import { renderHubOperations } from "../../docs/scripts/hub-operations.ts";
import { hubChanges } from "../../scripts/contract-diff/hub-changes.ts";
import { auditLogTypes } from "../../src/hub/organizations/audit-log-types.ts";
import { openApiDocument } from "../../src/local-hub/openapi.ts";
import { routes as allRoutes } from "../../src/local-hub/routes/index.ts";

describe("The generated page of operations", () => {
  const page = renderHubOperations();
  /** The cells of the rows of all tables whose first cell is code, by this cell. */
  const rows = page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

  test("has one row for each operation, with its error statuses", () => {
    const { paths } = openApiDocument({ serverUrl: "http://localhost", routes: allRoutes });
    const documented = rows.flatMap(([, name = "", , , , errors = ""]) =>
      /^`[A-Z]+ \//.test(name) ? [`${name.replaceAll("`", "")}: ${errors}`] : [],
    );
    const known = allRoutes.map(({ method, path }) => {
      const statuses = Object.keys(paths[path]?.[method]?.responses ?? {});
      const errors = statuses.filter((status) => !["200", "302", "307", "401", "413"].includes(status));
      return `${method.toUpperCase()} ${path}: ${errors.join(", ") || "–"}`;
    });
    expect(documented.sort()).toEqual(known.sort());
  });

  test("has a section for each schema that it links to, with fields", () => {
    const linked = new Set([...page.matchAll(/\]\(#(\w+)\)/g)].map(([, anchor = ""]) => anchor));
    expect(linked.size).toBeGreaterThan(30);
    const sections = new Map(
      page.split(/^### /m).map((section) => [section.split("\n", 1)[0]?.toLowerCase() ?? "", section]),
    );
    for (const anchor of linked) expect(sections.get(anchor), anchor).toMatch(/^\| `\w+\??` \| \S/m);
  });

  test("lists nested fields, limits, and every type of audit log event", () => {
    expect(page).toContain("| `watched[].name` | string | at least 1 character |");
    expect(page).toContain("| `name` | string | 1 to 200 characters |");
    for (const type of auditLogTypes) expect(page).toContain(`\`${type}\``);
  });

  test("contains each recorded change of the Hub", () => {
    for (const { client } of hubChanges) expect(page).toContain(`| ${client.replaceAll("|", "\\|")} |`);
    expect(page.match(/^\| \d{4}-\d\d-\d\d \|/gm)).toHaveLength(hubChanges.length);
  });
});
