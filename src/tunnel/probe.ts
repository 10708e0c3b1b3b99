import type { TunnelClock } from "./clock.ts";
import { systemCode } from "./system-code.ts";

/** After how many milliseconds a public URL that stays silent counts as one that does not answer. */
const longestProbe = 10_000;

/**
 * A question that only the server behind the tunnel can answer. Whoever listens on the tunnel's port serves `answer` as
 * `text/plain` at `path`: a page of the tunnel's own service then never passes for the server.
 */
export interface Probe {
  /** Such as `/_hub-webhooks/probe/6f1c…`. Nobody can guess it. */
  readonly path: string;
  /** Another text that nobody can guess. */
  readonly answer: string;
}

/**
 * Makes a {@link Probe}, another one each time.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 *
 * const probe = createProbe();
 * createServer((request, response) => {
 *   if (request.url === probe.path) response.setHeader("content-type", "text/plain").end(probe.answer);
 *   else response.writeHead(404).end();
 * }).listen(7860);
 * await using tunnel = await openTunnel({ port: 7860, probe });
 * ```
 */
export function createProbe(): Probe {
  return { path: `/_hub-webhooks/probe/${randomText()}`, answer: randomText() };
}

/** Answers a request when it asks for the probe, and is `undefined` for every other one. */
export function answerProbe(probe: Probe, request: Request): Response | undefined {
  if (new URL(request.url).pathname !== probe.path) return undefined;
  return new Response(probe.answer, { headers: { "content-type": "text/plain", "cache-control": "no-store" } });
}

/** What {@link checkPublicUrl} needs besides the URL. */
export interface CheckOptions {
  /** What to ask. Without one, any answer with a status below 500 will do. */
  probe: Probe | undefined;
  /** Ends the check early. */
  signal: AbortSignal;
  clock: TunnelClock;
}

/**
 * Asks a public URL, over a connection of its own, whether it leads to the server.
 *
 * @returns `undefined` when it does, or a sentence that says what is wrong. It holds no text of the answer.
 */
export async function checkPublicUrl(url: string, { probe, signal, clock }: CheckOptions): Promise<string | undefined> {
  const tooLate = clock.deadline(longestProbe);
  try {
    const response = await fetch(`${url}${probe?.path ?? "/"}`, {
      method: probe ? "GET" : "HEAD",
      signal: AbortSignal.any([signal, tooLate]),
      redirect: "manual",
      headers: {
        // A connection that stands already may outlive a tunnel that takes no new ones.
        connection: "close",
        "accept-encoding": "identity",
        "cache-control": "no-cache",
        // These services show a browser a page of their own first.
        "bypass-tunnel-reminder": "1",
        "ngrok-skip-browser-warning": "1",
      },
    });
    return await faultOf(response, { url, probe });
  } catch (error) {
    return tooLate.aborted || signal.aborted
      ? `${url} does not answer in time.`
      : `${url} cannot be reached${systemCode(error)}.`;
  }
}

async function faultOf(
  response: Response,
  { url, probe }: { url: string; probe: Probe | undefined },
): Promise<string | undefined> {
  const { status } = response;
  if (probe === undefined) {
    return status < 500 ? undefined : `${url} answers with status ${status}.`;
  }
  if (status === 200) {
    const isAnswer = await hasText(response, probe.answer);
    return isAnswer ? undefined : `${url} answers with something else than this server.`;
  }
  await response.body?.cancel().catch(() => {}); // It may have been reset by now: the status is what counts.
  return status >= 300 && status < 400
    ? `${url} sends us elsewhere (status ${status}), which is not followed.`
    : `${url} answers with status ${status} instead of this server's answer.`;
}

/** Reads no more than it takes to tell: the answer may be a stranger's and never end. */
async function hasText(response: Response, text: string): Promise<boolean> {
  const decoder = new TextDecoder();
  let read = "";
  for await (const chunk of response.body ?? []) {
    read += decoder.decode(chunk, { stream: true });
    if (read.length > text.length) break;
  }
  return read === text;
}

function randomText(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
