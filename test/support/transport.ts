import { describe } from "vitest";
import type { WebhooksServer } from "../../src/index.ts";

/** Sends a request to a server, through `fetch` or over a socket. */
export type Send = (server: WebhooksServer, request: Request) => Promise<Response>;

const transports: Readonly<Record<string, Send>> = {
  "in memory": async (server, request) => server.fetch(request),
  "over a socket": async (server, request) => {
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    const { pathname, search } = new URL(request.url);
    try {
      const body = request.body === null ? undefined : await request.arrayBuffer();
      const response = await fetch(`${url}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        body,
        redirect: "manual",
      });
      const text = await response.arrayBuffer();
      return new Response(response.status === 204 ? null : text, {
        status: response.status,
        headers: response.headers,
      });
    } finally {
      await server.close();
    }
  },
};

/** Declares tests twice: in memory and over a socket. */
export function describeOverBothTransports(name: string, declare: (send: Send) => void): void {
  for (const [transport, send] of Object.entries(transports)) describe(`${name}, ${transport}`, () => declare(send));
}
