import { directFetch } from "../core/fetch.ts";
import { readResponseStart, systemCode, type TunnelClock } from "./provider.ts";

const checkTimeoutMs = 10_000;

/**
 * A request that only the server behind the tunnel can answer. The server serves `answer` as `text/plain` at `path`, so
 * a page of the tunnel provider does not pass the check.
 */
export interface ReachabilityCheck {
  /** An unguessable path, such as `/_hub-webhooks/reachability/6f1c…`. */
  readonly path: string;
  /** Another unguessable text. */
  readonly answer: string;
}

export function createReachabilityCheck(): ReachabilityCheck {
  return { path: `/_hub-webhooks/reachability/${randomText()}`, answer: randomText() };
}

export const reachabilityHeaders = { "content-type": "text/plain", "cache-control": "no-store" } as const;

/**
 * `url`: the path with its query, as in Node. The check of a `dev` session also proves to other processes that the session
 * is alive (see `alive` of `RegistrationSession`).
 */
export function isReachabilityRequest(
  { path }: ReachabilityCheck,
  { method, url }: { method?: string | undefined; url?: string | undefined },
): boolean {
  return method === "GET" && url === path;
}

/** Answers the request of a reachability check. Returns `undefined` for every other request. */
export function answerReachabilityCheck(reachabilityCheck: ReachabilityCheck, request: Request): Response | undefined {
  const { method } = request;
  const { pathname, search } = new URL(request.url);
  if (!isReachabilityRequest(reachabilityCheck, { method, url: `${pathname}${search}` })) return undefined;
  return new Response(reachabilityCheck.answer, { headers: reachabilityHeaders });
}

/**
 * Requests a public URL over a new connection and checks that it points to the server. Without a `reachabilityCheck`, any
 * status below 500 passes. Returns a sentence that describes the problem, without text of the response.
 */
export async function checkPublicUrl(
  url: string,
  {
    reachabilityCheck,
    signal,
    clock,
  }: { reachabilityCheck: ReachabilityCheck | undefined; signal: AbortSignal; clock: TunnelClock },
): Promise<string | undefined> {
  const deadline = clock.deadline(checkTimeoutMs);
  try {
    const response = await directFetch(`${url}${reachabilityCheck?.path ?? "/"}`, {
      method: reachabilityCheck ? "GET" : "HEAD",
      signal: AbortSignal.any([signal, deadline]),
      redirect: "manual",
      headers: {
        // An existing connection can outlive a tunnel that accepts no new connections.
        connection: "close",
        "accept-encoding": "identity",
        "cache-control": "no-cache",
        // Some providers show an interstitial page to browsers.
        "bypass-tunnel-reminder": "1",
        "ngrok-skip-browser-warning": "1",
      },
    });
    return await findFault(response, { url, reachabilityCheck });
  } catch (error) {
    return deadline.aborted || signal.aborted
      ? `${url} did not answer in time.`
      : `${url} is not reachable${systemCode(error)}.`;
  }
}

async function findFault(
  response: Response,
  { url, reachabilityCheck }: { url: string; reachabilityCheck: ReachabilityCheck | undefined },
): Promise<string | undefined> {
  const { status } = response;
  if (reachabilityCheck === undefined) {
    return status < 500 ? undefined : `${url} returned status ${status}.`;
  }
  if (status === 200) {
    const { answer } = reachabilityCheck;
    return (await readResponseStart(response, answer.length)) === answer
      ? undefined
      : `${url} returned a response that is not from this server.`;
  }
  await response.body?.cancel().catch(() => {}); // Ignore a reset connection, because only the status matters.
  return status >= 300 && status < 400
    ? `${url} redirected (status ${status}). Redirects are not followed.`
    : `${url} returned status ${status} instead of the expected response of this server.`;
}

function randomText(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
