/**
 * Writes the page with the operations and schemas of the Hub's API below the generated API reference, which is not in
 * git. `npm run build` and `npm run dev` of the site run this script after TypeDoc:
 *
 *     node docs/scripts/hub-operations.ts
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { hubChanges, publishedOn } from "../../scripts/contract-diff/hub-changes.ts";
import type { JsonSchema } from "../../src/local-hub/openapi.ts";
import { openApiDocument } from "../../src/local-hub/openapi.ts";

const document = openApiDocument({ serverUrl: "http://127.0.0.1:5050" });

/** Statuses that the page describes once for all operations, and successes. */
const commonStatuses: readonly string[] = ["200", "302", "307", "401", "413"];

type Operation = (typeof document.paths)[string][string];

/** Renders the page from the routes and schemas of the local Hub, and from the recorded changes of the Hub. */
export function renderHubOperations(): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
  const areas = document.tags.map(({ name, description }) => {
    const rows = operations.filter(({ operation }) => operation.tags.includes(name)).map(renderOperation);
    return `## ${titleOf(name)}\n\n${description}\n\n${table(["operation", "purpose", "request", "response", "errors"], rows)}`;
  });
  const schemas = Object.entries(document.components.schemas)
    .filter(([name]) => name !== "Error")
    .map(([name, schema]) => `### ${name}\n\n${table(["field", "type", "rules"], fieldRows(schema))}`);
  const changes = hubChanges.map(({ since, what, client, localHub }) => [since, what, client, localHub]);
  return `# Hub operations

The operations that the client calls and the local Hub serves. \`?\` marks optional fields and parameters. Every operation
can return 401, and every operation with a body can return 413.

${areas.join("\n")}
## Schemas

${schemas.join("\n")}
## Changes on the Hub

The document that the Hub published on ${publishedOn} differs from the specification of late April 2026:

${table(["since", "change", "client", "local Hub"], changes)}`;
}

function renderOperation({ name, operation }: { name: string; operation: Operation }): string[] {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const query = parameters.filter((parameter) => parameter.in === "query");
  const body = requestBody?.content["application/json"].schema;
  const content = responses["200"]?.content?.["application/json"].schema;
  const errors = Object.keys(responses).filter((status) => !commonStatuses.includes(status));
  return [
    `\`${name}\``,
    [`${summary}.`, description ?? ""].join(" ").trim(),
    [
      query.length > 0 ? `query: ${query.map((parameter) => parameterText(parameter)).join(", ")}` : "",
      body ? typeText(body) : "",
    ]
      .filter((part) => part !== "")
      .join("; ") || "–",
    content ? typeText(content) : "–",
    errors.join(", ") || "–",
  ];
}

function parameterText({ name, schema }: { name: string; schema: JsonSchema }): string {
  const rules = rulesOf(schema);
  const values = Array.isArray(schema.enum) ? schema.enum.map((value) => `\`${value}\``).join(", ") : "";
  const details = [values, rules].filter((part) => part !== "").join("; ");
  return details === "" ? `\`${name}?\`` : `\`${name}?\` (${details})`;
}

/** The rows of the fields of a schema. Fields of nested objects have paths such as `watched[].type`. */
function fieldRows(schema: JsonSchema, prefix = ""): string[][] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const own = Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const row = [`\`${path}${required.includes(name) ? "" : "?"}\``, typeText(property), rulesOf(property)];
    const items = isSchema(property.items) ? property.items : undefined;
    return [row, ...fieldRows(property, `${path}.`), ...(items ? fieldRows(items, `${path}[].`) : [])];
  });
  // Variants without types are rules about the object's own fields.
  const variants = (variantsOf(schema) ?? []).filter(({ type }) => type !== undefined);
  const rows = [...own, ...variants.flatMap((variant) => fieldRows(variant, prefix))];
  return rows.filter((row, index) => rows.findIndex((other) => other.join() === row.join()) === index);
}

/** Describes the type of a value. */
function typeText(schema: JsonSchema): string {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return `[${name}](#${name.toLowerCase()})`;
  }
  const variants = schema.type === undefined ? variantsOf(schema) : undefined;
  if (variants) return [...new Set(variants.map(typeText))].join(" or ");
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (Array.isArray(schema.type)) return schema.type.map((type) => (type === "null" ? "`null`" : type)).join(" or ");
  if (schema.type === "array") return `array of ${isSchema(schema.items) ? typeText(schema.items) : "any values"}`;
  if (schema.type === "object") {
    const required = Array.isArray(schema.required) ? schema.required : [];
    const names = Object.keys(propertiesOf(schema)).map((name) => (required.includes(name) ? name : `${name}?`));
    if (names.length > 0) return `\`{${names.join(", ")}}\``;
    return isSchema(schema.additionalProperties) ? `map of ${typeText(schema.additionalProperties)}` : "object";
  }
  if (schema.format === "date-time") return "time";
  if (schema.format === "uri") return "URL";
  if (schema.pattern === "^[0-9a-f]{24}$") return "ID";
  if (schema.pattern === "^[0-9a-fA-F]{24}$") return "ID in any case";
  return schema.type === "null" ? "`null`" : String(schema.type ?? "any JSON");
}

/** Describes the limits and the default of a value. */
function rulesOf(schema: JsonSchema): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern, format } = schema;
  const isShown = typeof pattern === "string" && !pattern.startsWith("^[0-9a-f") && format === undefined;
  return [
    rangeText(minLength, maxLength, "character"),
    rangeText(minItems, maxItems, "item"),
    rangeText(minimum, maximum, ""),
    isShown && pattern.length < 80 ? `matches \`${pattern}\`` : "",
    schema.default === undefined ? "" : `default \`${JSON.stringify(schema.default)}\``,
  ]
    .filter((rule) => rule !== "")
    .join("; ");
}

function rangeText(min: unknown, max: unknown, unit: string): string {
  if (min === undefined && max === undefined) return "";
  const range = max === undefined ? `at least ${min}` : min === undefined ? `up to ${max}` : `${min} to ${max}`;
  if (unit === "") return range;
  return `${range} ${unit}${(max ?? min) === 1 ? "" : "s"}`;
}

function variantsOf({ anyOf, oneOf }: JsonSchema): JsonSchema[] | undefined {
  const variants = anyOf ?? oneOf;
  return Array.isArray(variants) ? variants.filter(isSchema) : undefined;
}

function propertiesOf({ properties }: JsonSchema): Record<string, JsonSchema> {
  return isSchema(properties)
    ? Object.fromEntries(
        Object.entries(properties).flatMap(([name, value]) => (isSchema(value) ? [[name, value]] : [])),
      )
    : {};
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The title of an area, such as `Resource groups` for `resource-groups`. */
function titleOf(tag: string): string {
  const title = { mcp: "MCP", orgs: "Organizations", auth: "Account", repos: "Repositories", scim: "SCIM" }[tag];
  return title ?? `${tag.charAt(0).toUpperCase()}${tag.slice(1).replaceAll("-", " ")}`;
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  return [`| ${titles.join(" | ")} |`, `|${"---|".repeat(titles.length)}`, ...lines, ""].join("\n");
}

if (import.meta.main) {
  const folder = new URL("../reference/api/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL("hub-operations.md", folder), renderHubOperations());
}
