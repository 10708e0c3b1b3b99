import { expect, test } from "vitest";
import { World } from "./simulation.ts";

/** For a longer run: SLOW_TESTS=1 SIMULATION_SEEDS=500 vitest run test/catch-up/simulation.test.ts. SIMULATION_TRACE=1 prints the steps. */
const count = Number(process.env.SIMULATION_SEEDS ?? 4);
const from = Number(process.env.SIMULATION_FROM ?? 1);

test(`A receiver that sleeps, crashes, and misses deliveries has the effects of one that never did, in ${count} worlds`, async () => {
  const total: Record<string, number> = { worlds: count };
  const failed: string[] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    const { counts, differences, trace } = await World.run(seed);
    if (process.env.SIMULATION_SEEDS && (seed - from) % 50 === 49) console.log(`${seed - from + 1} worlds`);
    for (const [name, added] of Object.entries(counts)) total[name] = (total[name] ?? 0) + added;
    if (differences.length > 0) {
      failed.push([`seed ${seed}`, ...(process.env.SIMULATION_TRACE ? trace : []), ...differences].join("\n  "));
      if (process.env.SIMULATION_SEEDS) console.log(failed.at(-1));
    }
  }
  if (process.env.SIMULATION_SEEDS) console.log(JSON.stringify({ ...total, differing: failed.length }));
  expect(failed).toEqual([]);
}, 4_000_000);
