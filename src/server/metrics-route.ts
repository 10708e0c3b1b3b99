import type { Hono } from "hono";
import { readEnvironment } from "../environment.ts";
import { WebhookError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { answerError } from "./answer.ts";
import type { MetricsSource } from "./metrics.ts";
import type { OwnerCheck } from "./owner.ts";

/** What a {@link MetricsRoute} is made from. */
export interface MetricsRouteOptions extends MetricsSource {
  /** Whether there are metrics; `undefined` leaves it to `METRICS`. */
  isOn: boolean | undefined;
  owner: OwnerCheck;
  log: () => Logger;
}

/** `GET /metrics`, for the owner, where it is switched on; elsewhere there is no such path, and nothing is loaded. */
export class MetricsRoute {
  readonly #options: MetricsRouteOptions;
  readonly #isOn: boolean;
  #opened: Promise<() => Promise<Response>> | undefined;

  /** @throws `OPTION_INVALID` when `METRICS` is neither on nor off. */
  constructor(options: MetricsRouteOptions) {
    this.#options = options;
    this.#isOn = options.isOn ?? isSwitchedOn();
  }

  /** Begins to measure, where that is wanted. @throws `OPTION_INVALID` when `prom-client` is not installed. */
  async open(): Promise<void> {
    if (this.#isOn) await this.#open();
  }

  /** Adds the route to the app. */
  mount(app: Hono): void {
    if (!this.#isOn) return;
    const { owner, log } = this.#options;
    app.get("/metrics", async (context) => {
      const refusal = owner.refuse(context);
      if (refusal) return refusal;
      try {
        const write = await this.#open();
        return await write();
      } catch (error) {
        if (!WebhookError.isInstance(error)) throw error;
        log().error({ code: error.code, err: error.cause }, error.message);
        return answerError(error);
      }
    });
  }

  /** What failed may be tried again: the package may have been installed meanwhile. */
  #open(): Promise<() => Promise<Response>> {
    this.#opened ??= import("./metrics.ts")
      .then(({ openMetrics }) => openMetrics(this.#options))
      .catch((error: unknown) => {
        this.#opened = undefined;
        throw error;
      });
    return this.#opened;
  }
}

function isSwitchedOn(): boolean {
  const value = readEnvironment("METRICS");
  if (value === undefined || value === "0" || value === "false") return false;
  if (value === "1" || value === "true") return true;
  throw new WebhookError(`METRICS is ${JSON.stringify(value)}: give 1 to switch GET /metrics on, or 0.`, {
    code: "OPTION_INVALID",
  });
}
