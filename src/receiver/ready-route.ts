import type { Hono } from "hono";
import { WebhookError } from "../core/errors.ts";
import type { Inbox, InboxProblem } from "../inbox/inbox.ts";
import { CachedRead } from "./cached-read.ts";
import type { OwnerCheck } from "./owner-check.ts";

interface ReadyRouteOptions {
  /** Whether there is a background endpoint. */
  needsInbox: () => boolean;
  /** The inbox, if it is open or opening: a check never opens it. */
  inbox: () => Promise<Inbox> | undefined;
  isClosed: () => boolean;
  ownerCheck: OwnerCheck;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How long the inbox may take to answer. Default 3,000. */
  timeoutMs?: number;
}

type Problems = readonly InboxProblem[];

/**
 * `GET /ready`: 503 while the server is closing, or while the inbox of its background endpoints cannot store or no
 * worker makes progress, else 200. Everyone gets the status; only the owner gets the reasons.
 */
export class ReadyRoute {
  readonly #options: ReadyRouteOptions;
  readonly #inboxProblems: CachedRead<Problems>;

  constructor({ timeoutMs = 3_000, ...options }: ReadyRouteOptions) {
    this.#options = options;
    const fallback = [unavailable(`The inbox did not answer within ${timeoutMs / 1000} s. ${remedy}`)];
    this.#inboxProblems = new CachedRead<Problems>({ now: options.now, timeoutMs, fallback });
  }

  /** Adds the route to the app. */
  mount(app: Hono): void {
    app.get("/ready", async (context) => {
      const problems = await this.#problems();
      const status = statusOf(problems);
      const isOwner = this.#options.ownerCheck.refuse(context) === undefined;
      const reasons = problems.map(({ code, message }) => ({ code, message }));
      return context.json(isOwner ? { status, problems: reasons } : { status }, status === "unavailable" ? 503 : 200, {
        "cache-control": "no-store",
      });
    });
  }

  async #problems(): Promise<Problems> {
    const { isClosed, needsInbox, inbox } = this.#options;
    if (isClosed()) return [unavailable("The server is closed or shutting down.", "CLOSING")];
    if (!needsInbox()) return [];
    const opened = inbox();
    if (!opened) return [unavailable("The inbox is not open yet. launch() or ready() opens it.")];
    return this.#inboxProblems.get(opened, readProblems);
  }
}

const remedy = "Check that its file or server is available.";

/** `degraded`: deliveries are stored and run, but something needs attention. */
function statusOf(problems: Problems): "ok" | "degraded" | "unavailable" {
  if (problems.some(({ severity }) => severity === "unavailable")) return "unavailable";
  return problems.length > 0 ? "degraded" : "ok";
}

async function readProblems(inbox: Promise<Inbox>): Promise<Problems> {
  try {
    return await (await inbox).problems();
  } catch (error) {
    // Messages of a driver may contain secrets.
    if (WebhookError.isInstance(error)) return [unavailable(error.message, error.code)];
    return [unavailable(`The inbox did not report its state. ${remedy}`)];
  }
}

function unavailable(message: string, code = "INBOX_UNAVAILABLE"): InboxProblem {
  return { code, severity: "unavailable", message };
}
