import { toShellWord } from "../../core/text.ts";

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
