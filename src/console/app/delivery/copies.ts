import { isRecord, readOwnField } from "../../../core/describe.ts";
import { escapeHidden, quoteShellWord, readJson, toShellWord } from "../../../core/text.ts";
import { isKnownScope } from "../../../payload/names.ts";
import { webhookPayload } from "../../../payload/samples.ts";
import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import type { TestState } from "../../protocol/send.ts";

/**
 * Writes a curl command that sends a payload to an endpoint. The secret stays a shell variable, so that the copied text
 * contains none.
 */
export function toCurl({ url, body }: { url: string; body: string }): string {
  return [
    `curl ${toShellWord(url)}`,
    "--header 'Content-Type: application/json'",
    '--header "X-Webhook-Secret: $WEBHOOK_SECRET"',
    `--data-raw ${quoteShellWord(body)}`,
  ].join(" \\\n  ");
}

/**
 * Writes a vitest test that runs the endpoint's handler with a payload. The payload is written as changes to the sample of
 * its scope, so that the test shows what is special about it.
 *
 * @returns `undefined` if the body is not JSON.
 */
export function toCopiedTest({
  endpoint,
  status,
  body,
  prediction = {},
  state,
}: Pick<DeliveryDetails, "endpoint" | "status" | "body" | "prediction"> & {
  /** What the test has to create on a local Hub first. Default: the test needs no Hub. */
  state?: TestState | undefined;
}): string | undefined {
  const payload = parse(body);
  if (payload === undefined) return undefined;
  const scope = readText(payload, "event", "scope");
  const type = readText(payload, "repo", "type");
  const name = readText(payload, "repo", "name");
  const { ignored, condition } = prediction;
  const outcome = status === "ignored" || ignored !== undefined ? "ignored" : "succeeded";
  let note =
    condition === undefined ? "" : `  // The handler runs ${toComment(condition)}. The Hub lists the changed files.\n`;
  const subject = [scope, readText(payload, "event", "action"), name && `of ${name}`];
  const title = `${endpoint} ${outcome === "ignored" ? "ignores" : "handles"} ${subject.filter(Boolean).join(" ") || "a payload"}`;
  let value = toSource(payload, "  ");
  if (isKnownScope(scope) && type !== undefined && name !== undefined) {
    const changes = { ...differences(webhookPayload(scope, { repo: { type, name } }), payload) };
    const repo = { type, name, ...(isRecord(changes.repo) && changes.repo) };
    value = `webhookPayload(${JSON.stringify(scope)}, ${toSource({ ...changes, repo }, "  ")})`;
  }
  const importSample = value.startsWith("webhookPayload(")
    ? 'import { webhookPayload } from "hub-webhooks/testing";\n'
    : "";
  const hub = state && writeHub(state, payload, value);
  if (hub) value = hub.value;
  else if (state && state.events.length > 0) note += `  // ${tooLarge}\n`;
  const imports = hub
    ? `${hubImports}${importSample}import { expect, test, vi } from "vitest";\n`
    : `${importSample}import { expect, test } from "vitest";\nimport server from "./server.ts";\n`;
  return `${imports}
test(${toSource(title)}, async () => {
${hub?.setup ?? ""}  const payload = ${value};
${note}  const outcome = await server.receive(payload, { endpoint: ${toSource(endpoint)} });
  if (outcome.status === "failed") throw outcome.error;
  expect(outcome.status).toBe("${outcome}");
});
`;
}

const hubImports = `import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
`;

const tooLarge = "The files of the repository are too large for a test. Run it with a Hub that has them.";

const maxStateLength = 50_000;

/** Returns the query for what a test of a payload has to create, or `undefined` for a payload without stored content. */
export function toStateQuery(body: string): Record<string, string | undefined> | undefined {
  const payload = parse(body);
  const { type, name } = Object(readOwnField(payload, "repo"));
  if (payload === undefined || !["model", "dataset", "space"].includes(type)) return undefined;
  const { num } = Object(readOwnField(payload, "discussion"));
  const { ref, oldSha, newSha } = firstRef(payload);
  return { type, name, num, ref, oldSha: oldSha ?? undefined, newSha: newSha ?? undefined };
}

function firstRef(payload: object): { ref?: string; oldSha?: string | null; newSha?: string | null } {
  const refs = readOwnField(payload, "updatedRefs");
  return Object(Array.isArray(refs) ? refs[0] : undefined);
}

/** Writes the code that creates a repository on a local Hub, and the payload with the commits of this repository. */
function writeHub(
  { events, notes }: TestState,
  payload: object,
  value: string,
): { setup: string; value: string } | undefined {
  const source = toSource(events, "  ");
  if (events.length === 0 || source.length > maxStateLength) return undefined;
  const { ref = "main", oldSha, newSha } = firstRef(payload);
  const headSha = readText(payload, "repo", "headSha");
  const shas = Object.entries({ newSha, oldSha, ...(headSha !== newSha && headSha !== oldSha && { headSha }) });
  const lines = [
    ...(newSha ? [{ names: oldSha ? 'newSha = "", oldSha = ""' : 'newSha = ""', revision: ref }] : []),
    ...(headSha !== undefined && headSha !== newSha && headSha !== oldSha
      ? [{ names: 'headSha = ""', revision: "main" }]
      : []),
  ].map(({ names, revision }) => `  const [${names}] = await commitsOf(${toSource(revision)});\n`);
  const { type, name } = Object(readOwnField(payload, "repo"));
  const client = `  const client = new HubClient({ hubUrl: hub.url, token: "hf_local" }).repo(${toSource({ type, name })});
  const commitsOf = async (revision: string) => {
    const ids: string[] = [];
    for await (const { id } of client.commits({ revision })) ids.push(id);
    return ids;
  };
`;
  return {
    setup: `  await using hub = await LocalHub.launch();
${notes.map((note) => `  // ${toComment(note)}\n`).join("")}  await hub.run({ events: ${source} });
  // The server has to use these variables, which is the default.
  vi.stubEnv("HF_ENDPOINT", hub.url);
  vi.stubEnv("HF_TOKEN", "hf_local");
  const { default: server } = await import("./server.ts");
${lines.length > 0 ? client + lines.join("") : ""}`,
    value: shas.reduce((text, [variable, sha]) => (sha ? text.replaceAll(JSON.stringify(sha), variable) : text), value),
  };
}

/** A line break would end the comment. */
function toComment(text: string): string {
  return escapeHidden(text.replace(/\s+/g, " "));
}

/** Lists what to change in `base` to get `actual`. A key that is missing in `actual` becomes `undefined`. */
function differences(base: object, actual: object): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(actual)])) {
    const [before, after] = [readOwnField(base, key), readOwnField(actual, key)];
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    changes[key] = isRecord(before) && isRecord(after) ? differences(before, after) : after;
  }
  return changes;
}

function readText(payload: object, object: string, name: string): string | undefined {
  const text = readOwnField(readOwnField(payload, object), name);
  return typeof text === "string" ? text : undefined;
}

function parse(body: string): object | undefined {
  const payload = readJson(body);
  return isRecord(payload) ? payload : undefined;
}

const maxInlineLength = 80;

/** Writes a value as JavaScript source: JSON values and `undefined`. */
function toSource(value: unknown, indent = ""): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => toSource(item, inner));
    return wrap("[", "]", items, indent);
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([key, field]) => `${toKey(key)}: ${toSource(field, inner)}`);
    return wrap("{", "}", fields, indent);
  }
  return value === undefined ? "undefined" : escapeHidden(JSON.stringify(value));
}

function wrap(open: string, close: string, parts: readonly string[], indent: string): string {
  const space = open === "{" ? " " : "";
  const inline = `${open}${space}${parts.join(", ")}${space}${close}`;
  if (parts.length === 0) return `${open}${close}`;
  if (inline.length + indent.length <= maxInlineLength && !inline.includes("\n")) return inline;
  return `${open}\n${parts.map((part) => `${indent}  ${part},\n`).join("")}${indent}${close}`;
}

function toKey(key: string): string {
  // As a plain key, it would set the prototype.
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : escapeHidden(JSON.stringify(key));
}
