/** The default port of a launched server. Spaces use the same port. */
export const defaultPort = 7860;

/** The default port of a local Hub. */
export const defaultHubPort = 5050;

/** The URL of a local Hub on the default port. */
export const defaultLocalHubUrl = `http://127.0.0.1:${defaultHubPort}`;

/** The default inbox of a launched server. The path is relative to the working directory. */
export const defaultInboxUrl = "sqlite:./.hub-webhooks/inbox.db";
