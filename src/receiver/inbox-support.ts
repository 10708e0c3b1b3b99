/**
 * Whether this runtime can open an inbox, which requires Node modules. Bun and Deno support these modules. In a bundle
 * for a worker or browser, the "browser" field of package.json replaces this file with `node/unavailable.ts`, where the
 * value is `false`.
 */
export const canOpenInbox: boolean = typeof process !== "undefined" && process.versions?.node !== undefined;
