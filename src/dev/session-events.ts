import { inspect } from "node:util";
import type { DevEvent } from "./dev-event.ts";
import type { SessionProblem } from "./session-problems.ts";

export interface SessionEventsOptions {
  /** The user's listener. It can be async. */
  onEvent: ((event: DevEvent) => unknown) | undefined;
  /** Whether the session is closed. Then, only output and problems are reported. */
  isClosed: () => boolean;
}

/** Reports the events of a session to the user's listener. A failure of the listener never stops the session. */
export class SessionEvents {
  readonly #options: SessionEventsOptions;

  constructor(options: SessionEventsOptions) {
    this.#options = options;
  }

  emit(event: DevEvent): void {
    const { onEvent, isClosed } = this.#options;
    if (isClosed() && event.event !== "output" && event.event !== "problem") return;
    // An unhandled rejection would end the process.
    (async () => onEvent?.(event))().catch((reason: unknown) => {
      process.emitWarning(`The listener of the session event "${event.event}" failed: ${inspect(reason)}`);
    });
  }

  emitProblem({ code, message }: SessionProblem): void {
    this.emit({ event: "problem", code, message });
  }
}
