/** The name and the version of this package, as package.json states them: not every runtime can read that file. */
export const packageVersion = "hub-webhooks 0.1.0";
