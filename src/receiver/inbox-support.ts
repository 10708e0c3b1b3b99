/**
 * Whether this runtime can open an inbox, which needs modules of Node; Bun and Deno have them. A bundle for a worker or a
 * browser contains `node/unavailable.ts` instead of this file (the "browser" field of package.json), where it is `false`.
 */
export const canOpenInbox: boolean = typeof process !== "undefined" && process.versions?.node !== undefined;
