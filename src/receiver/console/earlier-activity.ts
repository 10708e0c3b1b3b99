import * as z from "zod/mini";
import {
  type Activity,
  activityOutcomes,
  type EndpointActivity,
  hour,
  minute,
  type SlotSize,
  slotOf,
} from "../endpoint/activity.ts";

/** A slot of time and its counts, in the order of {@link EndpointActivity.countsIn}. */
const slotCounts = z.tuple([z.number(), z.array(z.number())]);

const endpointSnapshot = z.object({
  name: z.string(),
  minutes: z.array(slotCounts),
  hours: z.array(slotCounts),
  last: z.optional(z.object({ outcome: z.enum(activityOutcomes), at: z.number() })),
});
type EndpointSnapshot = z.infer<typeof endpointSnapshot>;

const snapshot = z.object({
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  endpoints: z.array(endpointSnapshot),
});
type Snapshot = z.infer<typeof snapshot>;

/** The activity of an endpoint, as the console shows it. */
export interface ShownActivity {
  countsIn(size: SlotSize, slot: number): ArrayLike<number>;
  /** `at`: milliseconds since the epoch. */
  last: EndpointSnapshot["last"];
}

interface EarlierEndpoint {
  minutes: ReadonlyMap<number, readonly number[]>;
  hours: ReadonlyMap<number, readonly number[]>;
  last: EndpointSnapshot["last"];
}

/** The activity of the earlier processes of a dev session. Empty in the first process and outside a session. */
export class EarlierActivity {
  readonly #startedAt: number | undefined;
  readonly #endpoints: ReadonlyMap<string, EarlierEndpoint>;

  private constructor({ startedAt, endpoints }: { startedAt?: number; endpoints: readonly EndpointSnapshot[] }) {
    this.#startedAt = startedAt;
    this.#endpoints = new Map(
      endpoints.map(({ name, minutes, hours, last }) => [
        name,
        { minutes: new Map(minutes), hours: new Map(hours), last },
      ]),
    );
  }

  /** Reads what {@link takeSnapshot} returned. Empty if the value has another format, from another version of this package. */
  static read(value: unknown): EarlierActivity {
    return new EarlierActivity(snapshot.safeParse(value).data ?? { endpoints: [] });
  }

  /** When the first process started, or `startedAt` if there is no earlier one. Milliseconds since the epoch. */
  firstStart(startedAt: number): number {
    return this.#startedAt ?? startedAt;
  }

  /** Adds the activity of an endpoint in the earlier processes to its activity in this one. */
  addTo(name: string, { activity }: { activity: EndpointActivity | undefined }): ShownActivity {
    const earlier = this.#endpoints.get(name);
    const last = activity?.last;
    return {
      countsIn: (size, slot) => {
        const own = activity?.countsIn(size, slot) ?? [];
        const before = (size === hour ? earlier?.hours : earlier?.minutes)?.get(slot);
        return before ? before.map((count, kind) => count + (own[kind] ?? 0)) : own;
      },
      last: last ? { outcome: last.outcome, at: last.at.getTime() } : earlier?.last,
    };
  }

  /** Returns the activity of this process and the earlier ones as plain data, for the next process. */
  takeSnapshot({
    activity,
    endpoints,
    now,
  }: {
    activity: Activity;
    endpoints: ReadonlyMap<string, { activity: EndpointActivity }>;
    /** Milliseconds since the epoch. */
    now: number;
  }): Snapshot {
    // An endpoint whose file has an error for a moment must not lose its counts.
    const names = new Set([...this.#endpoints.keys(), ...endpoints.keys()]);
    return {
      startedAt: this.firstStart(activity.startedAt.getTime()),
      endpoints: Array.from(names, (name) => {
        const shown = this.addTo(name, { activity: endpoints.get(name)?.activity });
        const { last } = shown;
        return {
          name,
          minutes: slotsOf(shown, { size: minute, now }),
          hours: slotsOf(shown, { size: hour, now }),
          ...(last && { last }),
        };
      }),
    };
  }
}

/** Returns the slots that are shown and have counts. */
function slotsOf(activity: ShownActivity, { size, now }: { size: SlotSize; now: number }): [number, number[]][] {
  const present = slotOf(now, size);
  return Array.from({ length: size.slots }, (_, age): [number, number[]] => [
    present - age,
    Array.from(activity.countsIn(size, present - age)),
  ]).filter(([, counts]) => counts.some((count) => count > 0));
}
