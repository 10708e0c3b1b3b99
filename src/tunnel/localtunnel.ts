import { type ChildProcess, fork } from "node:child_process";
import { BlockList, isIPv4 } from "node:net";
import { WebhookError } from "../core/errors.ts";
import { isPort, optionError } from "../core/option-error.ts";
import { programUrl } from "../core/package-files.ts";
import type { WorkerConfig, WorkerReport } from "./localtunnel-worker.ts";
import { otherTunnels, type ProviderRequest, type ProviderTunnel, systemCode, tunnelFailure } from "./provider.ts";

const defaultHost = "https://localtunnel.me";
/** A busy tunnel may have no connection for a moment. After this time, it has lost its server. */
const lossTimeoutMs = 5_000;
/** A registration has about 150 bytes. */
const maxResponseLength = 65_536;
/** The default of localtunnel's server. */
const maxConnections = 10;

/**
 * Opens a tunnel with the package `localtunnel`, in a worker process that can be stopped at any time.
 *
 * @throws `TUNNEL_FAILED` with the reason, `OPTION_INVALID` when `request.host` is not an address.
 */
export async function openLocaltunnel(request: ProviderRequest): Promise<ProviderTunnel> {
  const { port, subdomain, signal } = request;
  const origin = findOrigin(request.host);
  const worker = startWorker();
  const exited = waitForExit(worker);
  let phase: "opening" | "open" | "closed" = "opening";
  let timeoutReason = "The tunnel's worker process did not start in time.";
  let registration: Registration | undefined;
  const lost = new AbortController();

  function close(): Promise<void> {
    phase = "closed";
    worker.kill("SIGKILL"); // It has no state to save, and nothing in it can delay SIGKILL.
    return exited;
  }

  return new Promise((resolve, reject) => {
    function fail(error: WebhookError): void {
      if (phase === "open") lost.abort(error);
      else if (phase === "opening") close().then(() => reject(error));
    }

    async function register(): Promise<void> {
      timeoutReason = `${origin} did not answer in time.`;
      registration = await registerTunnel(origin, { subdomain, signal });
      if (phase === "closed") return;
      const { remoteHost, remotePort, connections } = registration;
      timeoutReason = `${origin} assigned a tunnel, but its port ${remotePort} did not answer in time: a firewall may block it.`;
      const config: WorkerConfig = { remoteHost, remotePort, localPort: port, connections, timeoutMs: lossTimeoutMs };
      worker.send(config);
    }

    const reactions: Record<WorkerReport, () => void> = {
      missing: () => fail(packageMissing()),
      // Not earlier: a server revokes a tunnel to which nothing connects within a second.
      ready: () => register().catch(fail),
      connected() {
        if (phase !== "opening" || registration === undefined) return;
        phase = "open";
        resolve({ url: registration.url, name: registration.name, lost: lost.signal, close });
      },
      refused: () =>
        fail(
          tunnelFailure(`${origin} refused connections to port ${registration?.remotePort}, which it had assigned.`),
        ),
      lost() {
        if (phase === "open") fail(tunnelFailure(`The tunnel lost its connections to ${origin}.`));
      },
    };
    worker.on("message", (report) => {
      if (isKeyOf(reactions, report)) reactions[report]();
    });
    exited.then(() => fail(tunnelFailure("The tunnel's worker process exited.")));
    signal.addEventListener("abort", () => phase === "opening" && fail(tunnelFailure(timeoutReason)), { once: true });
  });
}

/** Checks that localtunnel's servers accept a name: 4 to 63 lowercase letters, digits and hyphens. */
export function isSubdomain(name: unknown): name is string {
  return typeof name === "string" && /^[a-z0-9][a-z0-9-]{2,61}[a-z0-9]$/.test(name);
}

/** A tunnel that a localtunnel server has assigned. */
export interface Registration {
  /** The public origin. */
  url: string;
  /** The name to request in order to get this URL again, if the server sent a valid one. */
  name: string | undefined;
  /** The host and port to which the tunnel's connections go. */
  remoteHost: string;
  remotePort: number;
  /** How many connections to keep open, 1 to 10. */
  connections: number;
}

/**
 * Requests a tunnel from a localtunnel server and validates the response, which is not trusted.
 *
 * There is no health check before it: any other request would either reserve a tunnel that is never used or fetch a page
 * that says nothing about tunnels.
 *
 * @throws `TUNNEL_FAILED` with what is wrong with the server or its response.
 * @example
 * ```ts
 * const { url } = await registerTunnel("https://localtunnel.me", { subdomain: "my-bot", signal });
 * ```
 */
export async function registerTunnel(
  origin: string,
  { subdomain, signal }: { subdomain: string | undefined; signal: AbortSignal },
): Promise<Registration> {
  // Redirects are not followed: a server could redirect into the private network.
  const response = await fetch(`${origin}/${subdomain ?? "?new"}`, { signal, redirect: "manual" }).catch(
    (error: unknown) => {
      throw tunnelFailure(`${origin} is not reachable${systemCode(error)}.`);
    },
  );
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => {}); // The body may have been reset. Only the status matters.
    const isRedirect = response.status >= 300 && response.status < 400;
    throw tunnelFailure(
      isRedirect
        ? `${origin} redirected (status ${response.status}). Redirects are not followed.`
        : `${origin} returned status ${response.status}.`,
    );
  }
  return readRegistration(parseObject(await readText(response, origin), origin), origin);
}

/** @throws `OPTION_INVALID` when the option or `LOCALTUNNEL_HOST` is not an http(s) address. */
function findOrigin(host: string | undefined): string {
  const address = host ?? (process.env.LOCALTUNNEL_HOST || defaultHost);
  const origin = httpOrigin(address);
  if (origin !== undefined) return origin;
  throw optionError(
    `The address of the tunnel's server (LOCALTUNNEL_HOST, --tunnel-host for dev, or "host" in code) is invalid. Use an http or https address such as ${defaultHost}.`,
  );
}

/** The package is old and its server untrusted: the worker gets no environment (tokens) and no terminal (escape codes). */
function startWorker(): ChildProcess {
  const file = programUrl("localtunnel-worker", import.meta.url);
  return fork(file, { env: {}, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
}

function waitForExit(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    // Never removed: sending a message to a child that has just died emits an error too, which must not crash us.
    child.on("error", () => {
      if (child.pid === undefined) resolve(); // It failed to start.
    });
  });
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
    // Reported below without the parser's message, which quotes the response.
  }
  const content = text.trimStart().startsWith("<") ? "a web page (HTML)" : "an unknown response";
  throw tunnelFailure(
    `${origin} sent ${content} instead of a tunnel in JSON. It is not a tunnel server, or a proxy is in front of it.`,
  );
}

function readRegistration(response: object, origin: string): Registration {
  const url = "url" in response && typeof response.url === "string" ? httpOrigin(response.url) : undefined;
  if (url === undefined) throw tunnelFailure(`${origin} assigned a tunnel without a valid http(s) URL.`);

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

/** The name becomes part of the next request, so it must be a valid subdomain: a server could send "../admin". */
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

/** A server may send the address behind its load balancer. A private address would open our own network to it. */
function publicAddress(address: unknown): string | undefined {
  return typeof address === "string" && isIPv4(address) && !privateAddresses.check(address) ? address : undefined;
}

function hostnameOf(origin: string): string {
  return new URL(origin).hostname.replace(/^\[|\]$/g, ""); // URLs write IPv6 addresses in brackets, sockets do not.
}

/** Only the origin: a user name, path or query is never needed here and could leak a secret into a message. */
function httpOrigin(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.length > 253) return undefined;
  return url.origin;
}

function isPositiveInteger(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

function packageMissing(): WebhookError {
  return new WebhookError(
    `The tunnel needs the optional package localtunnel. Run "npm install localtunnel", ${otherTunnels}.`,
    { code: "TUNNEL_FAILED" },
  );
}

function isKeyOf<Key extends string>(record: Record<Key, unknown>, value: unknown): value is Key {
  return typeof value === "string" && Object.hasOwn(record, value);
}
