import type { LaunchedServer } from "./launch-options.ts";

/**
 * Receives the launches of the servers in this process, which then do not listen. The tools that load a user's server file
 * (`dev`, `sync`, a job) register one: they need the server, and decide themselves whether and where it listens.
 */
export interface LaunchInterceptor {
  /** Runs instead of `server.launch()`, which returns its result. */
  onLaunch(server: object): LaunchedServer;
  /** Runs when `webhookEndpoint` creates its shared server, instead of the launch at the end of the script. */
  onSharedServer(server: object): void;
}

/** A registered symbol, so that the copies of this package in a tool and in a user's project share it. */
const interceptorKey = Symbol.for("hub-webhooks.launchInterceptor");

/** Returns the interceptor of this process, if there is one. */
export function launchInterceptor(): LaunchInterceptor | undefined {
  const interceptor: unknown = Reflect.get(globalThis, interceptorKey);
  return isLaunchInterceptor(interceptor) ? interceptor : undefined;
}

/** Passes every launch in this process to `interceptor`. Returns the function that stops this. */
export function interceptLaunches(interceptor: LaunchInterceptor): () => void {
  Reflect.set(globalThis, interceptorKey, interceptor);
  return () => Reflect.deleteProperty(globalThis, interceptorKey);
}

function isLaunchInterceptor(value: unknown): value is LaunchInterceptor {
  return typeof value === "object" && value !== null && "onLaunch" in value && "onSharedServer" in value;
}
