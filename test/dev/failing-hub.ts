import { once } from "node:events";
import { createServer } from "node:http";
import { onTestFinished } from "vitest";

/** What may happen to a request on its way to a Hub; `undefined` passes it on. */
export type OnTheWay = (request: {
  method: string;
  path: string;
  body: string;
}) => Promise<number | undefined> | number | undefined;

/** An address that leads to a Hub, unless something happens on the way: a status is answered in its place. */
export async function openHubBetween(hubUrl: string, onTheWay: OnTheWay): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    const status = await onTheWay({ method, path, body: body.toString() });
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
