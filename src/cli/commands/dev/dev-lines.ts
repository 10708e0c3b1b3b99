import { styleText } from "node:util";
import { readField } from "../../../core/describe.ts";
import { formatDuration } from "../../../core/options.ts";
import { plainText, userStackLines } from "../../../core/terminal.ts";
import { deceptiveCharacters, toShellWord } from "../../../core/text.ts";
import { type LogRecord, parseLogLine } from "../../../dev/console/log-buffer.ts";
import type { DevEndpoint, DevEvent, DevState } from "../../../dev/dev-event.ts";
import type { DeliveryLogFields } from "../../../receiver/end.ts";
import { formatForTerminal } from "../../../receiver/node/node-logger.ts";
import { extraStackLines } from "../../invocation.ts";

type Color = Parameters<typeof styleText>[0];

/** The signs at the start of a line, and their colors. */
const signs = { "✓": "green", "✗": "red", "!": "yellow", "·": "gray" } as const;

type Sign = keyof typeof signs;

/** The maximum number of delivery IDs to keep in memory. A delivery with a known ID is a retry. */
const maxKnown = 1_000;

export interface DevLinesOptions {
  hasColors: boolean;
  /** Returns the time in milliseconds since the epoch. */
  now: () => number;
  /** The local Hub that `trigger` uses by default; `undefined` if `HF_ENDPOINT` sets another Hub. */
  defaultTriggerHub: string | undefined;
}

/** Formats the events of a session as lines for a terminal. */
export class DevLines {
  readonly #options: DevLinesOptions;
  /** The IDs of the latest deliveries. */
  readonly #known = new Set<string>();

  constructor(options: DevLinesOptions) {
    this.#options = options;
  }

  /** Returns the lines for an event, or an empty list for an event that is not shown. */
  format(event: DevEvent): readonly string[] {
    switch (event.event) {
      case "ready":
        return [];
      case "signedIn":
        return [this.#line("·", "signed in to the console")];
      case "delivery": {
        const { endpoint, status, reason } = event;
        // If the server answered, the server's log line describes the delivery in more detail.
        if (reason === undefined) return [];
        const next = "The Hub retries the delivery while it has attempts left.";
        return [this.#line("✗", `${status}  ${endpoint}  ${reason} ${next}`)];
      }
      case "output":
        return this.#outputLines(event.text);
      case "reloading":
        return [this.#line("·", `${event.files.map(baseName).join(", ")} changed: reloading`)];
      case "reloaded":
        return [this.#line("✓", `reloaded: ${event.endpoints.map(({ name }) => name).join(", ") || "no endpoints"}`)];
      case "broken": {
        const next = event.isRestarted
          ? "The server is restarting."
          : "Deliveries receive a 503 response until you fix the file.";
        return [this.#line("✗", `${sentence(event.reason)} ${next}`), ...extraStackLines(event)];
      }
      case "down":
        return [this.#line("✗", `DOWN: the public URL is not reachable. ${event.reason} Reconnecting.`)];
      case "up":
        return [this.#line("✓", `UP: ${event.publicUrl} is reachable again`)];
      case "urlChanged":
        return [this.#line("!", `NEW URL: ${event.publicUrl}; updating the webhooks of this session`)];
      case "webhooks":
        return event.steps.map((step) => this.#line("·", step));
      case "problem":
        return [this.#line("!", event.message)];
    }
  }

  /** Returns the summary to print when the session is ready for deliveries. */
  ready(
    state: DevState,
    {
      file,
      seconds,
      hasKeys,
      consoleLink,
      secret,
    }: { file: string; seconds: number; hasKeys: boolean; consoleLink: string; secret?: string | undefined },
  ): readonly string[] {
    const { url, publicUrl, hub, endpoints, inbox } = state;
    const width = Math.max(0, ...endpoints.map(({ name }) => name.length));
    const trigger = endpoints.find((endpoint) => endpoint.trigger)?.trigger;
    const places = [
      ["console", `${consoleLink}${hasKeys ? "  (once; key o opens it again)" : "  (valid once)"}`],
      ["server", url],
      ...(publicUrl === url ? [] : [["public", publicUrl]]),
      ["Hub", hub.kind === "local" ? `${hub.url}  (local, no account)` : hub.url],
      ...(inbox === undefined ? [] : [["inbox", `${inbox}  (kept between sessions)`]]),
      ...(secret === undefined ? [] : [["secret", `${secret}  (this session; sent by the local Hub and by trigger)`]]),
    ];
    return [
      "",
      `${this.#colorize(["bold", "green"], "Ready")} in ${seconds.toFixed(1)} s: ${plainText(file)}`,
      ...places.map(([name = "", place = ""]) => `  ${this.#colorize("gray", name.padEnd(11))}${place}`),
      "",
      ...endpoints.map((endpoint) => `  ${endpoint.name.padEnd(width)}  ${this.#watchText(endpoint)}`),
      ...(endpoints.length === 0 ? ["  No endpoints yet. Register one with server.webhook(name, handler)."] : []),
      "",
      ...(trigger ? [`To send a test event, run in another terminal: ${this.#triggerCommand(hub.url, trigger)}`] : []),
      hasKeys ? describeKeys() : "Press Ctrl+C to stop.",
      "",
    ];
  }

  #triggerCommand(hubUrl: string, args: readonly string[]): string {
    const hubUrlArgs = hubUrl === this.#options.defaultTriggerHub ? [] : ["--hub-url", hubUrl];
    return ["npx hub-webhooks trigger", ...[...args, ...hubUrlArgs].map(toShellWord)].join(" ");
  }

  #watchText({ watch }: DevEndpoint): string {
    if (watch.length > 0) return plainText(watch.join(", "));
    return this.#colorize(
      "yellow",
      'not registered: add { watch: "dataset:you/data" } to the endpoint, or use --watch',
    );
  }

  #outputLines(text: string): readonly string[] {
    const logged = parseLogLine(text);
    const delivery = logged && formatDelivery(logged, { isRetry: this.#isKnown(logged) });
    if (delivery) return [this.#line(delivery.sign, delivery.text), ...delivery.stack.map((line) => `    ${line}`)];
    return [logged ? formatForTerminal(text).trimEnd() : sanitizeLine(text)];
  }

  /** Whether an earlier log line has this delivery ID, which means that the Hub sent the delivery again. Remembers the ID. */
  #isKnown({ deliveryId, status }: LogRecord): boolean {
    if (typeof deliveryId !== "string" || status === undefined) return false;
    if (this.#known.has(deliveryId)) return true;
    this.#known.add(deliveryId);
    for (const oldest of this.#known) {
      if (this.#known.size <= maxKnown) break;
      this.#known.delete(oldest);
    }
    return false;
  }

  #line(sign: Sign, text: string): string {
    const clock = new Date(this.#options.now()).toTimeString().slice(0, 8);
    return `${this.#colorize("gray", clock)} ${this.#colorize(signs[sign], sign)} ${plainText(text)}`;
  }

  #colorize(color: Color, text: string): string {
    return this.#options.hasColors ? styleText(color, text, { validateStream: false }) : text;
  }
}

/** Lists the keys on one line. */
export function describeKeys(): string {
  return "Keys: r replays the latest delivery, o opens the console, q quits";
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** A line whose fields are not checked yet. */
type UncheckedDeliveryLine = Readonly<Partial<Record<keyof DeliveryLogFields | "msg", unknown>>>;

/** Formats the log line of a delivery, with the stack of the error that the handler threw. Returns `undefined` for any other log line. */
export function formatDelivery(
  logged: UncheckedDeliveryLine,
  { isRetry }: { isRetry: boolean },
): { sign: Sign; text: string; stack: readonly string[] } | undefined {
  const { endpoint, status, outcome, attempt, repo, scope, action, ms, err } = logged;
  if (typeof endpoint !== "string" || (typeof status !== "number" && typeof outcome !== "string")) return undefined;
  const isFailure = typeof status === "number" ? status > 299 : outcome !== "succeeded" && outcome !== "ignored";
  const parts = [
    // `retrying` means that this attempt failed and that another attempt is scheduled.
    status ?? (outcome === "retrying" ? "failed" : outcome),
    endpoint,
    repo,
    scope && action && `${String(scope)} ${String(action)}`,
    ms === undefined ? undefined : `${String(ms)} ms`,
    typeof attempt === "number" && `attempt ${attempt}`,
    isRetry && "retried by the Hub",
    detailOf(logged, isFailure),
  ];
  const thrown = readField(err, "stack") ?? err;
  return {
    sign: isFailure ? "✗" : outcome === "ignored" ? "·" : "✓",
    text: parts
      .filter(Boolean)
      .map((part) => plainText(String(part)))
      .join("  "),
    stack: typeof thrown === "string" ? userStackLines(thrown).map(sanitizeLine) : [],
  };
}

/** Returns a detail to show: why the handler did not run, the failure, the next attempt, or `accepted`. */
function detailOf(
  { reason, duplicate, code, msg, status, outcome, nextAttemptInMs, err }: UncheckedDeliveryLine,
  isFailure: boolean,
): string | undefined {
  if (typeof reason === "string") return `ignored: ${reason}`;
  if (duplicate === true) return "duplicate, not run again";
  const said = String(msg ?? code ?? "").replace(/^delivery (?:is dead|failed|will be retried in [^:]+): /, "");
  if (typeof nextAttemptInMs === "number") {
    const next = `next attempt in ${formatDuration(nextAttemptInMs)}`;
    // The stack lines contain the error.
    return err === undefined ? `${said}  ${next}` : next;
  }
  if (outcome === "dead") return String(readField(err, "message") ?? said);
  if (isFailure) return said;
  return status === 202 && outcome === undefined ? "accepted" : undefined;
}

/** Matches deceptive characters and line breaks, but not the escape codes of colors. */
const unsafeCharacters = new RegExp(`(?!\\u001b\\[[\\d;]*m)(?:${deceptiveCharacters.source}|[\\r\\n])`, "gu");

/** Removes control characters from a line that the user's code prints, except the escape codes of colors. */
export function sanitizeLine(text: string): string {
  return text.replace(/\t/g, "    ").replace(unsafeCharacters, "");
}
