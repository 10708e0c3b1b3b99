import { styleText } from "node:util";
import { toShellWord } from "../../../core/escape.ts";
import { plainText } from "../../../core/terminal-text.ts";
import type { DevEndpoint, DevEvent, DevReady } from "../../../dev/dev-event.ts";
import { formatForTerminal } from "../../../receiver/node/terminal-log.ts";
import { framesOf } from "../../stack-frames.ts";
import { harmless, type LogLine, parseLogLine, tellDelivery } from "./log-line.ts";

/** The colours of a line, as far as there are any. */
type Color = Parameters<typeof styleText>[0];

/** Of how many deliveries it is remembered that they were there. */
const mostKnown = 1_000;

/** What {@link DevLines} needs. */
export interface DevLinesOptions {
  hasColors: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Where `trigger` looks for a local Hub when nobody says; `undefined` where that is no local one. */
  usualHub: string | undefined;
}

/** Says in lines for a person what happens in a session. */
export class DevLines {
  readonly #options: DevLinesOptions;
  /** The ids of the latest deliveries. */
  readonly #known = new Set<string>();

  constructor(options: DevLinesOptions) {
    this.#options = options;
  }

  /** The lines of an event; none where there is nothing to say. */
  of(event: DevEvent): readonly string[] {
    switch (event.event) {
      case "ready":
        return [];
      case "delivery": {
        const { endpoint, status, reason } = event;
        // What the server's own log says of a delivery is more than what its answer tells.
        return reason === undefined
          ? []
          : [
              this.#line(
                "red",
                "✗",
                `${status}  ${endpoint}  ${reason} The Hub retries it while it has attempts left.`,
              ),
            ];
      }
      case "output":
        return this.#outputLines(event.text);
      case "reloading":
        return [this.#line("gray", "·", `${event.files.map(baseName).join(", ")} changed: loading`)];
      case "reloaded":
        return [
          this.#line("green", "✓", `loaded: ${event.endpoints.map(({ name }) => name).join(", ") || "no endpoint"}`),
        ];
      case "broken": {
        const next = event.isRestarted ? "It is started again." : "Deliveries are answered 503 until you fix it.";
        return [this.#line("red", "✗", `${sentence(event.reason)} ${next}`), ...framesOf(event)];
      }
      case "down":
        return [this.#line("red", "✗", `DOWN: nothing arrives from outside. ${event.reason} Opening it again.`)];
      case "up":
        return [this.#line("green", "✓", `UP: deliveries arrive again at ${event.publicUrl}`)];
      case "urlChanged":
        return [this.#line("yellow", "!", `NEW ADDRESS: ${event.publicUrl}; this session's webhooks follow it`)];
      case "webhooks":
        return event.steps.map((step) => this.#line("gray", "·", step));
      case "problem":
        return [this.#line("yellow", "!", event.message)];
    }
  }

  /** What there is to know once deliveries arrive. */
  ready(
    state: DevReady,
    {
      file,
      seconds,
      hasKeys,
      secret,
    }: { file: string; seconds: number; hasKeys: boolean; secret?: string | undefined },
  ): readonly string[] {
    const { url, publicUrl, hub, endpoints, inbox, console: consoleUrl } = state;
    const width = Math.max(0, ...endpoints.map(({ name }) => name.length));
    const trigger = endpoints.find((endpoint) => endpoint.trigger)?.trigger;
    const places = [
      ["server", url],
      ...(consoleUrl === undefined ? [] : [["console", `${consoleUrl}${hasKeys ? "  (key o)" : ""}`]]),
      ...(publicUrl === url ? [] : [["public", publicUrl]]),
      ["Hub", hub.kind === "local" ? `${hub.url}  (on this machine, no account)` : hub.url],
      ...(inbox === undefined ? [] : [["inbox", `${inbox}  (of this session)`]]),
      ...(secret === undefined ? [] : [["secret", `${secret}  (of this session; its Hub and trigger send it)`]]),
    ];
    return [
      "",
      `${this.#paint(["bold", "green"], "Ready")} in ${seconds.toFixed(1)} s: ${plainText(file)}`,
      ...places.map(([name = "", place = ""]) => `  ${this.#paint("gray", name.padEnd(9))}${place}`),
      "",
      ...endpoints.map((endpoint) => `  ${endpoint.name.padEnd(width)}  ${this.#watchText(endpoint)}`),
      ...(endpoints.length === 0 ? ["  No endpoint is registered yet: server.webhook(name, handler) does it."] : []),
      "",
      ...(trigger ? [`Let something happen, in another terminal: ${this.#triggerCommand(hub.url, trigger)}`] : []),
      hasKeys ? keyList(state) : "Press Ctrl+C to stop.",
      "",
    ];
  }

  #triggerCommand(hubUrl: string, words: readonly string[]): string {
    const elsewhere = hubUrl === this.#options.usualHub ? [] : ["--endpoint", hubUrl];
    return ["npx hub-webhooks trigger", ...[...words, ...elsewhere].map(toShellWord)].join(" ");
  }

  #watchText({ watch }: DevEndpoint): string {
    if (watch.length > 0) return plainText(watch.join(", "));
    return this.#paint("yellow", 'not registered: add { watch: "dataset:you/data" } to the endpoint, or --watch');
  }

  #outputLines(text: string): readonly string[] {
    const logged = parseLogLine(text);
    const told = logged && tellDelivery({ ...logged, isAgain: this.#isKnown(logged) });
    if (told) return [this.#line(told.color, told.sign, told.text), ...told.below.map((line) => `    ${line}`)];
    return [logged ? formatForTerminal(text).trimEnd() : harmless(text)];
  }

  /** Whether there was a line of an answer to this delivery before: the Hub repeats what was no success. */
  #isKnown({ deliveryId, status }: LogLine): boolean {
    if (typeof deliveryId !== "string" || status === undefined) return false;
    if (this.#known.has(deliveryId)) return true;
    this.#known.add(deliveryId);
    for (const oldest of this.#known) {
      if (this.#known.size <= mostKnown) break;
      this.#known.delete(oldest);
    }
    return false;
  }

  #line(color: Color, sign: string, text: string): string {
    const clock = new Date(this.#options.now()).toTimeString().slice(0, 8);
    return `${this.#paint("gray", clock)} ${this.#paint(color, sign)} ${plainText(text)}`;
  }

  #paint(color: Color, text: string): string {
    return this.#options.hasColors ? styleText(color, text, { validateStream: false }) : text;
  }
}

/** What the keys do, in one line. */
export function keyList({ console: consoleUrl }: Pick<DevReady, "console">): string {
  return `Keys: r replays the latest delivery, o opens the ${consoleUrl === undefined ? "page" : "console"}, q quits`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
