/*
 * The Hub client, which the server loads on first use. A bundle for workers does not contain the client, which would double its size:
 * the "browser" field of package.json replaces this file with `node/unavailable.ts`. Workers pass a client with the `hub` option.
 */
export { createObservedClient } from "../hub/client.ts";
