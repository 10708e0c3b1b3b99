import type { Logger } from "../core/logger.ts";
import type { NewerPart } from "./newer-values.ts";
import { packageVersion } from "./package-version.ts";
import type { Redact } from "./redaction.ts";

/** How many different warnings are remembered: a program may take its values from elsewhere. */
const maxRemembered = 1_000;

/** Warns of fields and values that were sent although this release does not list them: once each. */
export class NewerWarnings {
  readonly #logger: Logger | undefined;
  readonly #given = new Set<string>();

  /** Without a logger it warns by `process.emitWarning`, where there is none by `console.warn`. */
  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  warn(
    parts: readonly NewerPart[],
    { operation, action, redact }: { operation: string; action: string; redact: Redact },
  ): void {
    for (const part of parts) {
      const field = redact(part.field);
      const value = part.value === undefined ? undefined : redact(part.value.slice(0, 100));
      // The same value at another place of a list is the same warning.
      const key = JSON.stringify([field.replace(/\[\d+\]/g, "[]"), value]);
      if (this.#given.has(key) || this.#given.size >= maxRemembered) continue;
      this.#given.add(key);
      const what = value === undefined ? `Unknown field "${field}"` : `Unknown value "${value}" of "${field}"`;
      const message = `${what}, sent as given to ${action}: it may be newer than ${packageVersion}.${part.hint}`;
      const code = value === undefined ? "UNKNOWN_FIELD" : "UNKNOWN_VALUE";
      if (this.#logger) this.#logger.warn({ code, operation, field, ...(value !== undefined && { value }) }, message);
      else emit(message, code);
    }
  }
}

function emit(message: string, code: string): void {
  if (typeof process !== "undefined" && typeof process.emitWarning === "function") {
    process.emitWarning(message, { type: "HubWarning", code });
  } else {
    console.warn(message);
  }
}
