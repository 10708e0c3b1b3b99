import { once } from "node:events";
import { createServer } from "node:http";
import { onTestFinished } from "vitest";

/** Returns the status to answer a request with, or `undefined` to forward it. */
export type Intercept = (request: {
  method: string;
  path: string;
  body: string;
}) => Promise<number | undefined> | number | undefined;

/** Opens a proxy in front of a Hub that can fail requests, and returns its address. */
export async function openFailingHub(hubUrl: string, intercept: Intercept): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    const status = await intercept({ method, path, body: body.toString() });
    if (status !== undefined) return void outgoing.writeHead(status).end("{}");
    const { authorization = "" } = headers;
    const answer = await fetch(`${hubUrl}${path}`, {
      ...{ method, headers: { authorization, "content-type": headers["content-type"] ?? "application/json" } },
      ...(body.length > 0 && { body }),
    });
    outgoing.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("A TCP server has a port.");
  return `http://127.0.0.1:${address.port}`;
}
