import type { Sample } from "./sampled-receiver.ts";

/**
 * Resources that must not grow over time, except by a share of the first value or by a minimum, whichever is more. RSS is
 * conclusive after `minSeconds` only: with a constant heap, it rises from 144 to 178 MiB in the first minute of the load
 * with large bodies, and then levels off at 198 MiB.
 */
const resources = [
  {
    name: "RSS",
    unit: "MiB",
    read: ({ rss }: Sample) => rss / 2 ** 20,
    maxShare: 0.1,
    minGrowth: 12,
    minSeconds: 60,
  },
  {
    name: "heap after collection",
    unit: "MiB",
    read: ({ heapUsed }: Sample) => heapUsed / 2 ** 20,
    maxShare: 0.1,
    minGrowth: 2,
    minSeconds: 0,
  },
  {
    name: "outside the heap",
    unit: "MiB",
    read: ({ external }: Sample) => external / 2 ** 20,
    maxShare: 0.1,
    minGrowth: 8,
    minSeconds: 0,
  },
  {
    name: "open files and sockets",
    unit: "",
    read: ({ handles }: Sample) => handles,
    maxShare: 0.1,
    minGrowth: 12,
    minSeconds: 0,
  },
] as const;

/** How the use of one resource changed over time. */
export interface Trend {
  name: string;
  unit: string;
  /** Medians of the first and the last quarter of the samples after warm-up. */
  first: number;
  last: number;
  /** Slope of the least-squares line, in units per hour. */
  slopePerHour: number;
  /** `undefined` with too few samples, or in too short a time. */
  isFlat: boolean | undefined;
}

const minSamples = 12;

/**
 * Compares the median of the last quarter of the samples with the median of the first quarter, without the first third,
 * in which the process warms up.
 */
export function trendsOf(samples: readonly Sample[]): Trend[] {
  const settled = samples.slice(Math.ceil(samples.length / 3));
  const quarter = Math.max(1, Math.floor(settled.length / 4));
  const seconds = (settled.at(-1)?.at ?? 0) - (settled[0]?.at ?? 0);
  return resources.map(({ name, unit, read, maxShare, minGrowth, minSeconds }) => {
    const first = median(settled.slice(0, quarter).map(read));
    const last = median(settled.slice(-quarter).map(read));
    const isConclusive = settled.length >= minSamples && seconds >= minSeconds && !Number.isNaN(first);
    const isFlat = isConclusive ? last - first <= Math.max(first * maxShare, minGrowth) : undefined;
    return { name, unit, first, last, slopePerHour: slope(settled, read) * 3_600, isFlat };
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Returns the slope in units per second. */
function slope(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanAt, meanValue] = [mean(samples.map(({ at }) => at)), mean(samples.map(read))];
  const covariance = samples.reduce((sum, sample) => sum + (sample.at - meanAt) * (read(sample) - meanValue), 0);
  const variance = samples.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0);
  return covariance / variance;
}
