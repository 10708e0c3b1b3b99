import * as z from "zod/mini";
import type { CheckResult } from "../../console/protocol/checks.ts";
import { messageOf } from "../../core/describe.ts";
import { HubError, WebhookError } from "../../core/errors.ts";
import { toShellWord } from "../../core/text.ts";
import { maskUrl } from "../../core/urls.ts";
import { isNearDailyLimit } from "../counts.ts";
import { describeAnswer, isConfidential, isProof, type RemoteServer } from "./remote-server.ts";

/**
 * `command` repairs the cause or shows more about it. `{…}` stands for a value of the finding. Of several commands, the first whose values
 * are all known fits. `isFixable`: with `--fix`. `isNextStep`: nothing is wrong, but a step of the setup is left.
 */
type FindingKind = { cause: string; command: string | readonly string[]; isFixable?: true; isNextStep?: true };

const cli = "npx hub-webhooks";
// A local Hub has its own tokens.
const login = { command: ["export HF_TOKEN={localToken}", "hf auth login --force"] };
const health = { command: "curl -i {url}/health" };
const post = { command: "curl -i -X POST {url}/webhooks/{endpoint}" };
const deploy = { command: [`${cli} deploy {space}`, "npm start"] };
const token = { command: [`${cli} deploy {space}`, "env HF_TOKEN=TOKEN npm start"] };
const generate = { command: "openssl rand -hex 32" };
const rotate = {
  command: [`${cli} deploy rotate-secret {space}`, `env WEBHOOK_SECRET=SECRET ${cli} doctor {file} --url {url}`],
};
const create = { command: `${cli} create --url {url}/webhooks/{endpoint} --watch dataset:OWNER/NAME` };
const remove = { command: `${cli} delete {id}` };
const fixSpace = { command: `${cli} doctor --space {space} --fix`, isFixable: true } as const;
// `sync` does not read `.env`: without the secret, it creates a webhook that the server refuses.
const sync = {
  command: [fixSpace.command, `${cli} sync {file} --public-url {url} --adopt`],
  isFixable: true,
} as const;
const syncSecret = {
  command: [fixSpace.command, `env WEBHOOK_SECRET=SECRET ${sync.command[1]}`],
  isFixable: true,
} as const;
const enable = { command: `${cli} enable {id}`, isFixable: true } as const;
const clean = { command: `${cli} sync --clean`, isFixable: true } as const;

/** Everything that `doctor` and the end of `deploy` can find. `docs/troubleshooting.md` lists the codes by whether `--fix` repairs them. */
export const findingKinds = {
  HUB_UNREACHABLE: { cause: "The Hub does not answer as expected.", command: "curl -i {hub}" },
  TOKEN_MISSING: { cause: "There is no access token for the Hub.", ...login },
  TOKEN_INVALID: { cause: "The Hub does not accept the access token.", ...login },
  TOKEN_READ_ONLY: { cause: "The access token can only read. Create one that can write.", ...login },
  TOKEN_RIGHTS: { cause: "The access token lacks a permission. Select it in the settings of the token.", ...login },
  SPACE_NOT_FOUND: { cause: "The Space does not exist, or the access token cannot read it.", ...deploy },
  SPACE_PRIVATE: { cause: "The Space is private, so the Hub cannot deliver to it.", ...fixSpace },
  SPACE_STOPPED: { cause: "The Space is paused or stopped.", ...fixSpace },
  SPACE_ASLEEP: { cause: "The Space is asleep, so the next delivery waits until it has started.", ...fixSpace },
  SPACE_STARTING: { cause: "The Space is building or starting.", command: `${cli} deploy status {space}` },
  SPACE_FAILED: { cause: "The Space does not build or run.", command: `${cli} deploy logs {space} {option}` },
  ADDRESS_UNREACHABLE: { cause: "The server does not answer at its address.", ...health },
  ADDRESS_REDIRECTS: { cause: "The address redirects, and the Hub needs a direct 2xx response.", ...health },
  ADDRESS_WRONG: { cause: "Another program answers at the address.", ...health },
  SERVER_NOT_READY: { cause: "The server cannot store or run deliveries.", command: "curl -i -u :TOKEN {url}/ready" },
  SERVER_FILE_INVALID: { cause: "The server file does not load.", command: `${cli} dev {file}` },
  SERVER_TOKEN_INVALID: { cause: "The server cannot call the Hub. Set its HF_TOKEN, and restart it.", ...token },
  ENDPOINT_NOT_SERVED: { cause: "The server runs another version, without an endpoint of the server file.", ...deploy },
  ENDPOINT_FAILED: { cause: "An endpoint does not answer a test delivery as expected.", ...post },
  ENDPOINT_UNWATCHED: {
    cause: "No webhook delivers to an endpoint yet. Set its watch option, or create a webhook.",
    ...create,
    isNextStep: true,
  },
  SECRET_NOT_CHECKED: { cause: "The server accepts any secret. Set its WEBHOOK_SECRET, and restart it.", ...generate },
  SECRET_REFUSED: {
    cause: "The server refuses the WEBHOOK_SECRET that is known here. Use the one of the server, or a new one on both.",
    ...rotate,
  },
  WEBHOOK_MISSING: { cause: "An endpoint has no webhook on the Hub.", ...sync },
  WEBHOOK_DIFFERS: { cause: "A webhook has another URL or filter than its endpoint.", ...sync },
  WEBHOOK_SECRET_DIFFERS: { cause: "A webhook has another secret than the server.", ...syncSecret },
  WEBHOOK_DISABLED: { cause: "A webhook is disabled.", ...enable },
  WEBHOOK_SUSPENDED: { cause: "The Hub suspended a webhook after too many failed deliveries.", ...enable },
  WEBHOOK_DUPLICATE: { cause: "A second webhook delivers to the same endpoint.", ...remove },
  WEBHOOK_ORPHANED: { cause: "A webhook delivers to an endpoint that does not exist.", ...remove },
  WEBHOOK_LEFTOVER: { cause: "A session of dev has ended and left its webhook, which delivers to a tunnel.", ...clean },
  INBOX_NOT_DURABLE: {
    cause: "The inbox does not survive a restart.",
    command: [`${cli} deploy {space} --inbox bucket`, "env INBOX_URL=sqlite:.hub-webhooks/inbox.db npm start"],
  },
  VERSION_OLD: {
    cause: "The server runs an older version. Update it, and start it again.",
    command: "npm update hub-webhooks",
  },
  BUDGET_LOW: { cause: "An endpoint is near the daily limit of the Hub. Watch less with it.", command: `${cli} list` },
} as const satisfies Record<string, FindingKind>;

/** The code of a finding. */
export type FindingCode = keyof typeof findingKinds;

/** One thing that is wrong. */
export interface Finding {
  code: FindingCode;
  /** What it is about. Never contains a secret. */
  detail?: string | undefined;
  values?: Readonly<Record<string, string | undefined>>;
  /** Removes the cause. Several findings can share one. */
  repair?: { question: string; run: () => Promise<unknown> } | undefined;
}

/** Returns the cause and the command of a finding as texts. */
export function explain({ code, detail = "", values = {} }: Finding): { message: string; command: string } {
  const { cause, command }: FindingKind = findingKinds[code];
  const commands = typeof command === "string" ? [command] : command;
  const isKnown = ([, name = ""]: RegExpMatchArray) => ["file", "option"].includes(name) || values[name] !== undefined;
  const fitting = commands.find((text) => [...text.matchAll(/\{(\w+)\}/g)].every(isKnown)) ?? commands[0] ?? "";
  const filled = fitting.replace(/ ?\{(\w+)\}/g, (part, name: string) => {
    const value = values[name];
    return value === undefined ? "" : part.replace(`{${name}}`, () => toShellWord(value));
  });
  return { message: `${cause} ${detail}`.trimEnd(), command: filled };
}

/** Why everything is fine, why it cannot be checked, or what is wrong. */
export type Outcome = string | { skipped: string } | readonly Finding[];

/** `needs`: the checks without which this one can find nothing, by name. */
export type Check<Facts> = { title: string; needs: readonly string[]; run: (facts: Facts) => Promise<Outcome> };

interface CheckRun<Facts> {
  /** The checks in their order. */
  checks: Readonly<Record<string, Check<Facts>>>;
  facts: Facts;
  /** Returns the values in the commands of findings. */
  valuesOf: (facts: Facts) => Promise<Finding["values"]>;
  /** Repairs findings. Returns why each repair failed, or `undefined`, by its question. */
  repair?: (findings: readonly Finding[]) => Promise<ReadonlyMap<string, string | undefined>>;
  /** Returns the facts after a repair. */
  renew?: (facts: Facts) => Facts;
}

/**
 * Runs checks one after the other, and yields each result as soon as it is known. Skips a check that needs another one which found a
 * problem. After a repair, checks again.
 *
 * @throws errors that are no findings: see {@link toFinding}.
 */
export async function* runChecks<Facts>(run: CheckRun<Facts>): AsyncGenerator<CheckResult, void> {
  const { checks, valuesOf, repair, renew } = run;
  let { facts } = run;
  const blocked = new Set<string>();
  for (const [check, { title, needs, run }] of Object.entries(checks)) {
    const blocker = needs.find((name) => blocked.has(name));
    const attempt = async (): Promise<Outcome> => {
      if (blocker !== undefined) return { skipped: `It needs "${checks[blocker]?.title}", which has a problem.` };
      return run(facts).catch((error: unknown) => {
        const finding = toFinding(error);
        // The Hub fails for all checks, but is a problem once.
        if (finding.code !== "SERVER_FILE_INVALID") blocked.add("hub");
        return [finding];
      });
    };
    const before = await attempt();
    const repaired = (await repair?.(findingsOf(before))) ?? new Map<string, string | undefined>();
    if (repaired.size > 0) facts = renew?.(facts) ?? facts;
    const after = repaired.size > 0 ? await attempt() : before;
    const remaining = findingsOf(after);
    if (blocker !== undefined || remaining.some(isProblem)) blocked.add(check);
    const fixed = findingsOf(before).filter(({ code }) => !remaining.some((finding) => finding.code === code));
    for (const finding of [...fixed, ...remaining]) {
      const status = !remaining.includes(finding) ? "fixed" : isProblem(finding) ? "problem" : "next";
      const values = { ...(await valuesOf(facts)), ...finding.values };
      const { message, command } = explain({ ...finding, values });
      const failure = repaired.get(finding.repair?.question ?? "");
      const text = failure === undefined ? message : `${message} The repair failed: ${failure}`;
      yield { check, title, status, code: finding.code, message: maskUrl(text), command };
    }
    if (typeof after === "string" && fixed.length === 0) yield { check, title, status: "ok", message: after };
    if (typeof after === "object" && "skipped" in after)
      yield { check, title, status: "skipped", message: after.skipped };
  }
}

function findingsOf(outcome: Outcome): readonly Finding[] {
  return typeof outcome === "string" || "skipped" in outcome ? [] : outcome;
}

function isProblem({ code }: Finding): boolean {
  return !("isNextStep" in findingKinds[code]);
}

/** Returns the finding for an error that a check can meet. @throws any other error. */
function toFinding(error: unknown): Finding {
  const known: Readonly<Record<string, FindingCode>> = {
    ...{ HUB_TOKEN_MISSING: "TOKEN_MISSING", HUB_TOKEN_INVALID: "TOKEN_INVALID", HUB_UNAUTHORIZED: "TOKEN_INVALID" },
    ...{ HUB_FORBIDDEN: "TOKEN_RIGHTS", SERVER_FILE_INVALID: "SERVER_FILE_INVALID" },
  };
  const code = WebhookError.isInstance(error) ? known[error.code] : undefined;
  if (code === undefined && !HubError.isInstance(error)) throw error;
  return { code: code ?? "HUB_UNREACHABLE", detail: messageOf(error) };
}

const counted = z.object({ deliveries: z.number(), limit: z.number() });
const location = z.object({ keptUntil: z.optional(z.string()) });
/** What a server reports through the API of its console. */
export const serverReport = z.object({
  session: z.object({ version: z.string() }),
  inbox: z.object({ state: z.string(), location, warnings: z.readonly(z.array(z.string())) }),
  listed: z.object({
    endpoints: z.readonly(z.array(z.object({ name: z.string(), secret: z.string(), today: counted }))),
  }),
});
export type ServerReport = z.output<typeof serverReport>;

/** What the checks of a server read, from outside or from inside. */
export interface ServerFacts {
  /** The address of the server without a trailing slash. Empty if it is unknown. */
  readonly url: () => Promise<string>;
  readonly description: () => Promise<{ endpoints: readonly { name: string }[] }>;
  /** The secret of the deliveries, if it is known here. */
  readonly secret: () => Promise<string | undefined>;
  /** The secret that the server accepted. */
  acceptedSecret: string | undefined;
  /** What the server reports about itself, or why it reports nothing. */
  readonly report: () => Promise<ServerReport | string>;
  serverAt(url: string): RemoteServer;
}

export async function checkAddress(facts: ServerFacts): Promise<Outcome> {
  const url = await facts.url();
  if (url === "") return noAddress;
  const server = facts.serverAt(url);
  const answer = await server.get("/health");
  if (answer.status === 200 && JSON.stringify(answer.body) === '{"status":"ok"}') {
    const problem = await server.findProblem();
    return problem === undefined ? `${url} is ready.` : [{ code: "SERVER_NOT_READY", detail: `It is ${problem}` }];
  }
  const isDown = answer.failure !== undefined || answer.status >= 500;
  const code = answer.status >= 300 && answer.status < 400 ? "ADDRESS_REDIRECTS" : "ADDRESS_WRONG";
  return [{ code: isDown ? "ADDRESS_UNREACHABLE" : code, detail: `GET /health ${describeAnswer(answer)}.` }];
}

export const noAddress = { skipped: "The server has no address yet, or PUBLIC_URL is not set." };

/**
 * Proves address, routing, and secret of each endpoint without running a handler. Sends one wrong secret if the server does not report
 * whether it checks secrets.
 */
export async function checkDeliveries(facts: ServerFacts): Promise<Outcome> {
  const [url, { endpoints }] = [await facts.url(), await facts.description()];
  const [first] = endpoints;
  if (url === "") return noAddress;
  if (first === undefined) return "The server has no endpoints.";
  if (!isConfidential(url)) return { skipped: "The address is not an https URL, so no secret is sent." };
  const [server, report, wrong] = [facts.serverAt(url), await facts.report(), crypto.randomUUID()];
  const isOpen =
    typeof report === "string"
      ? isProof(await server.probe(first.name, wrong))
      : report.listed.endpoints.some(({ secret }) => secret === "missing");
  if (isOpen) return [{ code: "SECRET_NOT_CHECKED" }];
  const secret = await facts.secret();
  const found: Finding[] = [];
  for (const { name } of endpoints) {
    const answer = await server.probe(name, secret ?? wrong);
    const isRefused = answer.code === "SECRET_INVALID" || answer.code === "TOO_MANY_FAILURES";
    if (isProof(answer) || (isRefused && secret === undefined)) continue;
    if (isRefused) return [{ code: "SECRET_REFUSED" }];
    const code = answer.code === "ENDPOINT_UNKNOWN" ? "ENDPOINT_NOT_SERVED" : "ENDPOINT_FAILED";
    found.push({ code, detail: `${nameOf(name)} It ${describeAnswer(answer)}.`, values: { endpoint: name } });
  }
  if (found.length > 0) return found;
  if (secret === undefined) return "Each endpoint checks its secret, which is not known here: set WEBHOOK_SECRET.";
  facts.acceptedSecret = secret;
  return "Each endpoint proved address, routing, and secret, without running its handler.";
}

/** A check of what the server reports about itself. */
export function inside<Facts extends ServerFacts>(
  check: (reported: ServerReport, facts: Facts) => Outcome,
): Check<Facts>["run"] {
  return async (facts) => {
    const reported = await facts.report();
    return typeof reported === "string" ? { skipped: reported } : check(reported, facts);
  };
}

export function checkInbox({ inbox: { state, warnings, location } }: ServerReport): Outcome {
  if (state === "unused") return "No endpoint runs in the background.";
  if ((location.keptUntil ?? "retention") === "retention") return "It keeps deliveries when the server restarts.";
  return [{ code: "INBOX_NOT_DURABLE", detail: warnings[0] }];
}

export function checkBudget({ listed: { endpoints } }: ServerReport): Outcome {
  const near = endpoints.filter(({ today: { deliveries } }) => isNearDailyLimit(deliveries));
  if (near.length === 0) return "No endpoint is near the daily limit of the Hub.";
  return near.map(({ name, today: { deliveries, limit } }) => {
    return { code: "BUDGET_LOW", detail: `${nameOf(name)} Deliveries: ${deliveries} of ${limit}.` };
  });
}

/** Describes what a finding is about. */
export function nameOf(endpoint: string): string {
  return `Endpoint: ${endpoint}.`;
}
