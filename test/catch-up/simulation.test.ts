// @module-tag slow

import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { expect, test } from "vitest";
import { World } from "./simulation.ts";

/*
 * For a longer run, with a report in Markdown:
 *
 *   SLOW_TESTS=1 SIMULATION_MINUTES=60 SIMULATION_FROM=1000 SIMULATION_REPORT=bench/CATCH-UP.md vitest run test/catch-up/simulation.test.ts
 *
 * SIMULATION_SEEDS limits the worlds. SIMULATION_TRACE=1 prints the steps of a world that differs.
 */
const minutes = Number(process.env.SIMULATION_MINUTES ?? 0);
const count = Number(process.env.SIMULATION_SEEDS ?? (minutes > 0 ? Number.POSITIVE_INFINITY : 4));
const from = Number(process.env.SIMULATION_FROM ?? 1);
const report = process.env.SIMULATION_REPORT;

test("A receiver that sleeps, crashes, and misses deliveries has the effects of one that never did", async () => {
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 60_000;
  const total: Record<string, number> = { worlds: 0 };
  const failed: string[] = [];
  for (let seed = from; seed < from + count && (minutes === 0 || elapsed() < minutes); seed += 1) {
    const { counts, differences, trace } = await World.run(seed);
    for (const [name, added] of Object.entries({ worlds: 1, ...counts })) total[name] = (total[name] ?? 0) + added;
    if (differences.length > 0) {
      failed.push([`seed ${seed}`, ...(process.env.SIMULATION_TRACE ? trace : []), ...differences].join("\n  "));
      if (report !== undefined) console.log(failed.at(-1));
    }
    if (report !== undefined && seed % 50 === 0) console.log(`${total.worlds} worlds`);
  }
  if (report !== undefined) writeFileSync(report, describe({ total, differing: failed.length, minutes: elapsed() }));
  expect(failed).toEqual([]);
}, 4_000_000);

function describe({
  total,
  differing,
  minutes,
}: {
  total: Record<string, number>;
  differing: number;
  minutes: number;
}) {
  const { worlds = 0, ...counts } = total;
  const rows = Object.entries(counts).sort(([one], [other]) => one.localeCompare(other));
  return `# Catch-up simulation

Each world is a local Hub, its webhook, and a receiver with \`catchUp\`, to which random things happen. At the end, everything is repaired,
and the effects of the handler must equal those of a receiver that never slept. Written by:

<!-- not run: takes minutes -->
\`\`\`sh
SLOW_TESTS=1 SIMULATION_MINUTES=${Math.round(minutes)} SIMULATION_FROM=${from} SIMULATION_REPORT=bench/CATCH-UP.md npx vitest run test/catch-up/simulation.test.ts
\`\`\`

- ${cpus().length} cores, ${cpus()[0]?.model}; Node ${process.version}
- Seeds ${from} to ${from + worlds - 1}, ${minutes.toFixed(1)} minutes
- **${worlds} worlds, ${differing} with differences**

| what happened | times |
| --- | ---: |
${rows.map(([name, times]) => `| ${name} | ${times} |`).join("\n")}
`;
}
