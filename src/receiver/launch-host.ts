import type { LaunchedServer } from "./launch-options.ts";

/** A tool that runs a user's server file, and decides what its servers do. */
export interface LaunchHost {
  /** Receives a server whose `launch()` was called, and returns the result. The server does not listen. */
  launched(server: object): LaunchedServer;
  /** Receives a server that would launch itself at the end of the script. */
  selfLaunching(server: object): void;
}

/** A registered symbol, so that the copies of this package in a tool and in a user's project share it. */
const hostKey = Symbol.for("hub-webhooks.launchHost");

/** Returns the host of this process, if there is one. */
export function launchHost(): LaunchHost | undefined {
  const host: unknown = Reflect.get(globalThis, hostKey);
  return isLaunchHost(host) ? host : undefined;
}

/** Passes every `launch()` in this process to `host`. Returns the function that stops this. */
export function hostLaunches(host: LaunchHost): () => void {
  Reflect.set(globalThis, hostKey, host);
  return () => Reflect.deleteProperty(globalThis, hostKey);
}

function isLaunchHost(value: unknown): value is LaunchHost {
  return typeof value === "object" && value !== null && "launched" in value && "selfLaunching" in value;
}
