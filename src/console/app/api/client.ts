import type { ApiError } from "../../protocol/session.ts";
import { session } from "../state/session.ts";
import { ApiFailure, toApiFailure } from "./failure.ts";

/** The values of a query. `undefined` and `""` are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** Returns the URL of an API resource. It is relative to the document, so that any proxy prefix works. */
export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL(`api/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/**
 * Reads a resource of the API.
 *
 * @throws `ApiFailure`
 */
export async function getJson<Answer>(
  path: string,
  { query, signal }: { query?: Query; signal?: AbortSignal } = {},
): Promise<Answer> {
  return await request(apiUrl(path, query), { signal: signal ?? null });
}

/**
 * Sends a change to the API.
 *
 * @throws `ApiFailure`
 */
export async function sendJson<Answer>(
  path: string,
  body: unknown,
  { method = "POST" }: { method?: "POST" | "DELETE" } = {},
): Promise<Answer> {
  const csrfToken = session.value?.signedIn ? session.value.csrfToken : undefined;
  return await request(apiUrl(path), {
    method,
    headers: { "content-type": "application/json", ...(csrfToken !== undefined && { "x-csrf-token": csrfToken }) },
    body: JSON.stringify(body),
  });
}

async function request<Answer>(url: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, init);
    if (!response.ok) throw await toFailure(response);
    const answer: Answer = await response.json();
    return answer;
  } catch (error) {
    // An aborted request is not a failure of the server.
    if (init.signal?.aborted) throw error;
    throw toApiFailure(error);
  }
}

/** Reads the error of a response. A session that has ended shows the sign-in page. */
export async function toFailure(response: Response): Promise<ApiFailure> {
  const answer: Partial<ApiError> = await response.json().catch(() => ({}));
  if (answer.code === "SIGN_IN_REQUIRED" && session.value?.signedIn) {
    session.value = { signedIn: false, place: session.value.place, methods: undefined };
  }
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiFailure(answer.error ?? `The server answered with status ${response.status}.`, {
    status: response.status,
    code: answer.code ?? `STATUS_${response.status}`,
    fields: answer.fields ?? [],
    ...(Number.isFinite(retryAfter) && { retryAfterS: retryAfter }),
  });
}
