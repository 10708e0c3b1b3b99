import { type ChildProcess, fork } from "node:child_process";
import type { WebhookError } from "../core/errors.ts";
import { programUrl } from "../core/files.ts";
import type { LocaltunnelConfig, LocaltunnelReport } from "./localtunnel-process.ts";
import { type AssignedTunnel, findServerOrigin, requestTunnel } from "./localtunnel-server.ts";
import { type ProviderRequest, type ProviderTunnel, tunnelFailure } from "./provider.ts";

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
