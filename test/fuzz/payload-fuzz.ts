import fc from "fast-check";
import { isScope, parsePayload, WebhookError, type WebhookPayload, WebhooksServer } from "hub-webhooks";
import { webhookPayload } from "hub-webhooks/testing";
import { createMemoryLogger } from "../support/memory-logger.ts";
import type { Findings } from "../support/monitored-receiver.ts";
import { changedAt, fixtureNames, knownEvents, pathsIn, readFixture } from "../support/payloads.ts";

const samples: readonly unknown[] = [
  ...fixtureNames.map(readFixture),
  ...knownEvents.map(([scope, action]) => JSON.parse(JSON.stringify(webhookPayload(scope, { event: { action } })))),
];

const oddScopes = [
  "repo",
  "repo.content",
  "repo.content.lfs",
  "repo.config.dois",
  "discussion",
  "discussion.comment.reaction",
  "discussion.",
  "user",
  "",
];
const oddTypes = ["model", "dataset", "space", "bucket", "kernel", "__proto__", "collection", ""];
const oddKeys = ["__proto__", "constructor", "toString", "then", "event", "repo", "id", "", "\u0000", "\u001b[2J"];

const sample = fc.constantFrom(...samples);
const change = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(...oddScopes, ...oddTypes, null, -0, 1e308, "x".repeat(513), "\ud800", [], {}),
  fc.constant(undefined),
);

/** Payloads of the Hub with a few values replaced: far closer to valid ones than random values. */
const damaged = fc.tuple(sample, fc.array(fc.tuple(fc.nat(), change), { maxLength: 4 })).map(([value, changes]) =>
  changes.reduce<unknown>((changed, [at, put]) => {
    const paths = pathsIn(changed);
    const path = paths[at % Math.max(1, paths.length)];
    return path ? changedAt(changed, path, put) : changed;
  }, value),
);
const renamed = fc
  .tuple(damaged, fc.constantFrom(...oddScopes), fc.constantFrom(...oddTypes))
  .map(([value, scope, type]) => changedAt(changedAt(value, ["event", "scope"], scope), ["repo", "type"], type));
const extended = fc
  .tuple(damaged, fc.oneof(fc.constantFrom(...oddKeys), fc.string()), fc.jsonValue())
  .map(([value, key, put]) => changedAt(value, [key], put));
const anything = fc.oneof(damaged, renamed, extended, fc.jsonValue());

/** The text of a body with a few characters changed. */
const text = fc
  .tuple(anything, fc.array(fc.tuple(fc.nat(), fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 3 }))
  .map(([value, edits]) =>
    edits.reduce((body, [at, put]) => {
      const position = at % (body.length + 1);
      return body.slice(0, position) + put + body.slice(position + (at % 3));
    }, JSON.stringify(value) ?? ""),
  );

const logger = createMemoryLogger();
const server = new WebhooksServer({ secret: "s3cret", logger });
server.webhook("any", (payload) => readTypedFields(payload));
server.webhook(
  "content",
  { scope: "repo.content", repo: ["dataset:*", "bucket:acme/*"], ref: "refs/heads/*" },
  readTypedFields,
);
server.webhook(
  "comments",
  { scope: "discussion.comment", action: "create" },
  ({ comment }) => comment.author.id.length,
);
server.webhook("config", { scope: "repo.config" }, ({ updatedConfig }) => updatedConfig.private ?? null);
const endpoints = ["any", "content", "comments", "config"];

/** Reads fields that exist according to the types, as a handler does. */
function readTypedFields(payload: WebhookPayload): unknown {
  if (isScope(payload, "discussion.comment")) return [payload.discussion.title.length, payload.comment.url.web.length];
  if (isScope(payload, "discussion")) return payload.discussion.author.id.length;
  if (isScope(payload, "repo.config")) return payload.updatedConfig.private;
  if (isScope(payload, "repo.content"))
    return [payload.updatedRefs?.map(({ ref }) => ref.length), payload.updatedFiles?.length];
  return [
    payload.repo.name.length,
    payload.repo.owner.id.length,
    payload.webhook.id.length,
    payload.repo.url.web.length,
  ];
}

function parse(value: unknown): WebhookPayload | undefined {
  try {
    return parsePayload(value);
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "PAYLOAD_INVALID") throw error;
    if (error.message.length > 1_000) throw new Error("The message is too long.");
    return undefined;
  }
}

const acceptsOnlyValidPayloads = fc.property(anything, (value) => {
  const before = JSON.stringify(value);
  const payload = parse(value);
  if (JSON.stringify(value) !== before) throw new Error("The parser changed its input.");
  if (!payload) return;
  const wrong = findMismatch(payload);
  if (wrong !== undefined) throw new Error(`The payload is accepted, but ${wrong}.`);
  readTypedFields(payload);
});

const roundTrips = fc.property(anything, (value) => {
  const payload = parse(value);
  if (!payload) return;
  const again = parse(JSON.parse(JSON.stringify(payload)));
  const [text, againText] = [JSON.stringify(payload), JSON.stringify(again)];
  if (againText !== text) {
    const cause = `${JSON.stringify(text)}, then ${JSON.stringify(againText)}`;
    throw new Error("Parsing again returns another payload.", { cause });
  }
});

const answersEveryBody = fc.asyncProperty(fc.constantFrom(...endpoints), text, async (endpoint, body) => {
  const headers = { "content-type": "application/json", "x-webhook-secret": "s3cret" };
  const { status } = await server.request(`/webhooks/${endpoint}`, { method: "POST", headers, body });
  logger.lines.length = 0;
  if (![200, 400, 422].includes(status)) throw new Error(`The status is ${status}.`);
});

const properties = [acceptsOnlyValidPayloads, roundTrips, answersEveryBody];
const casesPerRun = 200;

/** Passes generated and damaged payloads to the parser and to a server. */
export class PayloadFuzz {
  cases = 0;
  readonly #findings: Findings;
  readonly #seed: number;

  constructor({ findings, seed }: { findings: Findings; seed: number }) {
    this.#findings = findings;
    this.#seed = seed;
  }

  async run(isOver: () => boolean): Promise<void> {
    const prototype = Object.getOwnPropertyNames(Object.prototype).join();
    for (let run = 0; !isOver(); run += 1) {
      for (const [index, property] of properties.entries()) {
        const seed = this.#seed * 1_000_003 + run;
        // Each run starts with small values.
        const result = await fc.check<unknown[]>(property, { seed, numRuns: casesPerRun, endOnFailure: false });
        this.cases += result.numRuns;
        if (result.failed) {
          const shown = JSON.stringify(result.counterexample)?.slice(0, 2_000);
          const { errorInstance: error } = result;
          const cause = error instanceof Error && error.cause !== undefined ? ` (${error.cause})` : "";
          this.#findings.note(`payload, property ${index}: ${error}`, `seed ${seed}: ${shown}${cause}`);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    if (Object.getOwnPropertyNames(Object.prototype).join() !== prototype)
      this.#findings.note("a prototype was changed", "");
  }
}

/**
 * The types of a payload, written a second time without the schemas: "string", "number?" (may be absent), "string|null", an
 * object of these, or a list of one.
 */
type TypeTable = string | readonly [TypeTable] | { readonly [key: string]: TypeTable };

const common = {
  event: { action: "string", scope: "string" },
  repo: {
    type: "string",
    name: "string",
    id: "string",
    private: "boolean",
    url: { web: "string", api: "string?" },
    owner: { id: "string" },
    headSha: "string?",
    subdomain: "string?",
  },
  webhook: { id: "string", version: "number" },
} as const;

const discussion = {
  id: "string",
  num: "number",
  title: "string",
  status: "string",
  isPullRequest: "boolean",
  author: { id: "string" },
  url: { web: "string", api: "string" },
  pinned: "boolean?",
} as const;

const comment = {
  id: "string",
  author: { id: "string" },
  hidden: "boolean",
  url: { web: "string" },
  content: "string?",
} as const;

const updatedRefs = [{ ref: "string", oldSha: "string|null", newSha: "string|null" }] as const;
const updatedFiles = [{ path: "string", action: "string", xetHash: "string?", size: "number?" }] as const;

function typeTableOf(scope: string, repoType: string): TypeTable {
  if (scope === "repo.config") return { ...common, updatedConfig: { private: "boolean?" } };
  if (scope === "discussion") return { ...common, discussion };
  if (scope === "discussion.comment") return { ...common, discussion, comment };
  if (scope !== "repo.content") return common;
  if (repoType === "bucket") return { ...common, updatedFiles };
  return ["model", "dataset", "space"].includes(repoType) ? { ...common, updatedRefs } : common;
}

/** Returns the first value of a payload that does not have its type. */
function findMismatch(payload: { event: { scope: string }; repo: { type: string } }): string | undefined {
  return mismatch(payload, typeTableOf(payload.event.scope, payload.repo.type), "payload");
}

function mismatch(value: unknown, expected: TypeTable, path: string): string | undefined {
  if (typeof expected === "string") return isOf(value, expected) ? undefined : `${path} is not a ${expected}`;
  if (isList(expected)) {
    if (!Array.isArray(value)) return `${path} is not a list`;
    return firstOf(value.map((item, index) => [item, expected[0], `${path}.${index}`]));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${path} is not an object`;
  return firstOf(Object.entries(expected).map(([key, inner]) => [Reflect.get(value, key), inner, `${path}.${key}`]));
}

function firstOf(parts: readonly (readonly [unknown, TypeTable, string])[]): string | undefined {
  for (const part of parts) {
    const found = mismatch(...part);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isList(expected: TypeTable): expected is readonly [TypeTable] {
  return Array.isArray(expected);
}

function isOf(value: unknown, expected: string): boolean {
  if (expected.endsWith("?")) return value === undefined || isOf(value, expected.slice(0, -1));
  if (expected === "string|null") return value === null || typeof value === "string";
  return typeof value === expected;
}
