/**
 * Whether this runtime can open an inbox, which needs modules of Node; Bun and Deno have them. Where a bundler builds for
 * a worker or a browser, the "browser" field of package.json puts `false` in the place of this file.
 */
export const canOpenInbox: boolean = typeof process !== "undefined" && process.versions?.node !== undefined;
