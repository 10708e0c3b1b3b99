/** The port of a launched server, which is also that of a Space. */
export const defaultPort = 7860;

/** The port of a local Hub. */
export const defaultHubPort = 5050;

/** The address of a local Hub at its default port. */
export const defaultLocalHubUrl = `http://127.0.0.1:${defaultHubPort}`;

/** The inbox of a launched server, relative to its working directory. */
export const defaultInboxUrl = "sqlite:./.hub-webhooks/inbox.db";
