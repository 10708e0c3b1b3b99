import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { hubChanges } from "../../scripts/contract-diff/hub-changes.ts";
import { auditLogTypes } from "../../src/hub/organizations/audit-log.ts";
import { openApiDocument } from "../../src/local-hub/openapi/openapi-document.ts";
import { routes as allRoutes, specifiedRoutes as routes } from "../../src/local-hub/routes/index.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { data, TestHub } from "../local-hub/support/hub.ts";
import { jobRequests, organizationRequests, ownRequests } from "../local-hub/support/sample-requests.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

const page = readFileSync(new URL("../../docs/reference/hub-api.md", import.meta.url), "utf8");

/** Returns the section of a heading, up to the next heading of the same or a higher level. */
function section(heading: string): string {
  const [, rank = ""] = /^(#+) /.exec(heading) ?? [];
  const [, text = ""] = page.split(`${heading}\n`);
  return text.split(new RegExp(`^#{2,${rank.length}} `, "m"))[0] ?? "";
}

/** Returns the cells of each table row in a text, without header rows. */
function rows(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| method,"))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

const shortened: Record<string, string> = {
  "### Webhooks": "/api/settings/webhooks",
  "### Organizations": "/api/organizations/{name}",
  "### Notifications": "",
  "### Settings": "",
  "### Papers": "",
  "### Account and jobs": "",
};

const documented = Object.entries(shortened).flatMap(([heading, path]) =>
  rows(section(heading)).map(([operation = "", , , , errors = "", tick = ""]) => ({
    operation: operation.replaceAll("`", "").replace("…", path),
    errors: errors === "–" ? [] : errors.split(", "),
    tick,
  })),
);

/** The operations on repositories, which the page describes with fewer details. */
const repository = "/api/{repoType}/{namespace}/{repo}";
const repositoryOperations = ["### Repositories", "### Branches and tags", "### Files and commits", "### Discussions"]
  .flatMap((heading) => rows(section(heading)))
  .map(([operation = "", , , , errors = "", tick = ""]) => ({
    operation: operation.replaceAll("`", "").replace("…", repository),
    errors: errors.split(", "),
    tick,
  }));

function operationOf(row: string) {
  const operation = allRoutes.find(({ method, path }) => row === `${method.toUpperCase()} ${path}`);
  if (!operation) throw new Error(`There is no operation ${row}.`);
  return operation;
}

function statusesOf({ path, method }: { path: string; method: string }): string[] {
  const { paths } = openApiDocument({ serverUrl: "http://localhost", routes: allRoutes });
  return Object.keys(paths[path]?.[method]?.responses ?? {});
}

describe("The page of the Hub API", () => {
  let hub: TestHub;

  beforeAll(async () => {
    const local = await LocalHub.launch({ attempts: 1 });
    hub = new TestHub({ hub: local, log: createMemoryLogger() });
    return () => local.close();
  });

  test("has a row for exactly the 35 operations of the contract", () => {
    const known = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(known).toHaveLength(35);
    expect(documented.map(({ operation }) => operation).sort()).toEqual(known.sort());
  });

  test.each(documented)("lists the error statuses of $operation", ({ operation, errors }) => {
    const statuses = statusesOf(operationOf(operation)).filter(
      (status) => !["200", "302", "401", "413"].includes(status),
    );
    expect(errors).toEqual(statuses);
  });

  test.each(documented)(
    "marks $operation as implemented by the local Hub only if it is tested and succeeds",
    async (row) => {
      const [, file] = /^✓ `(.+)`$/.exec(row.tick) ?? [];
      expect(existsSync(new URL(`../local-hub/${file}.test.ts`, import.meta.url)), file).toBe(true);
      const { operationId } = operationOf(row.operation);
      const { id } = await hub.create({ watched: [data], url: "http://127.0.0.1:1/" });
      await hub.trigger();
      const [entry] = await hub.entries(id);
      const own = [...ownRequests, ...jobRequests].find((request) => request.operationId === operationId);
      const request = own ?? organizationRequests.find((known) => known.operationId === operationId);
      const name = row.operation.includes("{jobId}") ? await hub.runJob() : own ? id : "acme";
      const line = request?.line(name).replace(/\/replay\/x$/, `/replay/${entry?.logId}`) ?? "";
      // TestHub checks each response against the strict schema of its operation.
      expect((await hub.request(line, request?.body && { body: request.body })).status).toBe(200);
    },
  );

  test("has a row for exactly the operations on repositories", () => {
    const known = allRoutes.filter((route) => !routes.includes(route));
    expect(repositoryOperations.map(({ operation }) => operation).sort()).toEqual(
      known.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
    );
  });

  test.each(repositoryOperations)("lists the error statuses and the test of $operation", (row) => {
    const success = ["200", "302", "307", "401", "413"];
    expect(row.errors).toEqual(statusesOf(operationOf(row.operation)).filter((status) => !success.includes(status)));
    const [, file] = /^✓ `(.+)`$/.exec(row.tick) ?? [];
    expect(existsSync(new URL(`../local-hub/${file}.test.ts`, import.meta.url)), file).toBe(true);
  });

  test("describes each recorded change of the Hub in the same words", () => {
    const changed = rows(section("## Changes on the Hub")).filter(([since = ""]) => /^\d/.test(since));
    expect(changed).toEqual(hubChanges.map(({ since, what, client, localHub }) => [since, what, client, localHub]));
  });

  test("lists every type of audit log event", () => {
    const named = rows(section("### Audit log")).flatMap(([, types = ""]) => [...types.matchAll(/`(\w+\.[\w.]+)`/g)]);
    expect(named.map(([, type]) => type).sort()).toEqual([...auditLogTypes].sort());
  });
});
