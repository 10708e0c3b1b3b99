import type { LaunchedServer } from "./launch-options.ts";

/** Whoever runs a server's file in place of `node` alone, and says what becomes of the servers in it. */
export interface LaunchHost {
  /** A server asked to be launched. Nothing of it is; what is returned here is what it is told. */
  launched(server: object): LaunchedServer;
  /** A server that would launch itself at the end of the script. */
  selfLaunching(server: object): void;
}

/** By this name two copies of the package, the one of a tool and the one of the file that it runs, find each other. */
const hostKey = Symbol.for("hub-webhooks.launchHost");

/** The host of this process, if there is one. */
export function launchHost(): LaunchHost | undefined {
  const host: unknown = Reflect.get(globalThis, hostKey);
  return isLaunchHost(host) ? host : undefined;
}

/** Makes every `launch()` in this process a word to `host`. Returns the function that ends that. */
export function hostLaunches(host: LaunchHost): () => void {
  Reflect.set(globalThis, hostKey, host);
  return () => Reflect.deleteProperty(globalThis, hostKey);
}

function isLaunchHost(value: unknown): value is LaunchHost {
  return typeof value === "object" && value !== null && "launched" in value && "selfLaunching" in value;
}
