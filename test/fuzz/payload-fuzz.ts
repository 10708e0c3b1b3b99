import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { isScope, parsePayload, WebhookError, type WebhookPayload, WebhooksServer } from "hub-webhooks";
import { webhookPayload } from "hub-webhooks/testing";
import { fixtureNames, readFixture } from "../fixtures/read-fixture.ts";
import { changedAt, pathsIn } from "../payload/paths.ts";
import type { Findings } from "../support/findings.ts";
import { knownEvents } from "../support/known-events.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { broken } from "./payload-types.ts";

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

/** What the Hub sends, with something else here and there: far closer to valid than any random value. */
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

/** The text of a body, with a few characters changed. */
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
server.webhook("any", (payload) => firstLook(payload));
server.webhook(
  "content",
  { scope: "repo.content", repo: ["dataset:*", "bucket:acme/*"], ref: "refs/heads/*" },
  firstLook,
);
server.webhook(
  "comments",
  { scope: "discussion.comment", action: "create" },
  ({ comment }) => comment.author.id.length,
);
server.webhook("config", { scope: "repo.config" }, ({ updatedConfig }) => updatedConfig.private ?? null);
const endpoints = ["any", "content", "comments", "config"];

/** What a handler does that believes in its types. */
function firstLook(payload: WebhookPayload): unknown {
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

const throwsOnlyItsOwn = fc.property(anything, (value) => {
  const before = JSON.stringify(value);
  const payload = parse(value);
  if (JSON.stringify(value) !== before) throw new Error("It was changed.");
  if (!payload) return;
  const wrong = broken(payload);
  if (wrong !== undefined) throw new Error(`It is accepted, and ${wrong}.`);
  firstLook(payload);
});

const roundTrips = fc.property(anything, (value) => {
  const payload = parse(value);
  if (!payload) return;
  const again = parse(JSON.parse(JSON.stringify(payload)));
  if (!isDeepStrictEqual(JSON.stringify(again), JSON.stringify(payload)))
    throw new Error("It is another one afterwards.");
});

const serves = fc.asyncProperty(fc.constantFrom(...endpoints), text, async (endpoint, body) => {
  const headers = { "content-type": "application/json", "x-webhook-secret": "s3cret" };
  const { status } = await server.request(`/webhooks/${endpoint}`, { method: "POST", headers, body });
  logger.lines.length = 0;
  if (![200, 400, 422].includes(status)) throw new Error(`It is answered ${status}.`);
});

const properties = [throwsOnlyItsOwn, roundTrips, serves];
const casesPerRun = 200;

/** Gives the parser, and a server around it, generated and changed payloads. */
export class PayloadFuzz {
  cases = 0;
  readonly #findings: Findings;
  readonly #seed: number;

  constructor({ findings, seed }: { findings: Findings; seed: number }) {
    this.#findings = findings;
    this.#seed = seed;
  }

  /** Goes on until it is told to stop. */
  async run(isOver: () => boolean): Promise<void> {
    const prototype = Object.getOwnPropertyNames(Object.prototype).join();
    for (let run = 0; !isOver(); run += 1) {
      for (const [index, property] of properties.entries()) {
        const seed = this.#seed * 1_000_003 + run;
        // Each run begins with plain values; the later ones are larger.
        const result = await fc.check<unknown[]>(property, { seed, numRuns: casesPerRun, endOnFailure: false });
        this.cases += result.numRuns;
        if (result.failed) {
          const shown = JSON.stringify(result.counterexample)?.slice(0, 2_000);
          this.#findings.note(`payload, property ${index}: ${result.errorInstance}`, `seed ${seed}: ${shown}`);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    if (Object.getOwnPropertyNames(Object.prototype).join() !== prototype)
      this.#findings.note("a prototype was changed", "");
  }
}
