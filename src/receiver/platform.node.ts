/*
 * What only Node, Bun, and Deno have. In bundles for edge workers and browsers, the "browser" field of package.json replaces this file,
 * and the other files that need `node:` modules, with `platform.worker.ts`.
 */

/** The Hub client, which the server loads on first use: it would double the size of a bundle. */
export const loadHubClient = (): Promise<typeof import("../hub/client.ts")> => import("../hub/client.ts");

/** Whether this runtime can open an inbox, which requires Node modules. Bun and Deno support these modules. */
export const canOpenInbox: boolean = typeof process !== "undefined" && process.versions?.node !== undefined;
