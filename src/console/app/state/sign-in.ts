import { signal } from "@preact/signals";
import type { SessionInfo, SignInRequest } from "../../protocol/session.ts";
import { getJson, sendJson } from "../api/client.ts";
import { type ApiFailure, toApiFailure } from "../api/failure.ts";
import { session } from "./session.ts";

/** Why the session could not be loaded. */
export const sessionFailure = signal<ApiFailure | undefined>(undefined);

/** Loads the session from the server. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await getJson<SessionInfo>("session");
    sessionFailure.value = undefined;
  } catch (error) {
    sessionFailure.value = toApiFailure(error);
  }
}

/**
 * Signs in with a console token or with the code of a one-time link.
 *
 * @throws `ApiFailure` with `SIGN_IN_INVALID` or `TOO_MANY_FAILURES`
 */
export async function signIn(request: SignInRequest): Promise<void> {
  session.value = await sendJson<SessionInfo>("session", request);
}

/** Signs out and shows the sign-in page. */
export async function signOut(): Promise<void> {
  await sendJson<unknown>("session", {}, { method: "DELETE" });
  await loadSession();
}

/** Describes why a sign-in failed. */
export function describeSignInFailure(failure: ApiFailure, { byLink }: { byLink: boolean }): string {
  if (failure.code === "TOO_MANY_FAILURES") {
    const wait = failure.retryAfterS === undefined ? "Wait a minute" : `Wait ${failure.retryAfterS} s`;
    return `Too many failed sign-ins. ${wait}, then try again.`;
  }
  if (failure.code === "SIGN_IN_INVALID") {
    return byLink
      ? "This sign-in link was used already or has expired. Get a new one."
      : "Wrong token. Check the value of CONSOLE_TOKEN on the server.";
  }
  return failure.message;
}
