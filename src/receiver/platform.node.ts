/*
 * What differs between runtimes. In bundles for edge workers and browsers, the "browser" field of package.json replaces this file with
 * `platform.worker.ts`, so that the bundle contains neither Node modules nor the console. `server.ts` passes these exports to the
 * parts that need them. Each function loads a module on first use.
 */
export { ReceiverConsole } from "./console/receiver-console.ts";
export { DeliveryHistory } from "./history.ts";

export const loadCatchUp = () => import("./catch-up.ts");
export const loadErrorPage = () => import("../console/pages/error-page.ts");
export const loadHubClient = () => import("../hub/client.ts");
export const loadLandingPage = () => import("./landing/landing-page.ts");
export const loadMetrics = () => import("./metrics.ts");
export const loadNodeLogger = () => import("./node/node-logger.ts");
export const loadStart = () => import("./node/start-server.ts");

/** `undefined` in a runtime that cannot open an inbox, which requires Node modules. Bun and Deno support these modules. */
export const loadInbox =
  typeof process !== "undefined" && process.versions?.node !== undefined
    ? () => import("../inbox/open-inbox.ts")
    : undefined;
