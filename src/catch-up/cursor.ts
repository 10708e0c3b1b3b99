import * as z from "zod/mini";
import type { Cursors } from "../inbox/inbox.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import type { WatchedItem, WebhookDomain } from "../payload/watch.ts";

/** An endpoint whose missed deliveries are derived. */
export interface CatchUpTarget {
  endpoint: string;
  watch: readonly WatchedItem[];
  domains: readonly WebhookDomain[];
  /** Where the first run starts: at the present state, at the beginning, or at a time. */
  since: "now" | "all" | Date;
}

/** A range of commits, or the creation or deletion of a ref. */
const refChange = z.object({ ref: z.string(), oldSha: z.nullable(z.string()), newSha: z.nullable(z.string()) });

/** The state of a repository up to which the deliveries of an endpoint were accepted. */
const repositoryCursor = z.object({
  type: z.enum(["model", "dataset", "space", "bucket"]),
  name: z.string(),
  isPrivate: z.boolean(),
  /** The time of the last change, as the Hub formats it. A list with the same time needs no further requests. */
  lastModified: z.optional(z.string()),
  /** Missing if the endpoint did not receive the events of refs, so that the first ones to be read are the start. */
  refs: z.optional(z.record(z.string(), z.string())),
  /** The deliveries that this state contains, and that the next run may read again. They run even if their changes were derived. */
  compared: z.array(z.string()),
  /** By number, and missing like `refs`. `comments`: the number of comments in the list of the Hub. */
  discussions: z.optional(
    z.record(z.string(), z.object({ status: z.string(), title: z.string(), comments: z.number() })),
  ),
  /** Only of buckets, and missing like `refs`. */
  bucket: z.optional(
    z.object({
      /** Another time means that the bucket was deleted and created again. */
      createdAt: z.string(),
      readAt: z.number(),
      /** When the latest of the files was uploaded. */
      uploadedAt: z.number(),
      files: z.string(),
      /** The ID in the last delivery of the Hub. */
      id: z.optional(z.string()),
    }),
  ),
  /** The number of deliveries that catch-up has derived. Part of their IDs, so that the same change can be derived again later. */
  derived: z.number(),
});

const updatedFile = z.object({
  path: z.string(),
  action: z.string(),
  xetHash: z.optional(z.string()),
  size: z.optional(z.number()),
});

/** The updated refs or files for which a delivery runs that catch-up has derived in part. */
const deliveryPart = z.object({
  updatedRefs: z.optional(z.array(refChange)),
  updatedFiles: z.optional(z.array(updatedFile)),
});

/** What the decisions about the deliveries of a repository depend on, in all processes that share an inbox. */
const coverage = z.object({
  /**
   * The changes that catch-up has derived, oldest first. A later delivery of such a change is a duplicate. `at`: when the change was
   * derived. `files`: the path and the new state of files in a bucket. `key`: identifies another change.
   */
  changes: z.array(
    z.object({
      at: z.number(),
      ref: z.optional(refChange),
      files: z.optional(z.array(z.tuple([z.string(), z.string()]))),
      key: z.optional(z.string()),
    }),
  ),
  /** By the ID of the delivery. The latest last. */
  parts: z.record(z.string(), deliveryPart),
  /** The process that derives deliveries of the repository. The others wait before they decide about one. */
  comparing: z.optional(z.string()),
});

/** What a process has derived and not yet accepted. */
const unaccepted = z.array(z.object({ id: z.string(), body: z.string() }));

const endpointCursor = z.object({
  /** When the last run started, in milliseconds since the epoch. */
  ranAt: z.number(),
  /** The items of `watch` whose repositories have cursors, as `type:name`. */
  watched: z.array(z.string()),
  /** When the last complete run of repositories that the last run could not read started, by ID. */
  unfinished: z.record(z.string(), z.number()),
});

export type RefChange = z.output<typeof refChange>;
export type RepositoryCursor = z.output<typeof repositoryCursor>;
export type EndpointCursor = z.output<typeof endpointCursor>;
export type DeliveryPart = z.output<typeof deliveryPart>;
export type Coverage = z.output<typeof coverage>;
export type CoveredChange = Coverage["changes"][number];

/** Returns the ID under which catch-up stores what it has seen of a repository. The Hub does not publish the IDs of buckets. */
export function idOf({ type, name, id }: Pick<WebhookPayload["repo"], "type" | "name" | "id">): string {
  return type === "bucket" ? `bucket:${name}` : id;
}

export const cursorKeys = {
  endpoint: "endpoint",
  /** What is stored with the cursor of a repository, and must be accepted before another one is compared. */
  unaccepted: "unaccepted",
  repository: (id: string): string => `repository ${id}`,
  coverage: (id: string): string => `coverage ${id}`,
};

/** How long a derived change is remembered. The Hub retries its deliveries for a shorter time. */
export const coveredMs = 14 * 24 * 3_600_000;
/** The maximum number of remembered changes per repository. The oldest are forgotten first. */
const maxCovered = 500;
const maxPartItems = 20_000;
/** The maximum number of remembered files per bucket, which is twice the number in a delivery. */
const maxCoveredFiles = 20_000;

/** Returns a function that parses a stored text. It throws if another release wrote the text in another form. */
function readerOf<Schema extends z.ZodMiniType>(schema: Schema) {
  return (text: string | undefined): z.output<Schema> | undefined =>
    text === undefined ? undefined : schema.parse(JSON.parse(text));
}

export const readRepositoryCursor = readerOf(repositoryCursor);
export const readEndpointCursor = readerOf(endpointCursor);
export const readUnaccepted = readerOf(unaccepted);
const readStoredCoverage = readerOf(coverage);

export function readCoverage(text: string | undefined): Coverage {
  return readStoredCoverage(text) ?? { changes: [], parts: {} };
}

const changeMs = 10_000;
/** The pause after which a process looks again whether another one has finished. */
export const recheckMs = 100;

export interface CoverageStore {
  cursors: Cursors;
  endpoint: string;
  repositoryId: string;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
}

/**
 * Changes the coverage of a repository while no other process does, and stores `texts` at the same time. If `change` returns `undefined`,
 * nothing is stored. Returns whether it was stored.
 */
export async function changeCoverage(
  { cursors, endpoint, repositoryId, wait, signal }: CoverageStore,
  change: (coverage: Coverage, text: string | undefined) => Coverage | undefined,
  texts: readonly (readonly [string, string])[] = [],
): Promise<boolean> {
  const key = cursorKeys.coverage(repositoryId);
  const claim = { key: `${endpoint} ${key}`, holder: crypto.randomUUID() };
  while (!(await cursors.claim({ ...claim, forMs: changeMs }))) await wait(recheckMs, signal);
  try {
    const text = await cursors.get(endpoint, key);
    const next = change(readCoverage(text), text);
    if (next) await cursors.set(endpoint, new Map([...texts, [key, JSON.stringify(next)]]));
    return next !== undefined;
  } finally {
    await cursors.claim({ ...claim, forMs: 0 }).catch(() => {});
  }
}

export function rememberPart(parts: Coverage["parts"], id: string, part: DeliveryPart): Coverage["parts"] {
  const sizeOf = ([, { updatedRefs = [], updatedFiles = [] }]: [string, DeliveryPart]) =>
    updatedRefs.length + updatedFiles.length;
  return Object.fromEntries(latest([...Object.entries(parts), [id, part]], maxPartItems, sizeOf));
}

/** Returns the latest items of which the sum of the sizes is at most `max`. */
function latest<Item>(items: readonly Item[], max: number, sizeOf: (item: Item) => number): Item[] {
  let sum = 0;
  const fits = (item: Item) => {
    sum += sizeOf(item);
    return sum <= max;
  };
  return items.toReversed().filter(fits).toReversed();
}

/** Adds derived changes to those that are remembered, without those that they undo. */
export function remember(
  covered: readonly CoveredChange[],
  added: readonly CoveredChange[],
  now: number,
): CoveredChange[] {
  const paths = new Set(added.flatMap(({ files = [] }) => files.map(([path]) => path)));
  const kept = withoutFiles(covered, { paths, until: Number.POSITIVE_INFINITY }).filter(
    (change) => !added.some((later) => isUndone(change, later)),
  );
  const recent = [...kept, ...added].filter(({ at }) => at > now - coveredMs).slice(-maxCovered);
  return latest(recent, maxCoveredFiles, ({ files = [] }) => files.length);
}

/** Forgets the changes of files that were derived until a time, because the files have changed again. */
export function withoutFiles(
  covered: readonly CoveredChange[],
  { paths, until }: { paths: ReadonlySet<string>; until: number },
): readonly CoveredChange[] {
  if (paths.size === 0) return covered;
  return covered.flatMap((change) => {
    if (change.at > until) return [change];
    const files = change.files?.filter(([path]) => !paths.has(path));
    if (files === undefined) return [change];
    return files.length === 0 ? [] : [{ ...change, files }];
  });
}

function isUndone({ key, ref }: CoveredChange, later: CoveredChange): boolean {
  if (key !== undefined) return later.key !== undefined && isSameSubject(key, later.key);
  return ref !== undefined && later.ref?.ref === ref.ref && later.ref.newSha === ref.oldSha;
}

/** Whether two changes replace one another, such as two names. The keys are those of `keyOf`. */
export function isSameSubject(one: string, other: string): boolean {
  const pattern = /^(?:name|private|discussion \d+)(?= .)/;
  const subject = pattern.exec(other)?.[0];
  return subject !== undefined && pattern.exec(one)?.[0] === subject;
}
