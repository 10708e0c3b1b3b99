import { describeError } from "../core/describe.ts";
import { directFetch } from "../core/fetch.ts";
import { NonRetriableError, RetryAfterError } from "../receiver/handler.ts";
import { WebhooksServer } from "../receiver/server.ts";
import { readResponseStart } from "../tunnel/provider.ts";
import { forwardVariable } from "./dev-options.ts";

/*
 * The server file of a session with `forward`: it stores each delivery, and passes it on to a program that does not use this package.
 * While the program does not run, deliveries wait.
 */

const target = process.env[forwardVariable] ?? "";
const maxShownChars = 500;
/** As on a local Hub. The rest of a longer answer, which can be endless, is not read. */
const maxReadChars = 64 * 1024;
/** More than a program can be down for. */
const maxAttempts = 1_000_000;
/** The pause between two attempts to reach the program. It starts at 1 second. */
const maxPauseSeconds = 5;

const server = new WebhooksServer();

server.webhook(
  "forward",
  { background: true, attempts: maxAttempts, timeout: "35s" },
  async (_payload, { delivery, signal }) => {
    const response = await send(delivery, signal);
    const text = (await readResponseStart(response, maxReadChars)).slice(0, maxShownChars);
    if (response.ok) return { status: response.status, answer: text };
    throw new NonRetriableError(
      `${target} answered ${response.status}${text === "" ? "" : `: ${text}`}. Fix the program, and replay the delivery.`,
    );
  },
);

async function send(delivery: { id: string; body: string; attempt: number }, signal: AbortSignal): Promise<Response> {
  const secret = process.env.WEBHOOK_SECRET;
  try {
    return await directFetch(target, {
      method: "POST",
      // As on the Hub, which does not follow redirects.
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "webhook-id": delivery.id,
        ...(secret && { "x-webhook-secret": secret }),
      },
      body: delivery.body,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    const { message, cause } = describeError(error);
    throw new RetryAfterError(1_000 * Math.min(delivery.attempt, maxPauseSeconds), {
      message: `${target} cannot be reached (${cause?.message ?? message}). The delivery waits until the program runs.`,
      cause: error,
    });
  }
}

export default server;
