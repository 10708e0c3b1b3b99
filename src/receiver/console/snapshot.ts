import * as z from "zod/mini";
import { detailsSchema } from "../../inbox/records.ts";
import type { ServerContext } from "../context.ts";
import { activityOutcomes, type EndpointActivity, hour, minute, type SlotSize, slotOf } from "../counts.ts";
import { type RecentDeliveries, Run } from "../history.ts";

/*
 * What the console shows and no inbox stores, as plain data, so that the next process of a dev session shows it after a reload. Times
 * are milliseconds since the epoch. Values of another format, from another version of this package, are skipped.
 */

/** A slot of time and its counts, in the order of `EndpointActivity.countsIn`. */
const slotCounts = z.tuple([z.number(), z.array(z.number())]);

const endpointSnapshot = z.object({
  name: z.string(),
  minutes: z.array(slotCounts),
  hours: z.array(slotCounts),
  last: z.optional(z.object({ outcome: z.enum(activityOutcomes), at: z.number() })),
});
type EndpointSnapshot = z.infer<typeof endpointSnapshot>;

const activitySnapshot = z.object({ startedAt: z.number(), endpoints: z.array(endpointSnapshot) });

export interface ShownActivity extends Pick<EndpointSnapshot, "last"> {
  countsIn(size: SlotSize, slot: number): ArrayLike<number>;
}

export type EarlierActivity = ReturnType<typeof readActivity>;

/**
 * Reads the activity of the earlier processes of a dev session. The first process, and a server outside a session, have no such activity.
 *
 * @param taken what `takeSnapshot` returned.
 */
export function readActivity(taken?: unknown) {
  const { data } = activitySnapshot.safeParse(taken);
  const earlierByName = new Map(data?.endpoints.map((endpoint) => [endpoint.name, endpoint]));
  const firstStart = (startedAt: Date) => data?.startedAt ?? startedAt.getTime();
  const addTo = (name: string, activity: EndpointActivity | undefined): ShownActivity => {
    const earlier = earlierByName.get(name);
    const [minutes, hours] = [new Map(earlier?.minutes), new Map(earlier?.hours)];
    const last = activity?.last;
    return {
      countsIn: (size, slot) => {
        const own = activity?.countsIn(size, slot) ?? [];
        const before = (size === hour ? hours : minutes).get(slot);
        return before ? before.map((count, kind) => count + (own[kind] ?? 0)) : own;
      },
      last: last ? { outcome: last.outcome, at: last.at.getTime() } : earlier?.last,
    };
  };
  return {
    firstStart,
    addTo,
    takeSnapshot({ activity, endpoints, now }: ServerContext): z.infer<typeof activitySnapshot> {
      // An endpoint whose file has an error for a moment must not lose its counts.
      const names = new Set([...earlierByName.keys(), ...endpoints.names]);
      const at = now();
      return {
        startedAt: firstStart(activity.startedAt),
        endpoints: Array.from(names, (name) => {
          const shown = addTo(name, endpoints.byName.get(name)?.activity);
          return { name, minutes: slotsOf(shown, minute, at), hours: slotsOf(shown, hour, at), last: shown.last };
        }),
      };
    },
  };
}

function slotsOf(activity: ShownActivity, size: SlotSize, now: number): [number, number[]][] {
  const present = slotOf(now, size);
  return Array.from({ length: size.slots }, (_, age): [number, number[]] => [
    present - age,
    Array.from(activity.countsIn(size, present - age)),
  ]).filter(([, counts]) => counts.some((count) => count > 0));
}

const deliverySnapshot = z.object({
  id: z.string(),
  endpoint: z.string(),
  body: z.string(),
  receivedAt: z.number(),
  headers: z.optional(z.record(z.string(), z.string())),
  replayOf: z.optional(z.string()),
  attempts: z.array(
    z.object({
      startedAt: z.number(),
      durationMs: z.number(),
      outcome: z.enum(["succeeded", "ignored", "failed"]),
      error: z.optional(z.object({ code: z.string(), message: z.string() })),
      reason: z.optional(z.string()),
      responseStatus: z.optional(z.number()),
      details: z.optional(detailsSchema),
    }),
  ),
});
type DeliverySnapshot = z.infer<typeof deliverySnapshot>;

function exportRecent(recent: RecentDeliveries): DeliverySnapshot[] {
  return Array.from(recent.values(), ({ id, endpoint, body, receivedAt, startedAt, headers, replayOf, attempts }) => ({
    ...{ id, endpoint, body, receivedAt: receivedAt.getTime() },
    ...(headers && { headers: { ...headers } }),
    ...(replayOf !== undefined && { replayOf }),
    attempts: [
      ...attempts.map(({ number, details, ...attempt }) => ({
        ...attempt,
        startedAt: attempt.startedAt.getTime(),
        ...(details && { details }),
      })),
      ...(startedAt ? [interruptedAt(startedAt)] : []),
    ],
  }));
}

function interruptedAt(startedAt: Date): DeliverySnapshot["attempts"][number] {
  const error = { code: "CLOSING", message: "The server stopped while the handler was running." };
  return { startedAt: startedAt.getTime(), durationMs: 0, outcome: "failed", error };
}

function importRecent(recent: RecentDeliveries, values: readonly unknown[]): void {
  for (const value of values) {
    const parsed = deliverySnapshot.safeParse(value);
    if (!parsed.success) continue;
    if (parsed.data.attempts.some(({ outcome }) => outcome === "failed")) recent.failed.add(parsed.data);
    for (const run of toRuns(parsed.data)) recent.add(run);
  }
}

function toRuns({ headers, replayOf, attempts, ...given }: DeliverySnapshot): Run[] {
  const delivery = { ...given, receivedAt: new Date(given.receivedAt) };
  const entries = headers && Object.entries(headers);
  return attempts.map(({ startedAt, details, ...attempt }) => {
    const source = { headers: entries && (() => entries), replayOf };
    const run = new Run(delivery, source, { recordDetails: true, now: () => 0, redact: (text) => text });
    run.restore({ ...attempt, startedAt: new Date(startedAt), details });
    return run;
  });
}

const sessionSnapshot = z.object({ deliveries: z.array(z.unknown()), activity: z.unknown() });

/** Copies the deliveries in memory, and the activity of this process and the `earlier` ones. */
export function takeSessionSnapshot(
  server: ServerContext,
  earlier: EarlierActivity = readActivity(),
): z.infer<typeof sessionSnapshot> {
  return { deliveries: exportRecent(server.history.recent), activity: earlier.takeSnapshot(server) };
}

/** Adds the deliveries of a snapshot to the history, and returns its activity. */
export function restoreSessionSnapshot({ history }: ServerContext, value: unknown): EarlierActivity {
  const { data } = sessionSnapshot.safeParse(value);
  if (data) importRecent(history.recent, data.deliveries);
  return readActivity(data?.activity);
}
