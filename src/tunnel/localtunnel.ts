import { type ChildProcess, fork } from "node:child_process";
import { WebhookError } from "../core/errors.ts";
import { programUrl } from "../core/package-files.ts";
import { localtunnelOrigin, type Registration, registerLocaltunnel } from "./localtunnel-registration.ts";
import type { CarryOrder, CarryReport } from "./localtunnel-worker.ts";
import { otherTunnels, type ProviderRequest, type ProviderTunnel, tunnelFailure } from "./provider.ts";

/** A busy tunnel may be without a connection for an instant. For this many milliseconds, it has lost its server. */
const patience = 5_000;

/**
 * Opens a tunnel with the package `localtunnel`, in a child process that can be ended at any moment.
 *
 * @throws `TUNNEL_FAILED` with the reason, `OPTION_INVALID` when `request.host` is no address.
 */
export async function openLocaltunnel(request: ProviderRequest): Promise<ProviderTunnel> {
  const { port, subdomain, signal } = request;
  const origin = localtunnelOrigin(request.host);
  const child = startChild();
  const ended = untilEnd(child);
  let phase: "opening" | "open" | "closed" = "opening";
  let lateness = "The process that carries the tunnel does not start in time.";
  let registration: Registration | undefined;
  const lost = new AbortController();

  function close(): Promise<void> {
    phase = "closed";
    child.kill("SIGKILL"); // There is nothing in it to save, and nothing in it can delay this.
    return ended;
  }

  return new Promise((resolve, reject) => {
    function fail(error: WebhookError): void {
      if (phase === "open") lost.abort(error);
      else if (phase === "opening") close().then(() => reject(error));
    }

    async function register(): Promise<void> {
      lateness = `${origin} does not answer in time.`;
      registration = await registerLocaltunnel(origin, { subdomain, signal });
      if (phase === "closed") return;
      const { remoteHost, remotePort, connections } = registration;
      lateness = `${origin} gives a tunnel, but its port ${remotePort} does not answer in time: a firewall may block it.`;
      const order: CarryOrder = { remoteHost, remotePort, localPort: port, connections, patience };
      child.send(order);
    }

    const reactions: Record<CarryReport, () => void> = {
      missing: () => fail(packageMissing()),
      // Not earlier: a server takes a tunnel back when nobody connects to it within a second.
      ready: () => register().catch(fail),
      connected() {
        if (phase !== "opening" || registration === undefined) return;
        phase = "open";
        resolve({ url: registration.url, name: registration.name, lost: lost.signal, close });
      },
      refused: () =>
        fail(
          tunnelFailure(
            `${origin} refuses connections to port ${registration?.remotePort}, which it gave for the tunnel.`,
          ),
        ),
      lost() {
        if (phase === "open") fail(tunnelFailure(`The tunnel has lost its connections to ${origin}.`));
      },
    };
    child.on("message", (report) => {
      if (isKeyOf(reactions, report)) reactions[report]();
    });
    ended.then(() => fail(tunnelFailure("The process that carries the tunnel has ended.")));
    signal.addEventListener("abort", () => phase === "opening" && fail(tunnelFailure(lateness)), { once: true });
  });
}

/** The package is old and its server a stranger: they get no environment (tokens) and no terminal (escape codes). */
function startChild(): ChildProcess {
  const file = programUrl("localtunnel-worker", import.meta.url);
  return fork(file, { env: {}, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
}

function untilEnd(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    // Listened to for good: a message sent to a child that has just died is an error too, and must not crash us.
    child.on("error", () => {
      if (child.pid === undefined) resolve(); // It could not even start.
    });
  });
}

function packageMissing(): WebhookError {
  return new WebhookError(
    `The tunnel needs the optional package localtunnel: run "npm install localtunnel", ${otherTunnels}.`,
    { code: "TUNNEL_FAILED" },
  );
}

function isKeyOf<Key extends string>(record: Record<Key, unknown>, value: unknown): value is Key {
  return typeof value === "string" && Object.hasOwn(record, value);
}
