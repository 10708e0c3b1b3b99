import type { Hono } from "hono";
import { readEnvironment } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import { errorAnswer, toResponse } from "../http/answer.ts";
import type { InboxCountsReader } from "./background.ts";
import type { ServerContext } from "./context.ts";

/**
 * The route `GET /metrics`, which only the owner can read. If metrics are disabled, the route does not exist, and
 * nothing is loaded.
 */
export class MetricsRoute {
  readonly #context: ServerContext;
  readonly #inbox: InboxCountsReader;
  readonly #isOn: boolean;
  readonly #mistake: WebhookError | undefined;
  #opened: Promise<() => Promise<Response>> | undefined;

  constructor(context: ServerContext, inbox: InboxCountsReader) {
    this.#context = context;
    this.#inbox = inbox;
    const { metrics } = context.options;
    const setting = readEnvironment("METRICS");
    this.#isOn = metrics ?? (setting === "1" || setting === "true");
    // `open()` throws this error, so that `launch()` logs it.
    this.#mistake = metrics === undefined ? mistakeIn(setting) : undefined;
  }

  /**
   * Starts to collect metrics, if enabled.
   *
   * @throws `OPTION_INVALID` when `METRICS` is invalid, or `prom-client` is not installed.
   */
  async open(): Promise<void> {
    if (this.#mistake) throw this.#mistake;
    if (this.#isOn) await this.#open();
  }

  /** Adds the route to the app. */
  mount(app: Hono): void {
    if (!this.#isOn) return;
    const { ownerCheck, log } = this.#context;
    app.get("/metrics", async (context) => {
      const refused = await ownerCheck.refuse(context);
      if (refused) return refused;
      try {
        const write = await this.#open();
        return await write();
      } catch (error) {
        if (!WebhookError.isInstance(error)) throw error;
        log.error({ code: error.code, err: error.cause }, error.message);
        return toResponse(errorAnswer(error));
      }
    });
  }

  /** Loads the metrics once. After a failed call, the next call tries again. */
  #open(): Promise<() => Promise<Response>> {
    const { activity, endpoints } = this.#context;
    this.#opened ??= import("./metrics.ts")
      .then(({ openMetrics }) => openMetrics({ activity, endpoints: endpoints.byName, inbox: this.#inbox }))
      .catch((error: unknown) => {
        this.#opened = undefined;
        throw error;
      });
    return this.#opened;
  }
}

function mistakeIn(setting: string | undefined): WebhookError | undefined {
  if (setting === undefined || ["0", "1", "false", "true"].includes(setting)) return undefined;
  return optionError(`METRICS is ${JSON.stringify(setting)}. Set METRICS to 1 or 0 to enable or disable GET /metrics.`);
}
