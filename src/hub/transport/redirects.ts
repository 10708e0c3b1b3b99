import { isOnThisMachine } from "../../core/urls.ts";
import type { HubRequest } from "./request.ts";

/** The Hub needs at most two redirects: to the new name of a repository, and to the server that stores the file. */
const maxRedirects = 5;

export interface RedirectedRequest {
  url: string;
  init: HubRequest["init"];
  /** The Hub's base URL. */
  hubUrl: string;
  /** Whether to follow a GET request to other servers too, such as to the storage of a file. */
  leavesHub: boolean;
}

/**
 * Sends a request and follows its redirects: on the Hub, where a repository has another name now, those that keep the method and the body
 * (307 and 308). Sends the token to the Hub only: requests to other servers have no headers except `accept`. Returns the redirect itself if
 * the target is not allowed, or after too many redirects.
 */
export async function followRedirects(
  send: (url: string, init: RequestInit) => Promise<Response>,
  { url, init, hubUrl, leavesHub }: RedirectedRequest,
): Promise<Response> {
  const { method, headers } = init;
  const { accept = "*/*" } = headers;
  let from = url;
  let isOnHub = true;
  for (let count = 0; ; count += 1) {
    const request = isOnHub ? init : { method, headers: { accept } };
    const response = await send(from, request);
    // Browsers hide the target. They follow the redirect themselves, and remove the token for other servers (Fetch standard).
    if (response.type === "opaqueredirect" && method === "GET") return send(from, { ...request, redirect: "follow" });
    const target = targetOf(response, { from, hubUrl, leavesHub });
    if (target === undefined || count === maxRedirects) return response;
    response.body?.cancel().catch(() => {});
    // After another server, the Hub is another server too: that server could choose a path for the token.
    isOnHub &&= target.origin === new URL(hubUrl).origin;
    from = target.href;
  }
}

function targetOf(
  { status, headers }: Response,
  { from, hubUrl, leavesHub }: { from: string; hubUrl: string; leavesHub: boolean },
): URL | undefined {
  const location = [307, 308, ...(leavesHub ? [301, 302, 303] : [])].includes(status) ? headers.get("location") : null;
  const target = location === null ? null : URL.parse(location, from);
  if (target === null || !isAllowed(target, new URL(hubUrl))) return undefined;
  return leavesHub || target.origin === new URL(hubUrl).origin ? target : undefined;
}

/** Whether to send a request to a URL that the Hub chose: not over connections that others can read, and only {@link isWithinReach}. */
export function isAllowed(target: URL, hub: URL): boolean {
  if (target.username !== "" || target.password !== "") return false;
  if (target.origin === hub.origin) return true;
  const isReadable = target.protocol !== "https:" && reachOf(target.hostname) !== "machine";
  return !isReadable && isWithinReach(target, hub);
}

const reaches = ["machine", "network", "internet"] as const;

/**
 * Whether a server may choose the target of a request: a server on the internet must not choose targets in this network, such as the
 * metadata service of a cloud, and a server on another machine must not choose targets on this machine.
 *
 * Names are not resolved. A public name can have a private address, but with HTTPS, only a server with a certificate for the name
 * receives the request.
 */
export function isWithinReach(target: URL, server: URL): boolean {
  return reaches.indexOf(reachOf(target.hostname)) >= reaches.indexOf(reachOf(server.hostname));
}

/** Returns from where a host can be reached. Public servers redirect to names, so every IP address counts as one of this network. */
function reachOf(hostname: string): (typeof reaches)[number] {
  const name = hostname.replace(/\.$/, "");
  if (isOnThisMachine(name)) return "machine";
  const isAddress = name.startsWith("[") || /(?:^|\.)\d+$/.test(name);
  const isPublicName = name.includes(".") && !/\.(?:local|internal|home\.arpa)$/.test(name);
  return isPublicName && !isAddress ? "internet" : "network";
}
