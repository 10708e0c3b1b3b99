import { type ChildProcess, fork } from "node:child_process";
import { BlockList, isIPv4 } from "node:net";
import type { WebhookError } from "../core/errors.ts";
import { directFetch } from "../core/fetch.ts";
import { programUrl } from "../core/files.ts";
import { isPort, optionError } from "../core/options.ts";
import type { LocaltunnelConfig, LocaltunnelReport } from "./localtunnel-process.ts";
import { type ProviderRequest, type ProviderTunnel, systemCode, tunnelFailure } from "./provider.ts";

/**
 * The time without any connection after which the tunnel counts as lost. A busy tunnel can have no connection for a
 * moment.
 */
const lossTimeoutMs = 5_000;

/**
 * Opens a tunnel with the `localtunnel` package, in a child process that can be stopped at any time.
 *
 * @throws `TUNNEL_FAILED` with the reason; `OPTION_INVALID` if `request.host` is not an http or https URL.
 */
export async function openLocaltunnel(request: ProviderRequest): Promise<ProviderTunnel> {
  const { port, subdomain, signal } = request;
  const origin = findServerOrigin(request.host);
  const child = startProcess();
  const exited = waitForExit(child);
  let phase: "opening" | "open" | "closed" = "opening";
  let timeoutReason = "The tunnel process did not start in time.";
  let assigned: AssignedTunnel | undefined;
  const lost = new AbortController();

  function close(): Promise<void> {
    phase = "closed";
    child.kill("SIGKILL"); // The process has no state to save, and a process cannot delay SIGKILL.
    return exited;
  }

  return new Promise((resolve, reject) => {
    function fail(error: WebhookError): void {
      if (phase === "open") lost.abort(error);
      else if (phase === "opening") close().then(() => reject(error));
    }

    async function connect(): Promise<void> {
      timeoutReason = `${origin} did not answer in time.`;
      assigned = await requestTunnel(origin, { subdomain, signal });
      const { remoteHost, remotePort, connections } = assigned;
      timeoutReason = `${origin} assigned a tunnel, but port ${remotePort} did not answer in time. Check that no firewall blocks the port.`;
      const config: LocaltunnelConfig = {
        remoteHost,
        remotePort,
        localPort: port,
        connections,
        timeoutMs: lossTimeoutMs,
      };
      child.send(config);
    }

    const reactions: Record<LocaltunnelReport, () => void> = {
      // Do not request the tunnel earlier, because a server revokes a tunnel without a connection after one second.
      ready: () => connect().catch(fail),
      connected() {
        if (phase !== "opening" || assigned === undefined) return;
        phase = "open";
        resolve({ url: assigned.url, name: assigned.name, lost: lost.signal, close });
      },
      refused: () =>
        fail(tunnelFailure(`${origin} refused connections to port ${assigned?.remotePort}, which it had assigned.`)),
      lost() {
        if (phase === "open") fail(tunnelFailure(`The tunnel lost its connections to ${origin}.`));
      },
    };
    child.on("message", (report) => {
      if (isKeyOf(reactions, report)) reactions[report]();
    });
    exited.then(() => fail(tunnelFailure("The tunnel process exited.")));
    signal.addEventListener("abort", () => phase === "opening" && fail(tunnelFailure(timeoutReason)), { once: true });
  });
}

/**
 * Starts the process. The package is old and the tunnel server is not trusted, so the process has no environment
 * variables, which can contain tokens, and no terminal, which interprets escape codes.
 */
function startProcess(): ChildProcess {
  const file = programUrl("localtunnel-process", import.meta.url);
  return fork(file, { env: {}, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
}

function waitForExit(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    // Never remove this listener. Sending a message to a child that just exited also emits an error, which would crash
    // this process.
    child.on("error", () => {
      if (child.pid === undefined) resolve(); // The process failed to start.
    });
  });
}

function isKeyOf<Key extends string>(record: Record<Key, unknown>, value: unknown): value is Key {
  return typeof value === "string" && Object.hasOwn(record, value);
}

const defaultHost = "https://localtunnel.me";
/** The maximum length of a response in characters. A response that assigns a tunnel has about 150. */
const maxResponseLength = 65_536;
/** The maximum number of connections. Tunnel servers have the same default. */
const maxConnections = 10;

/** Whether localtunnel servers accept a name: 4 to 63 lowercase letters, digits, and hyphens. */
export function isSubdomain(name: unknown): name is string {
  return typeof name === "string" && /^[a-z0-9][a-z0-9-]{2,61}[a-z0-9]$/.test(name);
}

/** A tunnel that a localtunnel server assigned. */
export interface AssignedTunnel {
  /** The public origin. */
  url: string;
  /** Request this name to get the same URL again. `undefined` if the server did not send a valid name. */
  name: string | undefined;
  /** The host and port to which the tunnel connects. */
  remoteHost: string;
  remotePort: number;
  /** The number of connections to keep open, 1 to 10. */
  connections: number;
}

/**
 * Requests a tunnel from a localtunnel server and validates the response, which is not trusted.
 *
 * Makes no other requests: a separate health check would reserve an unused tunnel or fetch an unrelated page.
 *
 * @throws `TUNNEL_FAILED` with the reason.
 * @example
 * ```ts
 * const { url } = await requestTunnel("https://localtunnel.me", { subdomain: "my-bot", signal });
 * ```
 */
export async function requestTunnel(
  origin: string,
  { subdomain, signal }: { subdomain: string | undefined; signal: AbortSignal },
): Promise<AssignedTunnel> {
  // Do not follow redirects, because a server could redirect to the private network.
  const response = await directFetch(`${origin}/${subdomain ?? "?new"}`, { signal, redirect: "manual" }).catch(
    (error: unknown) => {
      throw tunnelFailure(`${origin} is not reachable${systemCode(error)}.`);
    },
  );
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => {}); // Ignore a reset connection, because only the status matters.
    const isRedirect = response.status >= 300 && response.status < 400;
    throw tunnelFailure(
      isRedirect
        ? `${origin} redirected (status ${response.status}). Redirects are not followed.`
        : `${origin} returned status ${response.status}.`,
    );
  }
  return readAssignedTunnel(parseObject(await readText(response, origin), origin), origin);
}

/**
 * Returns the origin of the localtunnel server: `host`, `LOCALTUNNEL_HOST`, or `https://localtunnel.me`, in this order
 * of precedence.
 *
 * @throws `OPTION_INVALID` if the configured value is not an http or https URL.
 */
function findServerOrigin(host: string | undefined): string {
  const address = host ?? (process.env.LOCALTUNNEL_HOST || defaultHost);
  const origin = httpOrigin(address);
  if (origin !== undefined) return origin;
  throw optionError(
    `The URL of the tunnel server (LOCALTUNNEL_HOST, --tunnel-host for dev, or "host" in code) is invalid. Use an http or https URL such as ${defaultHost}.`,
  );
}

async function readText(response: Response, origin: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxResponseLength) break;
    }
  } catch (error) {
    throw tunnelFailure(`${origin} closed the connection before the end of its response${systemCode(error)}.`);
  }
  if (text.length > maxResponseLength) throw tunnelFailure(`${origin} sent a response of more than 64 KiB.`);
  return text;
}

function parseObject(text: string, origin: string): object {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch {
    // The error below omits the parser's message, because it quotes the response.
  }
  const content = text.trimStart().startsWith("<") ? "a web page (HTML)" : "an unknown response";
  throw tunnelFailure(
    `${origin} sent ${content} instead of a tunnel in JSON. Either this is not a tunnel server, or a proxy answers instead of the server.`,
  );
}

function readAssignedTunnel(response: object, origin: string): AssignedTunnel {
  const url = "url" in response && typeof response.url === "string" ? httpOrigin(response.url) : undefined;
  if (url === undefined) throw tunnelFailure(`${origin} assigned a tunnel without a valid http or https URL.`);

  const port = "port" in response ? response.port : undefined;
  if (!isPositiveInteger(port) || !isPort(port))
    throw tunnelFailure(`${origin} assigned a tunnel without a valid port.`);

  const connections = "max_conn_count" in response ? response.max_conn_count : undefined;
  return {
    url,
    name: findName(response, url),
    remoteHost: publicAddress("ip" in response ? response.ip : undefined) ?? hostnameOf(origin),
    remotePort: port,
    connections: isPositiveInteger(connections) ? Math.min(connections, maxConnections) : 1,
  };
}

/**
 * Returns the name that the server assigned, or `undefined` if the name is not a valid subdomain. The check is required
 * because the name becomes part of the next request, and a server could send "../admin".
 */
function findName(response: object, url: string): string | undefined {
  const [label] = new URL(url).hostname.split(".");
  return ["id" in response ? response.id : undefined, label].find(isSubdomain);
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

/**
 * Returns an address unless the address is private. A server can send an address other than its own, for example if it
 * runs behind a load balancer. Connecting to a private address would give the server access to the local network.
 */
function publicAddress(address: unknown): string | undefined {
  return typeof address === "string" && isIPv4(address) && !privateAddresses.check(address) ? address : undefined;
}

function hostnameOf(origin: string): string {
  return new URL(origin).hostname.replace(/^\[|\]$/g, ""); // Sockets do not accept the brackets of IPv6 addresses in URLs.
}

/** Returns only the origin of a URL, because a username, path, or query could leak a secret into a message. */
function httpOrigin(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.length > 253) return undefined;
  return url.origin;
}

function isPositiveInteger(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
