/** The name and version of this package. Not read from package.json, which some runtimes cannot do. */
export const packageVersion = "hub-webhooks 0.1.0";
