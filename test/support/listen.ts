import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";
import { onTestFinished } from "vitest";
import { listenOnPort } from "./free-port.ts";

/** Starts a server on a free port. Closes it and its HTTP connections after the test. */
export async function listen(server: Server | HttpServer): Promise<{ port: number; url: string }> {
  const port = await listenOnPort(server);
  onTestFinished(() => {
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
  return { port, url: `http://127.0.0.1:${port}` };
}
