import type { Hono } from "hono";
import { WebhookError } from "../core/errors.ts";
import type { Inbox, InboxProblem } from "../inbox/inbox.ts";
import { CachedRead } from "./background.ts";
import type { OwnerCheck } from "./owner.ts";

interface ReadyRouteOptions {
  /** Whether the server has background endpoints. */
  needsInbox: () => boolean;
  /** Returns the inbox if it is open or opening. A check never opens the inbox. */
  inbox: () => Promise<Inbox> | undefined;
  isClosed: () => boolean;
  ownerCheck: OwnerCheck;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How long to wait for the inbox. Default `3000`. */
  timeoutMs?: number;
}

type Problems = readonly InboxProblem[];

/**
 * The route `GET /ready`. Answers 503 while the server is closing, the inbox cannot store deliveries, or no worker makes
 * progress, and 200 otherwise. Every client receives the status, but only the owner receives the reasons.
 */
export class ReadyRoute {
  readonly #options: ReadyRouteOptions;
  readonly #inboxProblems: CachedRead<Problems>;

  constructor({ timeoutMs = 3_000, ...options }: ReadyRouteOptions) {
    this.#options = options;
    const fallback = [unavailable(`The inbox did not respond within ${timeoutMs / 1000} s. ${remedy}`)];
    this.#inboxProblems = new CachedRead<Problems>({ now: options.now, timeoutMs, fallback });
  }

  /** Adds the route to the app. */
  mount(app: Hono): void {
    app.get("/ready", async (context) => {
      const problems = await this.#problems();
      const status = statusOf(problems);
      // A probe must not wait while clients guess the token.
      const isOwner = (await this.#options.ownerCheck.refuse(context, { mayWait: false })) === undefined;
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
