import { describeError, readField } from "../core/describe.ts";
import { isTestRun, readEnvironment } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import {
  createLogger,
  createRedactingLogger,
  createSafeLogger,
  type Logger,
  type LogMethod,
  LogRedaction,
  minRedactedLength,
  toPlainFields,
} from "../core/log.ts";
import { escapeHidden } from "../core/text.ts";
import { secretsInUrl } from "../core/urls.ts";
import type { Outcome } from "../payload/parse.ts";
import type { WebhooksServerOptions } from "./options.ts";

/**
 * Creates the logger of a server before its start: the given logger, or the console, which works in every runtime. Redacts secrets and
 * never throws.
 */
export function createServerLogger(given: Logger | undefined, redaction: ServerRedaction): Logger {
  return createSafeLogger(
    given ? createRedactingLogger(given, redaction) : createConsoleLogger((line) => redaction.line(line)),
  );
}

/** Loads pino. `undefined` in a runtime without Node modules, which keeps the console. */
export type LoadNodeLogger = (() => Promise<typeof import("./node/node-logger.ts")>) | undefined;

/**
 * Creates the default logger of a started server: pino, if `load` can load it. Under a test runner, it is silent unless `LOG_LEVEL` is
 * set.
 *
 * @throws `OPTION_INVALID` when `LOG_LEVEL` is invalid.
 */
export async function createReadyLogger(redaction: ServerRedaction, load: LoadNodeLogger): Promise<Logger> {
  if (!load || isSilent()) return createServerLogger(undefined, redaction);
  const { createNodeLogger } = await load();
  return createSafeLogger(createNodeLogger((line) => redaction.line(line)));
}

const ranks = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Number.POSITIVE_INFINITY };

const ranksByName: ReadonlyMap<string, number> = new Map(Object.entries(ranks));

/**
 * Creates a logger that writes JSON lines with pino's field names to the console. `LOG_LEVEL` sets its level, and an unknown
 * level counts as `info`. The default is `info`, but `silent` under a test runner. `redact` processes each line.
 */
export function createConsoleLogger(
  redact: (line: string) => string = (line) => line,
  bindings: Record<string, unknown> = {},
): Logger {
  return createLogger(
    (level, fields, message) => {
      // `LOG_LEVEL` is read for each line, because tests set it after they create the server.
      if (ranks[level] < minRank()) return;
      const line = typeof fields === "string" ? { msg: fields } : { ...fields, msg: message };
      // Escapes control characters, so that a sender cannot control the terminal that displays the log.
      console[level](escapeHidden(redact(toJson({ level, time: Date.now(), ...bindings, ...line }))));
    },
    (more) => createConsoleLogger(redact, { ...bindings, ...more }),
  );
}

function minRank(): number {
  if (isSilent()) return ranks.silent;
  return ranksByName.get(readEnvironment("LOG_LEVEL")?.toLowerCase() ?? "info") ?? ranks.info;
}

/** Whether nothing is logged, because the output of a test run is the report of its tests. */
function isSilent(): boolean {
  return readEnvironment("LOG_LEVEL") === undefined && isTestRun();
}

/** Converts errors to plain objects, because `JSON.stringify` omits the non-enumerable fields of errors. */
function replaceErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { type: value.name, message: value.message, stack: value.stack };
}

/** Converts a line to JSON. Replaces fields that cannot be serialized, and never throws. */
function toJson(line: { level: string; time: number; msg?: unknown }): string {
  try {
    return JSON.stringify(line, replaceErrors);
  } catch {
    return JSON.stringify(toPlainFields(line));
  }
}

/** Limits the log lines per second for each code, because any client can cause refused requests. */
const maxLinesPerSecond = 10;
const windowMs = 1_000;

/** The refused requests with one code and status in the current second. */
interface Window {
  startedAt: number;
  lines: number;
  /** The number of refused requests that were counted but not logged. */
  suppressed: number;
  fields: object;
  message: string;
}

export interface RefusalLog extends Logger {
  /** Logs the counts that are not logged yet, for example before the server closes. */
  flush(): void;
}

/**
 * Creates a logger that samples `warn` and passes on the other levels. In each second, it logs the first ten refused requests with
 * the same code and status. At the end of the second, one line reports how many further requests were refused.
 */
export function createRefusalLog(log: Logger, now: () => number): RefusalLog {
  const windows = new Map<string, Window>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const logSuppressed = ({ suppressed, fields, message }: Window) => {
    if (suppressed > 0) log.warn({ ...fields, count: suppressed }, `${suppressed} further ${inPlural(message)}`);
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const window of windows.values()) logSuppressed(window);
    windows.clear();
  };
  const refuse = (fields: object, message: string) => {
    const at = now();
    const [code, status] = [readField(fields, "code"), readField(fields, "status")];
    const key = `${code} ${status}`;
    const open = windows.get(key);
    // The window also ends if the clock was set back.
    const isOver = open && (at - open.startedAt >= windowMs || at < open.startedAt);
    if (open && isOver) logSuppressed(open);
    if (!open || isOver) {
      windows.set(key, { startedAt: at, lines: 1, suppressed: 0, fields: { code, status }, message });
      log.warn(fields, message);
    } else if (open.lines < maxLinesPerSecond) {
      open.lines += 1;
      log.warn(fields, message);
    } else {
      if (open.suppressed === 0) open.message = message;
      open.suppressed += 1;
      timer ??= setTimeout(flush, windowMs);
    }
  };
  const warn: LogMethod = (given: object | string, message?: string) => {
    if (typeof given === "string") refuse({}, given);
    else refuse(given, message ?? "");
  };
  return { ...log, warn, flush };
}

/** Converts "delivery refused: …" to "deliveries refused: …". */
function inPlural(message: string): string {
  return message.replace(/y? refused\b/, (found) => (found.startsWith("y") ? "ies refused" : "s refused"));
}

/** Environment variables and bindings of edge workers that contain a secret. */
const secretNames = [
  "WEBHOOK_SECRET",
  "WEBHOOK_SECRET_PREVIOUS",
  "CONSOLE_TOKEN",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
] as const;

/** Redacts the secrets of a server's options and environment in log lines and stored errors. */
export class ServerRedaction extends LogRedaction {
  #bindings: unknown;
  readonly #short = new Set<string>();

  constructor({ secret, consoleToken, inbox, hub }: WebhooksServerOptions) {
    super();
    for (const text of [secret].flat()) this.#addNamed("`secret`", text);
    this.#addNamed("`consoleToken`", consoleToken);
    this.#addPassword("the password in `inbox`", inbox);
    if (hub && "token" in hub) this.#addNamed("`hub.token`", hub.token);
    this.addEnvironment();
  }

  /** The names of the settings whose secrets are too short to be redacted. */
  get shortNames(): readonly string[] {
    return [...this.#short];
  }

  addEnvironment(): void {
    for (const name of secretNames) this.#addNamed(name, readEnvironment(name));
    this.#addPassword("the password in INBOX_URL", readEnvironment("INBOX_URL"));
  }

  /** Adds the secrets in the bindings that an edge worker passes with each request. */
  addBindings(bindings: unknown): void {
    if (typeof bindings !== "object" || bindings === null || bindings === this.#bindings) return;
    this.#bindings = bindings;
    for (const name of secretNames) this.#addNamed(name, Reflect.get(bindings, name));
  }

  /** Returns an outcome that an inbox can store: secrets in the messages of a failure and its cause are redacted. */
  outcome(outcome: Outcome): Outcome {
    if (outcome.status !== "failed") return outcome;
    const { code, status, retryable, retryAfterSeconds, message, cause } = outcome.error;
    const reason = cause === undefined ? undefined : describeError(cause).message;
    const redacted = { message: this.text(message), reason: reason && this.text(reason) };
    if (redacted.message === message && redacted.reason === reason) return outcome;
    const error = new WebhookError(redacted.message, {
      code,
      retryable,
      cause: redacted.reason,
      ...(status !== undefined && { status }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
    return { ...outcome, error };
  }

  #addPassword(name: string, url: unknown): void {
    if (typeof url === "string") for (const secret of secretsInUrl(url)) this.#addNamed(name, secret);
  }

  #addNamed(name: string, secret: unknown): void {
    if (typeof secret !== "string" || secret === "") return;
    if (secret.length < minRedactedLength) this.#short.add(name);
    this.add([secret]);
  }
}
