import { asObject, type JsonObject } from "../../../scripts/contract-diff/schema-facts.ts";
import { requests, responses } from "./bodies.ts";
import { variantsOf } from "./cases.ts";
import { document } from "./document.ts";
import { operations } from "./operations.ts";
import { auditLogTypes } from "./values.ts";

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
