import type { LaunchedServer } from "./launch-options.ts";

/**
 * Intercepts the launches of all servers in this process, which then do not listen. Tools that load a user's server file
 * (`dev`, `sync`, jobs) register an interceptor, because they need the server object and decide where the server listens.
 */
export interface LaunchInterceptor {
  /** Runs instead of `server.launch()`. Its result is the result of `launch()`. */
  onLaunch(server: object): LaunchedServer;
  /**
   * Runs when `webhookEndpoint` creates its shared server. The shared server is then not launched at the end of the script.
   */
  onSharedServer(server: object): void;
}

/** A registered symbol, like `serverControl`. */
const interceptorKey = Symbol.for("hub-webhooks.launchInterceptor");

/** Returns the interceptor of this process, if there is one. */
export function launchInterceptor(): LaunchInterceptor | undefined {
  const interceptor: unknown = Reflect.get(globalThis, interceptorKey);
  return isLaunchInterceptor(interceptor) ? interceptor : undefined;
}

/** Passes every launch in this process to `interceptor`. Returns a function that removes the interceptor. */
export function interceptLaunches(interceptor: LaunchInterceptor): () => void {
  Reflect.set(globalThis, interceptorKey, interceptor);
  return () => Reflect.deleteProperty(globalThis, interceptorKey);
}

function isLaunchInterceptor(value: unknown): value is LaunchInterceptor {
  return typeof value === "object" && value !== null && "onLaunch" in value && "onSharedServer" in value;
}
