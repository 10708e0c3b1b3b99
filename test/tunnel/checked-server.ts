import type { RequestListener } from "node:http";
import { createReachabilityCheck, type ReachabilityCheck } from "../../src/tunnel/reachability-check.ts";
import { type LocalServer, startLocalServer } from "./local-server.ts";

/** A server that answers a reachability check of a tunnel. */
export interface CheckedServer extends LocalServer {
  readonly reachabilityCheck: ReachabilityCheck;
  /** The headers of every reachability check. */
  readonly asked: readonly NodeJS.Dict<string | string[]>[];
  /** Replaces the answer to the reachability check; `undefined` restores the correct one. */
  answer(listener: RequestListener | undefined): void;
}

/** Starts a server that answers a reachability check, and everything else with "pong". */
export async function startCheckedServer(
  options: { port?: number; reachabilityCheck?: ReachabilityCheck } = {},
): Promise<CheckedServer> {
  const reachabilityCheck = options.reachabilityCheck ?? createReachabilityCheck();
  const asked: NodeJS.Dict<string | string[]>[] = [];
  let other: RequestListener | undefined;
  const server = await startLocalServer((request, response) => {
    if (request.url !== reachabilityCheck.path) return void response.end("pong");
    asked.push(request.headers);
    if (other) other(request, response);
    else response.setHeader("content-type", "text/plain").end(reachabilityCheck.answer);
  }, options);
  return {
    reachabilityCheck,
    asked,
    port: server.port,
    answer(listener) {
      other = listener;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
