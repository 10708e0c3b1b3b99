import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Exchange } from "./direct-request.ts";

/** Requests on one connection that may wait for their answers. Clients that pipeline send a handful. */
const maxUnanswered = 16;

/** An open connection. */
export class Connection {
  /** The last exchange on it; `undefined` before the first. */
  exchange: Exchange | undefined;
  /** Answers that were not sent when the next request arrived, oldest first. */
  #pipelined: ServerResponse[] = [];
  readonly #maxRequests: number;
  #requests = 0;

  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests;
  }

  /** Notes the next exchange. The answer to the last one that is allowed closes the connection. */
  add(exchange: Exchange): void {
    this.#requests += 1;
    // By itself, Node announces that and then waits for the client to close.
    if (this.#requests >= this.#maxRequests) exchange.outgoing.shouldKeepAlive = false;
    const previous = this.exchange?.outgoing;
    this.exchange = exchange;
    if (!previous) return;
    if (!previous.writableFinished) this.#pipelined.push(previous);
    else if (this.#pipelined.length > 0) this.#pipelined = [];
  }

  /** Whether as many requests wait for their answers as may. */
  get isFull(): boolean {
    if (this.#pipelined.length < maxUnanswered) return false;
    this.#pipelined = this.#pipelined.filter(({ writableFinished }) => !writableFinished);
    return this.#pipelined.length >= maxUnanswered;
  }

  /** Whether every request on it is answered; `false` before the first. */
  get isIdle(): boolean {
    return this.exchange?.outgoing.writableFinished ?? false;
  }
}

/** Every open connection of a server. */
export type Connections = Map<Duplex, Connection>;
