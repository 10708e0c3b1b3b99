import { type ChildProcess, fork } from "node:child_process";
import { BlockList, isIPv4 } from "node:net";
import type { WebhookError } from "../core/errors.ts";
import { directFetch } from "../core/fetch.ts";
import { programUrl } from "../core/files.ts";
import { isPort, optionError } from "../core/options.ts";
import { readJson } from "../core/text.ts";
import type { LocaltunnelConfig } from "./localtunnel-process.ts";
import {
  type ProviderRequest,
  type ProviderTunnel,
  readResponseStart,
  systemCode,
  tunnelFailure,
  waitForExit,
} from "./provider.ts";

/** Without a connection for this time, the tunnel is lost. A busy tunnel can have none for a moment. */
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
  let assigned: ReturnType<typeof readAssignedTunnel> | undefined;
  const lost = new AbortController();

  async function close(): Promise<void> {
    phase = "closed";
    child.kill("SIGKILL"); // The process has no state to save, and a process cannot delay SIGKILL.
    await exited;
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
      const config = { remoteHost, remotePort, localPort: port, connections, timeoutMs: lossTimeoutMs };
      child.send(config satisfies LocaltunnelConfig);
    }

    child.on("message", (report) => {
      // Do not request the tunnel earlier, because a server revokes a tunnel without a connection after one second.
      if (report === "ready") connect().catch(fail);
      if (report === "connected" && phase === "opening" && assigned) {
        phase = "open";
        resolve({ url: assigned.url, name: assigned.name, lost: lost.signal, close });
      }
      if (report === "refused")
        fail(tunnelFailure(`${origin} refused connections to port ${assigned?.remotePort}, which it had assigned.`));
      if (report === "lost" && phase === "open") fail(tunnelFailure(`The tunnel lost its connections to ${origin}.`));
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

const defaultHost = "https://localtunnel.me";
/** A response that assigns a tunnel has about 150 characters. */
const maxResponseLength = 65_536;
/** Tunnel servers have the same default. */
const maxConnections = 10;

/** Whether localtunnel servers accept a name. */
export function isSubdomain(name: unknown): name is string {
  return typeof name === "string" && /^[a-z0-9][a-z0-9-]{2,61}[a-z0-9]$/.test(name);
}

/**
 * Requests a tunnel from a localtunnel server and validates the response, which is not trusted. Makes no other requests: a
 * health check would reserve an unused tunnel or fetch an unrelated page.
 *
 * @throws `TUNNEL_FAILED` with the reason.
 */
export async function requestTunnel(
  origin: string,
  { subdomain, signal }: Pick<ProviderRequest, "subdomain" | "signal">,
) {
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
  return readAssignedTunnel(await readObject(response, origin), origin);
}

/** @throws `OPTION_INVALID` if the configured value is not an http or https URL. */
function findServerOrigin(host: string | undefined): string {
  const address = host ?? (process.env.LOCALTUNNEL_HOST || defaultHost);
  const origin = httpOrigin(address);
  if (origin !== undefined) return origin;
  throw optionError(
    `The URL of the tunnel server (LOCALTUNNEL_HOST, --tunnel-host for dev, or "host" in code) is invalid. Use an http or https URL such as ${defaultHost}.`,
  );
}

async function readObject(response: Response, origin: string): Promise<Record<string, unknown>> {
  const text = await readResponseStart(response, maxResponseLength).catch((error: unknown) => {
    throw tunnelFailure(`${origin} closed the connection before the end of its response${systemCode(error)}.`);
  });
  if (text.length > maxResponseLength) throw tunnelFailure(`${origin} sent a response of more than 64 KiB.`);
  const parsed = readJson(text);
  if (typeof parsed === "object" && parsed !== null) return { ...parsed };
  const content = text.trimStart().startsWith("<") ? "a web page (HTML)" : "an unknown response";
  throw tunnelFailure(
    `${origin} sent ${content} instead of a tunnel in JSON. Either this is not a tunnel server, or a proxy answers instead of the server.`,
  );
}

function readAssignedTunnel(response: Record<string, unknown>, origin: string) {
  const { url: address, port, ip, id, max_conn_count: connections } = response;
  const url = typeof address === "string" ? httpOrigin(address) : undefined;
  if (url === undefined) throw tunnelFailure(`${origin} assigned a tunnel without a valid http or https URL.`);
  if (!isPositiveInteger(port) || !isPort(port))
    throw tunnelFailure(`${origin} assigned a tunnel without a valid port.`);
  const [label] = new URL(url).hostname.split(".");
  return {
    url,
    // The name becomes part of the next request for the same URL, and a server could send "../admin".
    name: [id, label].find(isSubdomain),
    // Sockets do not accept the brackets of IPv6 addresses in URLs.
    remoteHost: publicAddress(ip) ?? new URL(origin).hostname.replace(/^\[|\]$/g, ""),
    remotePort: port,
    connections: isPositiveInteger(connections) ? Math.min(connections, maxConnections) : 1,
  };
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
 * Returns an address that is not private. A server can send another address than its own, such as behind a load balancer.
 * Connecting to a private address would give the server access to the local network.
 */
function publicAddress(address: unknown): string | undefined {
  return typeof address === "string" && isIPv4(address) && !privateAddresses.check(address) ? address : undefined;
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
