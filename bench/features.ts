import { printDoubts } from "./receive.ts";
import { median, pairwise, printHeading, printTable, spread } from "./report.ts";
import { type BenchOptions, runRounds, type Subject } from "./trial.ts";

const bodies = "feature-bodies.ts";
const steps = "feature-steps.ts";

/** A step, the handler that runs the step, and the handler to compare with. */
const features = [
  { name: "Hono, body left unread", file: bodies, variant: "unread", base: undefined },
  { name: "body: c.req.text()", file: bodies, variant: "text", base: "Hono, body left unread" },
  { name: "body: c.req.json()", file: bodies, variant: "json", base: "body: c.req.text()" },
  { name: "body: bodyLimit, then c.req.text()", file: bodies, variant: "bodyLimit", base: "body: c.req.text()" },
  { name: "body: c.env.incoming", file: bodies, variant: "incoming", base: "body: c.req.text()" },
  { name: "JSON.parse", file: steps, variant: "nothing", base: "body: c.env.incoming" },
  { name: "zod, a schema for commits only", file: steps, variant: "zod", base: "JSON.parse" },
  { name: "parsePayload of hub-webhooks", file: steps, variant: "parsePayload", base: "JSON.parse" },
  { name: "secret: createHash, timingSafeEqual", file: steps, variant: "secretHash", base: "JSON.parse" },
  { name: "secret: XOR loop", file: steps, variant: "secretXor", base: "JSON.parse" },
  { name: "awaiting an async handler", file: steps, variant: "handler", base: "JSON.parse" },
  { name: "time limit: Promise.race", file: steps, variant: "race", base: "awaiting an async handler" },
  { name: "time limit: settle once", file: steps, variant: "settleOnce", base: "awaiting an async handler" },
  { name: "an AbortController", file: steps, variant: "abortController", base: "JSON.parse" },
  { name: "a pino line", file: steps, variant: "line", base: "JSON.parse" },
  { name: "a pino child and its line", file: steps, variant: "childAndLine", base: "a pino line" },
] as const;

/** Measures what each part of a receiver adds to a small Hono handler. */
export async function measureFeatures(options: BenchOptions): Promise<void> {
  const subjects: Subject[] = features.map(({ name, file, variant }) => ({ name, file, arguments: ["log", variant] }));
  const rounds = await runRounds(subjects, options);
  const of = (name: string, figure: "cpuPerRequest") => (rounds.get(name) ?? []).map((trial) => trial[figure]);
  printHeading(`Cost of each feature (${options.rounds} x ${options.seconds} s)`);
  printTable(
    ["", "added CPU us, lowest", "median", "min to max", "CPU us/request, lowest", "median", "compared to"],
    features.map(({ name, base }) => {
      const cpu = of(name, "cpuPerRequest");
      const baseCpu = base ? of(base, "cpuPerRequest") : [];
      const added = pairwise(cpu, baseCpu, (value, other) => value - other);
      return [
        name,
        base ? (Math.min(...cpu) - Math.min(...baseCpu)).toFixed(1) : "",
        base ? median(added).toFixed(1) : "",
        base ? spread(added, 1) : "",
        Math.min(...cpu).toFixed(1),
        median(cpu).toFixed(1),
        base ?? "",
      ];
    }),
  );
  printDoubts(rounds);
}
