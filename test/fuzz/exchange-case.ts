import type { SeededRandom } from "../support/seeded-random.ts";

/** When a side acts. The server cannot act in the head, because it has no request yet. */
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
const bodySteps = steps.slice(1, 4);
const answerSteps = steps.slice(4);

/** What the client does: end its side, reset, close, send garbage, send nothing for a while, or stop reading. */
const clientActions = ["finish", "reset", "close", "garbage", "stall", "stop reading"] as const;
/** What code does with Node's request, answer, and socket. */
const nodeActions = [
  "destroy request",
  "fail request",
  "destroy answer",
  "fail answer",
  "end answer",
  "end socket",
  "kill socket",
] as const;
/** What a route or middleware does with the body. */
const bodyActions = ["stop", "throw", "cancel body", "abort body", "release body"] as const;
/** What a route or middleware does with its answer. */
const answerActions = ["close answer", "error answer", "throw in answer"] as const;

/** How the server acts. It is sent with the request. */
export interface ServerPlan {
  target: ExchangeCase["target"];
  /**
   * `code`: a route or middleware. `process`: other code in the process of the target, at any entrance, on the request and
   * answer of Node.
   */
  by: "code" | "process";
  step: Step;
  action:
    | (typeof nodeActions)[number]
    | (typeof bodyActions)[number]
    | (typeof answerActions)[number]
    /** Middleware cancels the answer of the server. */
    | "cancel answer"
    /** Reading or writing a file of the local Hub fails. */
    | "fail file";
  /** Whether code reads the body as a web stream, as a stream of Node, or, if it reads all of it, as text. */
  reader: "web" | "node" | "text";
  /** How many turns of the event loop pass between the step and the action. */
  turns: number;
  /** Whether code continues after the action as if nothing happened. */
  continues: boolean;
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
  /** Whether the request is sent directly after another request, whose answer takes longer. */
  isPipelined: boolean;
  client: { step: Step; action: (typeof clientActions)[number] } | undefined;
  server: ServerPlan | undefined;
}

const entrances = {
  server: ["route", "middleware", "delivery", "background", "console"],
  hub: ["commit", "long line", "upload", "download", "console", "control"],
} as const;

export function makeExchange(random: SeededRandom): ExchangeCase {
  const target = random.pick(["receiver", "receiver", "dev", "dev", "hub", "hub"] as const);
  const entrance = random.pick(
    target === "hub"
      ? ([...entrances.hub, "upload", "download"] as const)
      : ([...entrances.server, "route", "middleware", "route", "middleware"] as const),
  );
  // A line of 17 MiB takes long.
  const chosen = entrance === "long line" && random.chance(0.9) ? "commit" : entrance;
  const server = random.chance(0.75) ? makePlan(random, target, chosen) : undefined;
  return {
    target,
    entrance: chosen,
    framing: random.pick(["length", "length", "chunked", "expect"]),
    bodyBytes: random.pick([0, 1, 200, 20_000, 70_000, 300_000, 600_000]),
    parts: 1 + random.below(6),
    answerBytes: random.pick([0, 10, 20_000, 400_000, 3_000_000]),
    isPipelined: random.chance(0.2),
    client: server && random.chance(0.6) ? undefined : { step: random.pick(steps), action: random.pick(clientActions) },
    server,
  };
}

function makePlan(
  random: SeededRandom,
  target: ExchangeCase["target"],
  entrance: ExchangeCase["entrance"],
): ServerPlan {
  const step = random.pick(steps.slice(1));
  const details = { target, step, turns: random.below(4), continues: random.chance(0.5) };
  if ((entrance === "route" || entrance === "middleware") && random.chance(0.75)) {
    const reader = random.pick(["web", "node", "text"] as const);
    return { ...details, by: "code", reader, action: pickCodeAction(random, { step, reader, entrance }) };
  }
  if (entrance === "commit" && bodySteps.includes(step) && random.chance(0.4)) {
    // The route of the local Hub cancels the body at the first invalid line.
    return { ...details, by: "code", reader: "web", action: "cancel body" };
  }
  const isFileStep =
    (entrance === "upload" && step === "in the body") || (entrance === "download" && step === "in the answer");
  // Hono's adapter does not cancel the stream of an answer that other code ended before the head.
  const isPossible = (action: ServerPlan["action"]) =>
    !(entrance === "download" && bodySteps.includes(step) && action === "end answer");
  const possible = nodeActions.filter(isPossible);
  const action = random.pick(isFileStep ? ([...possible, "fail file", "fail file"] as const) : possible);
  return { ...details, by: "process", reader: "node", action };
}

function pickCodeAction(
  random: SeededRandom,
  { step, reader, entrance }: Pick<ServerPlan, "step" | "reader"> & Pick<ExchangeCase, "entrance">,
): ServerPlan["action"] {
  if (answerSteps.includes(step))
    return random.pick([
      ...nodeActions,
      ...answerActions,
      ...(entrance === "middleware" ? (["cancel answer"] as const) : []),
    ]);
  // A stream of Node cannot be canceled or released.
  const ofReader = reader === "node" ? (["stop", "throw"] as const) : bodyActions;
  return random.pick([...nodeActions, ...ofReader]);
}
