import { BlockList, isIPv4 } from "node:net";
import { isPort, optionError } from "../core/option-error.ts";
import { tunnelFailure } from "./provider.ts";
import { systemCode } from "./system-code.ts";

const defaultHost = "https://localtunnel.me";
/** A registration is about 150 bytes. */
const longestAnswer = 65_536;
/** The number a localtunnel server offers unless it was configured otherwise. */
const mostConnections = 10;

/** Whether something is a name that localtunnel's servers take: 4 to 63 lower-case letters, digits and hyphens. */
export function isSubdomain(name: unknown): name is string {
  return typeof name === "string" && /^[a-z0-9][a-z0-9-]{2,61}[a-z0-9]$/.test(name);
}

/** A tunnel that a localtunnel server has set aside for us. */
export interface Registration {
  /** The public origin. */
  url: string;
  /** The name that gets this URL again, when the server has given one that can be asked for. */
  name: string | undefined;
  /** Where the server waits for our connections. */
  remoteHost: string;
  remotePort: number;
  /** How many connections to keep open, 1 to 10. */
  connections: number;
}

/**
 * Finds the localtunnel server's origin: the option, `LOCALTUNNEL_HOST` or `https://localtunnel.me`.
 *
 * @throws `OPTION_INVALID` when it is no http(s) address.
 */
export function localtunnelOrigin(host: string | undefined): string {
  const address = host ?? (process.env.LOCALTUNNEL_HOST || defaultHost);
  const origin = httpOrigin(address);
  if (origin !== undefined) return origin;
  throw optionError(
    `The address of the tunnel's server (LOCALTUNNEL_HOST, --tunnel-host for dev, or "host" in code) is not usable: give one such as ${defaultHost}.`,
  );
}

/**
 * Asks a localtunnel server for a tunnel and checks its answer, which comes from a stranger.
 *
 * This is the one request that makes a tunnel, so it is also the check whether the server works: a second request
 * beforehand would either set a tunnel aside for nobody or ask a page that says nothing about tunnels.
 *
 * @throws `TUNNEL_FAILED` with what is wrong with the server or its answer.
 * @example
 * ```ts
 * const { url } = await registerLocaltunnel("https://localtunnel.me", { subdomain: "my-bot", signal });
 * ```
 */
export async function registerLocaltunnel(
  origin: string,
  options: { subdomain: string | undefined; signal: AbortSignal },
): Promise<Registration> {
  const response = await askServer(origin, options);
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => {}); // It may have been reset by now: the status is what counts.
    const redirected = response.status >= 300 && response.status < 400;
    throw tunnelFailure(
      redirected
        ? `${origin} sends us elsewhere (status ${response.status}), which is not followed.`
        : `${origin} answers with status ${response.status}.`,
    );
  }
  return checkRegistration(parseAnswer(await readAnswer(response, origin), origin), origin);
}

async function askServer(
  origin: string,
  { subdomain, signal }: { subdomain: string | undefined; signal: AbortSignal },
): Promise<Response> {
  try {
    // Redirects are not followed: a server could lead us into the private network.
    return await fetch(`${origin}/${subdomain ?? "?new"}`, { signal, redirect: "manual" });
  } catch (error) {
    throw tunnelFailure(`${origin} cannot be reached${systemCode(error)}.`);
  }
}

async function readAnswer(response: Response, origin: string): Promise<string> {
  const decoder = new TextDecoder();
  let answer = "";
  try {
    for await (const chunk of response.body ?? []) {
      answer += decoder.decode(chunk, { stream: true });
      if (answer.length > longestAnswer) break;
    }
  } catch (error) {
    throw tunnelFailure(`${origin} breaks off in the middle of its answer${systemCode(error)}.`);
  }
  if (answer.length > longestAnswer) throw tunnelFailure(`${origin} answers at a length that no tunnel server needs.`);
  return answer;
}

function parseAnswer(answer: string, origin: string): object {
  try {
    const parsed: unknown = JSON.parse(answer);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch {
    // Told below, without the parser's message: it quotes the answer.
  }
  const what = answer.trimStart().startsWith("<") ? "a web page (HTML)" : "something else";
  throw tunnelFailure(
    `${origin} answers with ${what} instead of a tunnel in JSON: it is no tunnel server, or a proxy stands before it.`,
  );
}

function checkRegistration(answer: object, origin: string): Registration {
  const url = "url" in answer && typeof answer.url === "string" ? httpOrigin(answer.url) : undefined;
  if (url === undefined) throw tunnelFailure(`${origin} gives a tunnel without a usable http(s) URL.`);

  const port = "port" in answer ? answer.port : undefined;
  if (!isPositiveInteger(port) || !isPort(port)) throw tunnelFailure(`${origin} gives a tunnel without a usable port.`);

  const connections = "max_conn_count" in answer ? answer.max_conn_count : undefined;
  return {
    url,
    name: givenName(answer, url),
    remoteHost: publicAddress("ip" in answer ? answer.ip : undefined) ?? hostname(origin),
    remotePort: port,
    connections: isPositiveInteger(connections) ? Math.min(connections, mostConnections) : 1,
  };
}

/** The name becomes a part of the next request, so it has to be one: a server could send "../admin". */
function givenName(answer: object, url: string): string | undefined {
  const [label] = new URL(url).hostname.split(".");
  return ["id" in answer ? answer.id : undefined, label].find(isSubdomain);
}

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 3],
] as const) {
  privateAddresses.addSubnet(network, prefix);
}

/** A server may name the address behind its load balancer; one that names our own network wants a way into it. */
function publicAddress(address: unknown): string | undefined {
  return typeof address === "string" && isIPv4(address) && !privateAddresses.check(address) ? address : undefined;
}

function hostname(origin: string): string {
  return new URL(origin).hostname.replace(/^\[|\]$/g, ""); // An IPv6 address stands in brackets in a URL, not elsewhere.
}

/** The origin alone: a user name, path or query is of no use here and could carry a secret into a message. */
function httpOrigin(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.length > 253) return undefined;
  return url.origin;
}

function isPositiveInteger(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
