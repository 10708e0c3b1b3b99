import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { asObject, type JsonObject, readFacts } from "../../../scripts/contract-diff/schema-facts.ts";
import { openApiDocument } from "../../../src/local-hub/openapi.ts";
import { specifiedRoutes } from "../../../src/local-hub/routes/index.ts";
import { auditLogTypes, requests, responses } from "./bodies.ts";
import { objectsIn, variantsOf } from "./cases.ts";
import { type Fact, kindOf } from "./facts.ts";
import { operations } from "./operations.ts";

/** The generated OpenAPI document. */
export const document: ReturnType<typeof openApiDocument> = openApiDocument({
  serverUrl: "http://localhost:5050",
  routes: specifiedRoutes,
});
const json = asObject(JSON.parse(JSON.stringify(document)));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: "hub:document", ...json });
const compiled = new Map<string, ValidateFunction>();

/** Returns a validator of a part of the document that is independent of our schemas. */
export function documentSchema(pointer: string): ValidateFunction {
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `hub:document#${encodeURI(pointer)}` });
  compiled.set(pointer, validate);
  return validate;
}

/** Returns how a JSON schema differs from the facts: other fields, enums, defaults, and required fields. */
export function findDifferences(schema: unknown, facts: readonly Fact[]): string[] {
  const [ours, theirs] = [expectedLines(facts), documentLines(schema)];
  return [
    ...theirs.filter((line) => !ours.includes(line)).map((line) => `only in the document: ${line}`),
    ...ours.filter((line) => !theirs.includes(line)).map((line) => `only in the facts: ${line}`),
  ];
}

function expectedLines(facts: readonly Fact[]): string[] {
  const implicit = objectsIn(facts).filter(({ path }) => path !== "" && !facts.some((fact) => fact.path === path));
  const named = facts.filter(({ path }) => path !== "");
  const values = Map.groupBy(named, ({ path }) => path);
  const lines = named.flatMap(({ path, presence, fallback }) => {
    const enums = (values.get(path) ?? []).flatMap(({ kind }) => kindOf(kind).values ?? []);
    return [
      `${path} is ${presence === "required" || presence === "returned" ? "required" : "optional"}`,
      ...(fallback === undefined ? [] : [`${path} defaults to ${JSON.stringify(fallback)}`]),
      ...[...new Set(enums)].map((value) => `${path} can be ${value}`),
    ];
  });
  return [...new Set([...implicit.map(({ path }) => `${path} is required`), ...lines])];
}

function documentLines(schema: unknown): string[] {
  const lines = [...readFacts(schema, { document: json, isRequest: false })].flatMap(([place, fact]) => {
    const path = place
      .replace(/<.*?>/g, "")
      .replace(/^\./, "")
      .replace(/\.\{value\}/g, "{}");
    if (path === "" || /\{(name|value)\}$/.test(path)) return [];
    const defaults = fact.rules.filter((rule) => rule.startsWith("default: "));
    return [
      `${path} is ${fact.required ? "required" : "optional"}`,
      ...defaults.map((rule) => `${path} defaults to ${rule.replace("default: ", "")}`),
      ...(fact.values ?? []).map((value) => `${path} can be ${value}`),
    ];
  });
  return [...new Set(lines)];
}

/** Texts of the JSON that the current Hub writes differently. */
const replacements: readonly [RegExp, string][] = [
  // Only the built-in roles.
  [/\{"anyOf":\[(\{"type":"string","enum":\["admin"[^\]]*\]\}),\{"type":"string","minLength":1\}\]\}/g, "$1"],
  [/,"pattern":"\^\[\^\/\]\+\\\\\/\[\^\/\]\+\$"/g, ""],
  [/\(\?!__proto__\$\)/g, ""],
  [/"pattern":"\^\[hH\][^"]*",?/g, ""],
  [/"schema":\{"default":false,"type":"boolean"\}/g, '"schema":{"default":false}'],
  [/("description":"Any value redirects[^}]*"schema":)\{"type":"string"\}/g, "$1{}"],
];

const words = (text: string) => text.split(" ");
const allowedEmpty = {
  "properties.watched.items.properties.name.minLength": undefined,
  "properties.jobSourceId.minLength": undefined,
};

/** Changes to components. `undefined` removes a part. */
const componentChanges: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Webhook: { required: ["id", "disabled", "watched", "domains", "hasSecret"] },
  ResourceGroup: { required: ["id", "name", "users", "resources"] },
  NetworkSecurity: {
    required: words("enforceAuth enforceIpRestriction highRateLimits ipRanges blockedContents allowedContents"),
    "properties.highRateLimits": { type: "boolean" },
  },
  NetworkSecurityChange: { "properties.ipRanges.items.pattern": "^[0-9a-f.:/]+$" },
  PaperClaim: {
    required: ["paperId", "claimAuthorId"],
    "properties.paperId": { type: "string", pattern: "^\\d{4}\\.\\d+$" },
  },
  WebhookRequest: allowedEmpty,
  WebhookUpdate: allowedEmpty,
  AuditLogEvent: { "properties.token.required": ["type", "id", "deleted"] },
  ScimServiceProviderConfig: {
    additionalProperties: false,
    "properties.sort": { type: "object", properties: { supported: { type: "boolean" } }, required: ["supported"] },
    ...{ "properties.etag": {}, "properties.authenticationSchemes": {}, "properties.meta": {} },
  },
};

/** Returns the document as the current Hub describes its API, to compare the contract with it. */
export function currentDocument(): JsonObject {
  const text = replacements.reduce((json, [old, value]) => json.replace(old, value), JSON.stringify(document));
  const current: JsonObject = JSON.parse(text);
  const schemas = asObject(asObject(current.components).schemas);
  for (const [name, changes] of Object.entries(componentChanges)) {
    for (const [path, value] of Object.entries(changes)) setPart(asObject(schemas[name]), path.split("."), value);
  }
  for (const name of [...Object.keys(requests), ...Object.keys(responses)]) {
    for (const { path, change } of variantsOf(name).flat()) {
      if (change === "removed") Reflect.deleteProperty(asObject(asObject(schemas[name]).properties), path);
    }
  }
  const removed = auditLogTypes.split(" ").filter((type) => type.startsWith("-"));
  const type = asObject(asObject(asObject(schemas.AuditLogEvent).properties).type);
  Reflect.set(type, "enum", Array.isArray(type.enum) && type.enum.filter((value) => !removed.includes(`-${value}`)));
  for (const { path, method, change } of operations) {
    if (change === "removed") Reflect.deleteProperty(asObject(asObject(current.paths)[path]), method.toLowerCase());
  }
  return current;
}

function setPart(schema: JsonObject, keys: readonly string[], value: unknown): void {
  const parent = keys.slice(0, -1).reduce((part, key) => asObject(part[key]), schema);
  const last = keys.at(-1) ?? "";
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else Reflect.set(parent, last, value);
}
