/** The name and version of this package. The version is a constant, because some runtimes cannot read package.json. */
export const packageVersion = "hub-webhooks 0.1.0";
