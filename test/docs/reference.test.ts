import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { renderErrors } from "../../docs/scripts/errors.ts";
import { renderHubOperations } from "../../docs/scripts/hub-operations.ts";
import { hubChanges } from "../../scripts/contract-diff/hub-changes.ts";
import { HubClient } from "../../src/client.ts";
import { formatDuration } from "../../src/core/options.ts";
import { defaultLimits } from "../../src/http-server/server.ts";
import { auditLogTypes } from "../../src/hub/organizations/audit-log-types.ts";
import { createRetryPolicy } from "../../src/inbox/retry.ts";
import { WebhooksServer } from "../../src/index.ts";
import { openApiDocument } from "../../src/local-hub/openapi.ts";
import { routes as hubRoutes } from "../../src/local-hub/routes/index.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { readPage } from "./doc-page.ts";

const declarations = readFileSync(new URL("../../api/hub-webhooks.d.ts", import.meta.url), "utf8");

/** Returns the fields of a public interface without inherited ones. Nested fields have the form `timeouts.write`. */
function fieldsOf(name: string): string[] {
  const [, body = ""] = new RegExp(`^interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, "ms").exec(declarations) ?? [];
  const fields: string[] = [];
  let parent = "";
  for (const line of body.replaceAll(/\/\*\*.*?\*\//gs, "").split("\n")) {
    const [, indent = "", field = "", rest = ""] = /^( +)(\w+)\??: (.*)$/.exec(line) ?? [];
    if (field === "") continue;
    if (rest === "{") parent = field;
    else fields.push(indent.length > 2 ? `${parent}.${field}` : field);
  }
  return fields;
}

/** Returns the text of a section with its subsections. */
function sectionOf(page: string, heading: string): string {
  const rank = /^#+/.exec(heading)?.[0] ?? "";
  const [, text = ""] = readPage(page).split(`\n${heading}\n`);
  return text.split(new RegExp(`^#{1,${rank.length}} `, "m"))[0] ?? "";
}

/** Returns the first cells of the rows of all option tables in a text. */
function optionsIn(text: string): string[] {
  return [...text.matchAll(/^\| `([\w.]+)`/gm)].map(([, option = ""]) => option);
}

describe("The page of options lists", () => {
  const page = "docs/reference/options.md";
  const tunnel = sectionOf(page, "### Tunnel options");

  test.each([
    ["server", sectionOf(page, "## Server options"), fieldsOf("WebhooksServerOptions")],
    [
      "endpoint",
      sectionOf(page, "## Endpoint options"),
      [...fieldsOf("EndpointOptions"), ...fieldsOf("FilterOptions")],
    ],
    ["launch", sectionOf(page, "## Launch options").replace(tunnel, ""), fieldsOf("LaunchOptions")],
    ["tunnel", tunnel, fieldsOf("OpenTunnelOptions").filter((field) => field !== "port")],
  ])("every %s option", (_kind, text, fields) => {
    expect(fields.length).toBeGreaterThan(3);
    expect(optionsIn(text).sort()).toEqual([...fields].sort());
  });
});

/** Returns the methods of an area of a client, such as `hub.webhooks`, and of its parts. */
function methodsOf(name: string, area: object): [string, string[]][] {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(area)).filter((method) => method !== "constructor");
  const parts = Object.entries(area).filter(([, part]) => typeof part === "object");
  return [[name, methods.sort()], ...parts.flatMap(([part, value]) => methodsOf(`${name}.${part}`, value))];
}

test("The guide to webhooks lists every method of a client", () => {
  const rows = readPage("docs/guides/manage-webhooks.md").matchAll(/^\| `(hub[\w.]*)` \| (.*) \|$/gm);
  const listed = [...rows].map(([, area = "", methods = ""]) => [area, methods.match(/\w+/g)?.sort()]);
  const hub = new HubClient({ token: "hf_local" });
  expect(listed.sort()).toEqual(methodsOf("hub", hub).sort());
});

test("The page of errors joins the lines of a doc comment", () => {
  const source = ["export interface WebhookErrorCodes {", "  /**", "   * 503: one", "   * two.", "   */"];
  const page = renderErrors([...source, '  SAMPLE: "response";', "}"].join("\n"));
  expect(page).toContain("| `SAMPLE` | 503: one two. |");
});

describe("The page of answers", () => {
  const rows = [...readPage("docs/reference/answers.md").matchAll(/\| ([\d, ]+) +\| `([A-Z_]+)`/g)];
  const documented = new Map(rows.map(([, status = "", code = ""]) => [code, status.trim()]));
  const payload = webhookPayload("repo.content");

  /** Creates a server with an endpoint for each documented response. */
  function createServer(): WebhooksServer {
    const server = new WebhooksServer({ secret: "s3cret", bodyLimit: 5_000, logger: createMemoryLogger() });
    server.webhook("retrain", () => {});
    server.webhook("throws", () => {
      throw new Error("The trainer is down.");
    });
    server.webhook("hangs", { timeout: 5 }, () => new Promise(() => {}));
    server.webhook("circular", () => {
      const result: { self?: unknown } = {};
      result.self = result;
      return result;
    });
    return server;
  }

  /** Returns a valid delivery with changes. */
  function request({
    endpoint = "retrain",
    secret = "s3cret",
    body = JSON.stringify(payload),
    headers = {},
    method = "POST",
  }: {
    endpoint?: string;
    secret?: string | null;
    body?: string;
    headers?: Record<string, string>;
    method?: string;
  }): Request {
    const { url, headers: usual } = deliveryRequest({ endpoint, payload, ...(secret !== null && { secret }) });
    const sent = { ...Object.fromEntries(usual), ...headers };
    return new Request(url, { method, headers: sent, ...(method === "POST" && { body }) });
  }

  test.each([
    ["ENDPOINT_UNKNOWN", request({ endpoint: "nowhere" })],
    ["METHOD_NOT_ALLOWED", request({ method: "GET" })],
    ["SECRET_MISSING", request({ secret: null })],
    ["SECRET_INVALID", request({ secret: "other" })],
    ["MEDIA_TYPE_UNSUPPORTED", request({ headers: { "content-type": "text/plain" } })],
    ["ENCODING_UNSUPPORTED", request({ headers: { "content-encoding": "gzip" } })],
    ["BODY_TOO_LARGE", request({ body: "x".repeat(5_001) })],
    ["BODY_NOT_JSON", request({ body: "{" })],
    ["BODY_TOO_DEEP", request({ body: `${"[".repeat(101)}${"]".repeat(101)}` })],
    ["PAYLOAD_INVALID", request({ body: "{}" })],
    ["HANDLER_FAILED", request({ endpoint: "throws" })],
    ["HANDLER_TIMED_OUT", request({ endpoint: "hangs" })],
    ["RESULT_NOT_JSON", request({ endpoint: "circular" })],
  ])("has the status of %s", async (code, sent) => {
    const response = await createServer().fetch(sent);
    expect(await response.json()).toMatchObject({ code });
    expect(documented.get(code)).toBe(String(response.status));
  });

  test("lists the status for too many wrong secrets", async () => {
    const server = createServer();
    let response = await server.fetch(request({ secret: "other" }));
    for (let sent = 1; sent <= 100; sent += 1) response = await server.fetch(request({ secret: "other" }));
    expect(await response.json()).toMatchObject({ code: "TOO_MANY_FAILURES" });
    expect(documented.get("TOO_MANY_FAILURES")).toBe(String(response.status));
    expect((await server.fetch(request({}))).status).toBe(200);
  });
});

describe("The generated page of operations", () => {
  const page = renderHubOperations();
  /** The cells of the rows of all tables whose first cell is code, by this cell. */
  const rows = page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

  test("has one row for each operation, with its error statuses", () => {
    const { paths } = openApiDocument({ serverUrl: "http://localhost", routes: hubRoutes });
    const documented = rows.flatMap(([, name = "", , , , errors = ""]) =>
      /^`[A-Z]+ \//.test(name) ? [`${name.replaceAll("`", "")}: ${errors}`] : [],
    );
    const known = hubRoutes.map(({ method, path }) => {
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

/** Returns the cells of each row in the table whose first heading is `heading`. */
function tableIn(page: string, firstHeading: string): string[][] {
  const lines = readPage(page).split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${firstHeading} `));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("The docs list the default backoff", () => {
  const { maxAttempts, waitAfter } = createRetryPolicy({}, () => 0.5);
  const waits = Array.from({ length: maxAttempts - 1 }, (_, index) => formatDuration(waitAfter(index + 1)));
  const rows = tableIn("docs/guides/background.md", "attempt");
  expect(rows.map(([attempt, wait]) => [attempt, wait])).toEqual(
    ["none", ...waits].map((wait, index) => [String(index + 1), wait]),
  );
});

test("The docs list the default limits of a launched server", () => {
  const page = readPage("docs/reference/options.md");
  const rows = new Map(
    [...page.matchAll(/^\| (`[\w.]+`) \|.*\| ([^|]+) \|$/gm)].map(([, option, value]) => [option, value]),
  );
  expect(rows.get("`maxConnections`")).toBe(defaultLimits.maxConnections.toLocaleString("en-US"));
  expect(rows.get("`maxRequestsPerSocket`")).toBe(defaultLimits.maxRequestsPerSocket.toLocaleString("en-US"));
  expect(rows.get("`timeouts.write`")).toBe(formatDuration(defaultLimits.writeTimeoutMs));
});
