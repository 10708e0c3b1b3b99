import { printDoubts, printTrials } from "./receive.ts";
import { printHeading } from "./report.ts";
import { type BenchOptions, runRounds, type Subject } from "./trial.ts";

const reference = "1 endpoint";

/** The load generator writes a path into each request in every case, so that its own work is the same. */
const subjects: readonly Subject[] = [
  { name: reference, registered: 1, requested: 1 },
  { name: "10,000, always the same", registered: 10_000, requested: 1 },
  { name: "10,000, one at random", registered: 10_000, requested: 10_000 },
].map(({ name, registered, requested }) => ({
  name,
  file: "ours-with-endpoints.ts",
  arguments: ["log", String(registered)],
  load: { endpoints: requested },
}));

/** Measures whether the number of endpoints affects the cost of a delivery. */
export async function measureEndpoints(options: BenchOptions): Promise<void> {
  const rounds = await runRounds(subjects, options);
  printHeading(`hub-webhooks with many endpoints (${options.rounds} x ${options.seconds} s)`);
  printTrials(rounds, subjects, reference);
  printDoubts(rounds);
}
