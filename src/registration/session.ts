import { isLoopbackHost } from "../core/loopback.ts";
import { optionError } from "../core/option-error.ts";
import type { RegistrationSession } from "./state.ts";

/** A process on this machine that lives answers at once. */
const longestAnswerMs = 5_000;

/**
 * Checks a session before anything is noted of it.
 *
 * @throws `OPTION_INVALID` when it is asked elsewhere than on this machine whether it is alive.
 */
export function checkSession({ id, alive }: RegistrationSession): RegistrationSession {
  if (id !== "" && alive.answer !== "" && isOnThisMachine(alive.url)) return { id, alive };
  throw optionError(
    'The session needs an id, and "alive" an http address on this machine with what that answers, such as { url: "http://127.0.0.1:7860/alive", answer: "…" }.',
  );
}

/**
 * Whether a session still runs. It is asked, by an address and for an answer that nobody else has: a process id may be
 * that of another process by now, and so may a port.
 */
export async function isAlive({ alive: { url, answer } }: RegistrationSession): Promise<boolean> {
  // The file may be somebody else's: nothing but this machine is asked on its behalf.
  if (!isOnThisMachine(url)) return false;
  const signal = AbortSignal.timeout(longestAnswerMs);
  try {
    const response = await fetch(url, { redirect: "manual", signal });
    return response.ok && (await answersWith(response, answer));
  } catch {
    return false;
  }
}

/** Reads no more than it takes to know. */
async function answersWith({ body }: Response, answer: string): Promise<boolean> {
  const wanted = Buffer.from(answer);
  let read = Buffer.alloc(0);
  for await (const part of body ?? []) {
    read = Buffer.concat([read, part]);
    if (read.length > wanted.length) return false;
  }
  return read.equals(wanted);
}

function isOnThisMachine(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && url.protocol === "http:" && isLoopbackHost(url.hostname);
}
