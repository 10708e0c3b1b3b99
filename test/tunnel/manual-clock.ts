import { expect, onTestFinished } from "vitest";
import type { TunnelClock } from "../../src/tunnel/provider.ts";
import { openTunnel, type Tunnel } from "../../src/tunnel/tunnel.ts";
import { type LocaltunnelServerOptions, startLocaltunnelServer } from "../support/localtunnel-server.ts";

/** A clock that a test advances. */
export interface ManualClock extends TunnelClock {
  /** The lengths of all pauses so far, in milliseconds. */
  readonly pauses: readonly number[];
  /** The lengths of all deadlines so far, in milliseconds. */
  readonly deadlines: readonly number[];
  /** Waits for a pause of this length and ends it. */
  pass(milliseconds: number): Promise<void>;
  /** Waits until `count` deadlines of this length exist and aborts the last one. */
  expire(milliseconds: number, count?: number): Promise<void>;
}

/** Creates a clock that moves only when the test advances it. */
export function createManualClock(): ManualClock {
  const pauses: number[] = [];
  const pending: { milliseconds: number; end: () => void }[] = [];
  const deadlines: { milliseconds: number; controller: AbortController }[] = [];
  return {
    pauses,
    get deadlines() {
      return deadlines.map(({ milliseconds }) => milliseconds);
    },
    pause(milliseconds, signal) {
      pauses.push(milliseconds);
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const entry = { milliseconds, end: resolve };
        pending.push(entry);
        signal.addEventListener("abort", () => {
          if (pending.includes(entry)) pending.splice(pending.indexOf(entry), 1);
          resolve();
        });
      });
    },
    deadline(milliseconds) {
      const controller = new AbortController();
      deadlines.push({ milliseconds, controller });
      return controller.signal;
    },
    async pass(milliseconds) {
      await expect.poll(() => pending.map((entry) => entry.milliseconds)).toContain(milliseconds);
      const index = pending.findIndex((entry) => entry.milliseconds === milliseconds);
      pending.splice(index, 1)[0]?.end();
    },
    async expire(milliseconds, count = 1) {
      const matching = () => deadlines.filter((entry) => entry.milliseconds === milliseconds);
      await expect.poll(() => matching().length).toBeGreaterThanOrEqual(count);
      matching().at(-1)?.controller.abort(new DOMException("Too late.", "TimeoutError"));
    },
  };
}

/** Records all events of a tunnel: errors with code and message, others with their values. */
export function recordEvents(tunnel: Tunnel): string[] {
  const heard: string[] = [];
  tunnel.on("error", ({ code, message }) => heard.push(`error ${code}: ${message}`));
  tunnel.on("down", ({ code }) => heard.push(`down ${code}`));
  tunnel.on("urlChanged", (url) => heard.push(`urlChanged ${url}`));
  tunnel.on("up", () => heard.push("up"));
  return heard;
}

/** Opens a tunnel of a localtunnel server, and closes both after the test. */
export async function openHosted(server: LocaltunnelServerOptions = {}) {
  const host = await startLocaltunnelServer(server);
  const tunnel = await openTunnel({ port: 1, host: host.url });
  onTestFinished(async () => {
    await tunnel.close();
    await host.close();
  });
  return { host, tunnel, heard: recordEvents(tunnel) };
}
