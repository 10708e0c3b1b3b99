import * as z from "zod/mini";

/** A range of commits, or the creation or deletion of a ref. */
const refChange = z.object({ ref: z.string(), oldSha: z.nullable(z.string()), newSha: z.nullable(z.string()) });

/** The state of a repository up to which the deliveries of an endpoint were accepted. */
const repositoryCursor = z.object({
  type: z.enum(["model", "dataset", "space"]),
  name: z.string(),
  isPrivate: z.boolean(),
  /** The time of the last change, as the Hub formats it. A list with the same time needs no further requests. */
  lastModified: z.optional(z.string()),
  /** Missing if the endpoint did not receive the events of refs, so that the first ones to be read are the start. */
  refs: z.optional(z.record(z.string(), z.string())),
  /**
   * The IDs of the deliveries whose changes this state contains, and that the next run may read again. They run even if catch-up has
   * derived their changes before.
   */
  compared: z.array(z.string()),
  /** By number, and missing like `refs`. `comments`: the number of comments in the list of the Hub. */
  discussions: z.optional(
    z.record(z.string(), z.object({ status: z.string(), title: z.string(), comments: z.number() })),
  ),
  /** The number of deliveries that catch-up has derived. Part of their IDs, so that the same change can be derived again later. */
  derived: z.number(),
});

/**
 * The changes of a repository that catch-up has derived, oldest first. A later delivery of such a change is a duplicate. `at`: when the
 * change was derived. `key`: identifies a change that moves no ref.
 */
const coveredChanges = z.array(z.object({ at: z.number(), ref: z.optional(refChange), key: z.optional(z.string()) }));

/** The state of the runs of an endpoint. */
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
export type CoveredChange = z.output<typeof coveredChanges>[number];

/** The keys of the texts that catch-up stores for an endpoint. */
export const cursorKeys = {
  endpoint: "endpoint",
  repository: (id: string): string => `repository ${id}`,
  covered: (id: string): string => `covered ${id}`,
};

/** How long a derived change is remembered. The Hub retries its deliveries for a shorter time. */
export const coveredMs = 14 * 24 * 3_600_000;
/** The maximum number of remembered changes per repository. The oldest are forgotten first. */
const maxCovered = 500;

/** Reads the stored cursor of a repository. @throws if another release wrote it in another form. */
export function readRepositoryCursor(text: string | undefined): RepositoryCursor | undefined {
  return text === undefined ? undefined : repositoryCursor.parse(JSON.parse(text));
}

/** Reads the stored cursor of an endpoint. @throws like {@link readRepositoryCursor}. */
export function readEndpointCursor(text: string | undefined): EndpointCursor | undefined {
  return text === undefined ? undefined : endpointCursor.parse(JSON.parse(text));
}

/** Reads the stored derived changes of a repository. @throws like {@link readRepositoryCursor}. */
export function readCoveredChanges(text: string | undefined): readonly CoveredChange[] {
  return text === undefined ? [] : coveredChanges.parse(JSON.parse(text));
}

/** Adds derived changes to those that are remembered, without those that they undo. */
export function remember(
  covered: readonly CoveredChange[],
  added: readonly CoveredChange[],
  now: number,
): CoveredChange[] {
  const kept = covered.filter((change) => !added.some((later) => isUndone(change, later)));
  return [...kept, ...added].filter(({ at }) => at > now - coveredMs).slice(-maxCovered);
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
