/** The name and version of this package. A constant, because some runtimes cannot read package.json. */
export const packageVersion = "hub-webhooks 0.1.0";
