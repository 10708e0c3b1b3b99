import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { HubClient } from "../../../src/client.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { casesOf, type JsonObject } from "../../hub/schemas/bounds.ts";
import { resourceGroupRequestBounds } from "../../hub/schemas/organizations/resource-group-bounds.ts";
import { type QueryTable, queryTables } from "../../hub/schemas/query-bounds.ts";
import { requestTables } from "../../hub/schemas/request-tables.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { type RequestOptions, TestHub } from "../support/hub.ts";

/*
 * One local Hub serves all tests, because rejected requests change nothing, and accepted requests do not depend on
 * earlier ones.
 */
let hub: TestHub;
/** A job of the developer. */
let jobId: string;
beforeAll(async () => {
  const log = createMemoryLogger();
  hub = new TestHub({ hub: await LocalHub.launch({ logger: log }), log });
  jobId = (await new HubClient({ hubUrl: hub.url, token: "hf_local" }).jobs.run({ image: "python" })).id;
});
afterAll(() => hub.hub.close());

/** The requests of one test. */
interface Attempt extends RequestOptions {
  /** The description of the attempt in a failed test. */
  title: string;
  line: string;
  /** The field that the error must name. */
  names: string;
}

/** Returns the attempts that the local Hub does not reject as expected. */
async function notRefused(attempts: Attempt[]): Promise<object[]> {
  const answers = await Promise.all(
    attempts.map(async ({ title, line, names, ...ask }) => {
      const { status, headers, text } = await hub.request(line, ask);
      return { title, names, status, code: headers.get("x-error-code"), text };
    }),
  );
  return answers.filter(
    ({ status, code, text, names }) => status !== 400 || code !== "BadRequest" || !namedIn(text).includes(names),
  );
}

const refusal = z.strictObject({ error: z.string() });

/** Returns the fields that an error names. */
function namedIn(text: string): (string | undefined)[] {
  const { error } = refusal.parse(JSON.parse(text));
  return error.split("; ").map((problem) => problem.split(": ")[0]);
}

/** Returns the request line of a query's operation, for an organization whose plan includes all operations. */
function lineOf({ method, path }: QueryTable): string {
  return `${method.toUpperCase()} ${path.replace("{name}", "acme").replace("{namespace}", "local-user")}`;
}

/** Inserts the ID of the job, which is created after the tests are listed. */
function withJob(line: string): string {
  return line.replace("{jobId}", jobId);
}

const bodyRows = requestTables.flatMap(({ subject, line, body, bounds }) =>
  bounds.map((bound) => ({
    subject,
    line,
    rule: bound.rule,
    at: bound.at || "the body",
    refused: casesOf({ bounds: [bound], body }).refused,
  })),
);

describe("A local Hub rejects values beyond a limit, with the name of the field, in", () => {
  test.each(bodyRows.filter(({ refused }) => refused.length > 0))("$subject: $at $rule", async ({ line, refused }) => {
    const attempts = refused.map(({ title, body, names = "" }) => ({
      title,
      line,
      names: names || "body",
      ...(body !== undefined && { body }),
    }));
    expect(await notRefused(attempts)).toEqual([]);
  });

  const queryRows = queryTables.flatMap((table) =>
    table.parameters.map((parameter) => ({ line: lineOf(table), name: parameter.name, parameter })),
  );

  test.each(queryRows)("the query of $line: $name", async ({ line, name, parameter }) => {
    const [first] = parameter.accepted;
    const twice = new URLSearchParams([name, name].map((key) => [key, first?.text ?? ""]));
    const queries = [
      ...[...parameter.refused, ...(parameter.refusedByLocalHub ?? [])].map(
        (text) => new URLSearchParams({ [name]: text }),
      ),
      ...(parameter.isList ? [] : [twice]),
    ];
    const attempts = queries.map((query) => ({
      title: `${query}`,
      line: `${withJob(line)}?${query}`,
      names: name,
    }));
    expect(await notRefused(attempts)).toEqual([]);
  });
});

/** These requests need a certain state: a cursor must come from the Hub, and a redirect points to another URL. */
const stateful = ["cursor", "redirect"];

describe("A local Hub accepts values at a limit in", () => {
  const queryRows = queryTables
    .filter(({ method }) => method === "get")
    .flatMap((table) => table.parameters.map((parameter) => ({ line: lineOf(table), ...parameter })))
    .filter(({ name }) => !stateful.includes(name));

  test.each(queryRows)("the query of $line: $name", async ({ line, name, accepted }) => {
    for (const { text } of accepted) {
      const query = new URLSearchParams({ [name]: text });
      expect((await hub.request(`${withJob(line)}?${query}`)).status, `${query}`).toBe(200);
    }
  });

  const tables = queryTables
    .filter(({ method }) => method === "get")
    .map((table) => ({ line: lineOf(table), unknown: table.unknown }));

  test.each(tables)("the query of $line: an unknown parameter", async ({ line, unknown }) => {
    for (const name of unknown) expect((await hub.request(`${withJob(line)}?${name}=true`)).status, name).toBe(200);
  });

  const free = ["NotificationDeletion", "NotificationMark", "NotificationSettingsChange", "NetworkSecurityChange"];

  test.each(requestTables.filter(({ component }) => free.includes(component)))(
    "$subject",
    async ({ line, body, bounds }) => {
      const { accepted, ignored } = casesOf({ bounds, body });
      for (const { title, body: sent } of [...accepted, ...ignored].filter(
        ({ title }) => !title.endsWith("ipRanges []"),
      )) {
        expect((await hub.request(line, { body: sent })).status, title).toBe(200);
      }
    },
  );

  test("a new resource group", async () => {
    const bounds = resourceGroupRequestBounds.filter(({ at }) => at === "name" || at === "description");
    const given: JsonObject[] = bounds.flatMap(({ at, accepted }) =>
      // Two groups with the same name are rejected.
      accepted.map((value, index) => ({ name: `Group ${index}`, [at]: value })),
    );
    for (const body of given) {
      const { status } = await hub.request("POST /api/organizations/acme/resource-groups", { body });
      expect(status, JSON.stringify(body)).toBe(200);
    }
  });
});
