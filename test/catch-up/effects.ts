import type { RefChange } from "../../src/catch-up/cursor.ts";
import type { WebhookPayload } from "../../src/payload/schema.ts";

/** A successful run of the handler. */
export interface Handled {
  id: string;
  receivedAt: Date;
  origin: string;
  payload: WebhookPayload;
  process: { isInterrupted: boolean };
}

export interface RepositoryState {
  name: string;
  isPrivate: boolean;
  /** The commit of each branch, tag, and pull request. */
  refs: ReadonlyMap<string, string>;
  discussions: ReadonlyMap<number, { status: string; comments: readonly string[] }>;
}

export interface HubState {
  /** By ID. */
  repositories: ReadonlyMap<string, RepositoryState>;
  /** The content of each file in the bucket, as a hash. */
  files: ReadonlyMap<string, string>;
}

interface Effects {
  /** In the order in which the handler succeeded. */
  handled: readonly Handled[];
  initial: HubState;
  present: HubState;
  /** Whether branches are moved to other commits, and files can get an earlier content again. */
  forcePushes: boolean;
}

/** Returns how the effects of the handler differ from those of a receiver that never slept. */
export function differences({ handled, initial, present, ...truth }: Effects): string[] {
  const found: string[] = [];
  const byId = new Map<string, Handled>();
  for (const run of handled) {
    const earlier = byId.get(run.id);
    // A process from which another one has taken over can end its handlers later.
    const isInterrupted = earlier?.process.isInterrupted || run.process.isInterrupted;
    if (earlier?.process === run.process) found.push(`The delivery ${run.id} ran twice in one process.`);
    else if (earlier && !isInterrupted) found.push(`The delivery ${run.id} ran twice.`);
    byId.set(run.id, run);
  }
  // The order in which deliveries were received is that in which catch-up reads them.
  const runs = [...byId.values()].sort((one, other) => one.receivedAt.getTime() - other.receivedAt.getTime());
  found.push(...fileDifferences(runs, { initial, present, ...truth }));
  for (const [id, state] of present.repositories) {
    const own = runs.filter(({ payload }) => payload.repo.id === id);
    found.push(
      ...repositoryDifferences(own, { before: initial.repositories.get(id), state, ...truth }).map(
        (text) => `${state.name}: ${text}`,
      ),
    );
  }
  return found;
}

/**
 * Compares the files of the bucket. The handler receives the present content of a file, and each content once, unless a file can get it
 * again. It can receive a later content first, because the Hub promises no order. The late delivery of a derived content can follow another
 * change of the file, and is then a change: nothing in it distinguishes it from one that restores the content.
 */
function fileDifferences(
  runs: readonly Handled[],
  { initial, present, forcePushes }: Omit<Effects, "handled">,
): string[] {
  const found: string[] = [];
  const changes = new Map<string, (string | undefined)[]>();
  /** The contents of each file, without the derived ones before another change. */
  const written = new Map<string, { content: string; isDerived: boolean }[]>();
  const repeated = new Set<string>();
  for (const { payload, origin } of runs) {
    for (const { path, action, xetHash = "" } of payload.updatedFiles ?? []) {
      const content = action === "delete" ? undefined : xetHash;
      changes.set(path, [...(changes.get(path) ?? []), content]);
      const known = (written.get(path) ?? []).filter((earlier) => !earlier.isDerived || earlier.content === content);
      if (known.some((earlier) => earlier.content === content)) repeated.add(path);
      if (content !== undefined) known.push({ content, isDerived: origin === "catch-up" });
      written.set(path, known);
    }
  }
  for (const path of new Set([...changes.keys(), ...initial.files.keys(), ...present.files.keys()])) {
    const contents = changes.get(path) ?? [];
    const content = present.files.get(path);
    if (content !== initial.files.get(path) && !contents.includes(content))
      found.push(`The file ${path} is ${content}, but the handler has received ${contents}.`);
    if (!forcePushes && repeated.has(path)) found.push(`A content of the file ${path} ran twice: ${contents}.`);
  }
  return found;
}

function repositoryDifferences(
  runs: readonly Handled[],
  {
    before,
    state,
    forcePushes,
  }: Pick<Effects, "forcePushes"> & { before: RepositoryState | undefined; state: RepositoryState },
): string[] {
  const found: string[] = [];
  const compare = (what: string, last: unknown, hub: unknown) => {
    if (last !== hub) found.push(`${what} is ${hub}, but the handler has last seen ${last}.`);
  };
  const payloads = runs.map(({ payload }) => payload);
  const creations = payloads.filter(({ event }) => event.scope === "repo" && event.action === "create");
  if (creations.length !== (before ? 0 : 1)) found.push(`The creation ran ${creations.length} times.`);
  const names = payloads.flatMap(({ movedTo }) => movedTo?.name ?? []);
  compare("The name", names.at(-1) ?? before?.name ?? state.name, state.name);
  const flags = payloads.flatMap(({ updatedConfig }) => updatedConfig?.private ?? []);
  if (before || flags.length > 0) compare("private", flags.at(-1) ?? before?.isPrivate, state.isPrivate);
  const created = creations.find(({ webhook }) => webhook.id !== "catch-up")?.repo.headSha;
  for (const ref of new Set([...state.refs.keys(), ...(before?.refs.keys() ?? []), ...refsOf(runs)])) {
    const first = before?.refs.get(ref) ?? (ref === "refs/heads/main" ? created : undefined) ?? null;
    const last = state.refs.get(ref) ?? null;
    const changes = runs.flatMap(({ payload, origin }) =>
      (payload.updatedRefs ?? []).filter((change) => change.ref === ref).map((change) => ({ ...change, origin })),
    );
    if (isTrail(changes, { from: first, to: last, forcePushes })) continue;
    found.push(`${ref}: ${describeTrail(runs, ref)} is no way from ${first?.slice(0, 6)} to ${last?.slice(0, 6)}.`);
  }
  for (const [num, { status, comments }] of state.discussions) {
    const known = before?.discussions.get(num);
    const statuses = payloads.flatMap(({ discussion }) => (discussion?.num === num ? discussion.status : []));
    compare(`The status of discussion ${num}`, statuses.at(-1) ?? known?.status, status);
    for (const comment of comments) {
      const times = payloads.filter((payload) => payload.comment?.id === comment && payload.event.action === "create");
      if (times.length !== (known?.comments.includes(comment) ? 0 : 1)) {
        found.push(`Comment ${comment} of discussion ${num} ran ${times.length} times.`);
      }
    }
  }
  return found;
}

const refsOf = (runs: readonly Handled[]) =>
  runs.flatMap(({ payload }) => payload.updatedRefs ?? []).map(({ ref }) => ref);

function describeTrail(runs: readonly Handled[], ref: string): string {
  const own = runs.flatMap(
    ({ payload, origin }) => payload.updatedRefs?.map((change) => ({ ...change, origin })) ?? [],
  );
  return own
    .filter((change) => change.ref === ref)
    .map(
      ({ oldSha, newSha, origin }) =>
        `${oldSha?.slice(0, 6)}-${newSha?.slice(0, 6)}${origin === "catch-up" ? "*" : ""}`,
    )
    .join(" ");
}

type Change = RefChange & { origin: string };

/**
 * Whether the changes of a ref, in any order, lead from one commit to another, and each is used once: each commit is left as often as it
 * is entered, except for the first and the last one. A receiver that never slept has such changes, and a missed change, or one that ran
 * as a real and as a derived delivery, breaks them. Missed changes that together lead nowhere, such as a force push and its reversal,
 * are no difference. Nor is a missed force push if the handler received the changes that lead back to where it was.
 */
export function isTrail(
  changes: readonly Change[],
  { from, to, forcePushes }: { from: string | null; to: string | null; forcePushes: boolean },
): boolean {
  const balance = new Map<string | null, number>();
  const add = (commit: string | null, by: number) => balance.set(commit, (balance.get(commit) ?? 0) + by);
  add(from, 1);
  add(to, -1);
  for (const { oldSha, newSha } of changes) {
    add(oldSha, -1);
    add(newSha, 1);
  }
  if (forcePushes) {
    for (const [commit, count] of balance) {
      for (let missed = count; missed < 0; missed += 1) {
        const back = reachable(commit, changes).find((end) => (balance.get(end) ?? 0) > 0);
        if (back === undefined) return false;
        add(back, -1);
        add(commit, 1);
      }
    }
  }
  return [...balance.values()].every((count) => count === 0);
}

/** Returns the commits to which real changes lead from a commit. */
function reachable(commit: string | null, changes: readonly Change[]): (string | null)[] {
  const found = new Set([commit]);
  for (const start of found) {
    for (const { oldSha, newSha, origin } of changes) if (oldSha === start && origin !== "catch-up") found.add(newSha);
  }
  found.delete(commit);
  return [...found];
}
