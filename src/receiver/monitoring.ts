import type { Hono } from "hono";
import { readEnvironment } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import { errorAnswer, toResponse } from "../http/answer.ts";
import type { Inbox, InboxProblem } from "../inbox/inbox.ts";
import { type BackgroundWork, CachedRead, type InboxCountsReader } from "./background.ts";
import type { ServerContext } from "./context.ts";

/** How long a check waits for the inbox. */
const timeoutMs = 3_000;

type Problems = readonly InboxProblem[];

/**
 * The route `GET /ready`. Answers 503 while the server is closing, the inbox cannot store deliveries, or no worker makes
 * progress, and 200 otherwise. Every client receives the status, but only the owner receives the reasons.
 */
export class ReadyRoute {
  readonly #context: ServerContext;
  readonly #background: Pick<BackgroundWork, "opened">;
  readonly #inboxProblems: CachedRead<Problems>;

  /** @param background a check never opens its inbox. */
  constructor(context: ServerContext, background: Pick<BackgroundWork, "opened">) {
    this.#context = context;
    this.#background = background;
    const fallback = [unavailable(`The inbox did not respond within ${timeoutMs / 1000} s. ${remedy}`)];
    this.#inboxProblems = new CachedRead<Problems>({ now: context.now, timeoutMs, fallback });
  }

  /** Adds the route to the app. */
  mount(app: Hono): void {
    app.get("/ready", async (context) => {
      const problems = await this.#problems();
      const status = statusOf(problems);
      // A probe must not wait while clients guess the token.
      const isOwner = (await this.#context.ownerCheck.refuse(context, { mayWait: false })) === undefined;
      const reasons = problems.map(({ code, message }) => ({ code, message }));
      return context.json(isOwner ? { status, problems: reasons } : { status }, status === "unavailable" ? 503 : 200, {
        "cache-control": "no-store",
      });
    });
  }

  async #problems(): Promise<Problems> {
    const { isClosed, endpoints } = this.#context;
    if (isClosed) return [unavailable("The server is closed or shutting down.", "CLOSING")];
    if (endpoints.backgroundEndpoints.length === 0) return [];
    const { opened } = this.#background;
    if (!opened) return [unavailable("The inbox is not open yet. Call launch() or ready() to open the inbox.")];
    return this.#inboxProblems.get(opened, readProblems);
  }
}

const remedy = "Check that the file or database server of the inbox is available.";

/** Returns the overall status. `degraded` means that deliveries are stored and run, but there are problems to fix. */
function statusOf(problems: Problems): "ok" | "degraded" | "unavailable" {
  if (problems.some(({ severity }) => severity === "unavailable")) return "unavailable";
  return problems.length > 0 ? "degraded" : "ok";
}

async function readProblems(inbox: Promise<Inbox>): Promise<Problems> {
  try {
    return await (await inbox).problems();
  } catch (error) {
    // Omits messages of database drivers, which may contain secrets.
    if (WebhookError.isInstance(error)) return [unavailable(error.message, error.code)];
    return [unavailable(`The inbox did not report its state. ${remedy}`)];
  }
}

function unavailable(message: string, code = "INBOX_UNAVAILABLE"): InboxProblem {
  return { code, severity: "unavailable", message };
}

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
