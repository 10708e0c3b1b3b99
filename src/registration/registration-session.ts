import { isLoopbackHost } from "../core/loopback.ts";
import { optionError } from "../core/option-error.ts";
import type { RegistrationSession } from "./registration-file.ts";

/** The timeout of the request that checks whether a session on this machine is running, in milliseconds. */
const aliveTimeoutMs = 5_000;

/**
 * Validates a session before it is recorded.
 *
 * @throws `OPTION_INVALID` if `alive.url` is not on this machine.
 */
export function validateSession({ id, alive }: RegistrationSession): RegistrationSession {
  if (id !== "" && alive.answer !== "" && isOnThisMachine(alive.url)) return { id, alive };
  throw optionError(
    'The session is invalid. Set "id", and set "alive" to a URL on this machine and the expected response, such as { url: "http://127.0.0.1:7860/alive", answer: "…" }.',
  );
}

/**
 * Whether a session is still running. The URL of the session must return an unguessable answer, because another process
 * could use the same port.
 */
export async function isRunning({ alive: { url, answer } }: RegistrationSession): Promise<boolean> {
  // Never send requests to other machines, because another user may have written the state file.
  if (!isOnThisMachine(url)) return false;
  const signal = AbortSignal.timeout(aliveTimeoutMs);
  try {
    const response = await fetch(url, { redirect: "manual", signal });
    return response.ok && (await hasBody(response, answer));
  } catch {
    return false;
  }
}

/** Whether a body consists of this text. Reads no more than necessary. */
async function hasBody({ body }: Response, text: string): Promise<boolean> {
  const expected = Buffer.from(text);
  let read = Buffer.alloc(0);
  for await (const chunk of body ?? []) {
    read = Buffer.concat([read, chunk]);
    if (read.length > expected.length) return false;
  }
  return read.equals(expected);
}

function isOnThisMachine(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && url.protocol === "http:" && isLoopbackHost(url.hostname);
}
