import type { Sample } from "./life.ts";

/** What must not grow with time, and by how much it may seem to: a share of where it was, or this much. */
const figures = [
  { name: "RSS", unit: "MiB", read: ({ rss }: Sample) => rss / 2 ** 20, share: 0.1, least: 12 },
  {
    name: "heap after collection",
    unit: "MiB",
    read: ({ heapUsed }: Sample) => heapUsed / 2 ** 20,
    share: 0.1,
    least: 2,
  },
  { name: "outside the heap", unit: "MiB", read: ({ external }: Sample) => external / 2 ** 20, share: 0.1, least: 8 },
  { name: "open files and sockets", unit: "", read: ({ handles }: Sample) => handles, share: 0.1, least: 12 },
] as const;

/** How one figure went during a life. */
export interface Course {
  name: string;
  unit: string;
  /** Medians of the first and the last quarter of what was looked at. */
  first: number;
  last: number;
  /** Slope of the line that fits best, in units an hour. */
  slopeAnHour: number;
  /** `undefined`: there are too few samples to tell. */
  isFlat: boolean | undefined;
}

/** Fewer samples than this say nothing. */
const fewest = 12;

/**
 * The first third of a life is for warming up. Of the rest the median of the last quarter must not be above that of the
 * first quarter by more than what is allowed.
 */
export function coursesOf(samples: readonly Sample[]): Course[] {
  const settled = samples.slice(Math.ceil(samples.length / 3));
  const quarter = Math.max(1, Math.floor(settled.length / 4));
  return figures.map(({ name, unit, read, share, least }) => {
    const first = median(settled.slice(0, quarter).map(read));
    const last = median(settled.slice(-quarter).map(read));
    const canTell = settled.length >= fewest && !Number.isNaN(first);
    const isFlat = canTell ? last - first <= Math.max(first * share, least) : undefined;
    return { name, unit, first, last, slopeAnHour: slope(settled, read) * 3_600, isFlat };
  });
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** By the least squares, a second. */
function slope(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanAt, meanValue] = [mean(samples.map(({ at }) => at)), mean(samples.map(read))];
  const above = samples.reduce((sum, sample) => sum + (sample.at - meanAt) * (read(sample) - meanValue), 0);
  const below = samples.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0);
  return above / below;
}
