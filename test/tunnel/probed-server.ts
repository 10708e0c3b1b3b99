import type { RequestListener } from "node:http";
import { createProbe, type Probe } from "../../src/tunnel/probe.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";

/** A server that answers a tunnel's probe. */
export interface ProbedServer extends LocalServer {
  readonly probe: Probe;
  /** The headers of every probe request. */
  readonly asked: readonly NodeJS.Dict<string | string[]>[];
  /** Replaces the answer to the probe; `undefined` restores the correct one. */
  answer(listener: RequestListener | undefined): void;
}

/** Starts a server that answers a probe, and everything else with "pong". */
export async function startProbedServer(options: { port?: number; probe?: Probe } = {}): Promise<ProbedServer> {
  const probe = options.probe ?? createProbe();
  const asked: NodeJS.Dict<string | string[]>[] = [];
  let other: RequestListener | undefined;
  const server = await startLocalServer((request, response) => {
    if (request.url !== probe.path) return void response.end("pong");
    asked.push(request.headers);
    if (other) other(request, response);
    else response.setHeader("content-type", "text/plain").end(probe.answer);
  }, options);
  return {
    probe,
    asked,
    port: server.port,
    answer(listener) {
      other = listener;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
