import type { SeededRandom } from "../support/seeded-random.ts";

/** When a side acts. */
export const steps = [
  "in the head",
  "before the body",
  "in the body",
  "after the body",
  "at the head of the answer",
  "in the answer",
  "after the answer",
] as const;
export type Step = (typeof steps)[number];

/** What the client does: end its side, reset, close, send garbage, send nothing for a while, or stop reading. */
const clientActions = ["finish", "reset", "close", "garbage", "stall", "stop reading"] as const;
/** What the server's code does with the body. */
const bodyActions = ["stop", "cancel", "abort", "release", "destroy", "fail", "end", "kill", "throw"] as const;
/** What the server's code does with its answer. */
const answerActions = ["close", "error", "destroy", "fail", "end outgoing", "end", "kill"] as const;

/** How the server's code acts. It is sent with the request. */
export interface ServerPlan {
  step: Step;
  action: (typeof bodyActions)[number] | (typeof answerActions)[number];
  /** Whether the body is read as a web stream or as a stream of Node. */
  reader: "web" | "node";
}

/** One connection: a request, its answer, and what happens on both sides. */
export interface ExchangeCase {
  target: "receiver" | "dev" | "hub";
  /** The code that answers. */
  entrance: (typeof entrances)["server" | "hub"][number];
  framing: "length" | "chunked" | "expect";
  bodyBytes: number;
  /** The number of parts in which the body is sent. */
  parts: number;
  answerBytes: number;
  client: { step: Step; action: (typeof clientActions)[number] } | undefined;
  server: ServerPlan | undefined;
}

const entrances = {
  server: ["route", "middleware", "delivery", "background", "console"],
  hub: ["commit", "long line", "upload", "download", "control"],
} as const;
/** The entrances whose code follows a plan. */
const planned: readonly string[] = ["route", "middleware", "commit"];

export function makeExchange(random: SeededRandom): ExchangeCase {
  const target = random.pick(["receiver", "receiver", "dev", "dev", "hub"] as const);
  const entrance = random.pick(
    target === "hub" ? entrances.hub : ([...entrances.server, "route", "middleware"] as const),
  );
  // A line of 17 MiB takes long.
  const chosen = entrance === "long line" && random.chance(0.9) ? "commit" : entrance;
  const isFromServer = planned.includes(chosen) && random.chance(0.75);
  const server = isFromServer ? makePlan(random) : undefined;
  return {
    target,
    entrance: chosen,
    framing: random.pick(["length", "length", "chunked", "expect"]),
    bodyBytes: random.pick([0, 1, 200, 20_000, 70_000, 300_000, 600_000]),
    parts: 1 + random.below(6),
    answerBytes: random.pick([0, 10, 20_000, 400_000, 3_000_000]),
    client: server && random.chance(0.4) ? undefined : { step: random.pick(steps), action: random.pick(clientActions) },
    server,
  };
}

function makePlan(random: SeededRandom): ServerPlan {
  const reader = random.pick(["web", "web", "node"] as const);
  if (random.chance(0.6)) {
    return { step: random.pick(steps.slice(1, 4)), action: random.pick(bodyActions), reader };
  }
  return { step: random.pick(steps.slice(4)), action: random.pick(answerActions), reader };
}
