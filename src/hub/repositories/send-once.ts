import { HubError } from "../../core/errors.ts";
import type { Transport } from "../transport/transport.ts";

/** A request that the Hub must not process twice. */
export interface OneTimeRequest<Answer> {
  /** Sends the request, without retries after which the Hub could process the request twice. */
  send: () => Promise<Answer>;
  /** Looks for the result of the request on the Hub. Returns `undefined` if the Hub has not processed the request. */
  find: () => Promise<Answer | undefined>;
  signal: AbortSignal | undefined;
}

/**
 * Sends a request. If no answer arrives, looks for the result before the request is sent again, because the Hub may have processed
 * the request.
 *
 * @throws the error of the last attempt.
 */
export async function sendOnce<Answer>(
  transport: Transport,
  { send, find, signal }: OneTimeRequest<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (!isAnswerLost(error)) throw error;
      const isRepeated = await transport.waitToRepeat(error, { attempt, signal });
      const answer = await find();
      if (answer !== undefined) return answer;
      if (!isRepeated) throw error;
    }
  }
}

function isAnswerLost(error: unknown): error is HubError {
  return HubError.isInstance(error) && ["HUB_TIMED_OUT", "HUB_UNREACHABLE", "HUB_FAILED"].includes(error.code);
}
