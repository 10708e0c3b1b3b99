import type { Server } from "node:http";
import { WebhookError } from "../core/errors.ts";

/** The address to listen on. */
export interface SocketOptions {
  host: string;
  /** The port, or 0 for any free port. */
  port: number;
  /** The options that set the address, for error messages, such as `launch({ host, port })`. */
  optionNames?: string | undefined;
}

/**
 * Makes a server listen, and returns its port.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
 */
export function openSocket(server: Server, options: SocketOptions): Promise<number> {
  const { host, port } = options;
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(listenFailed(error, options));
    server.once("error", fail);
    server.listen({ host, port }, () => {
      server.off("error", fail);
      resolve(portOf(server));
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function listenFailed(cause: NodeJS.ErrnoException, { host, port, optionNames }: SocketOptions): WebhookError {
  if (cause.code === "EADDRINUSE") {
    const withOptions = optionNames === undefined ? "" : ` with ${optionNames}`;
    return new WebhookError(
      `Port ${port} on ${host} is in use. Stop the program that uses the port, or choose another port${withOptions}.`,
      { code: "PORT_IN_USE", cause },
    );
  }
  const remedy = optionNames === undefined ? "Choose another port." : `Check ${optionNames}.`;
  return new WebhookError(`Cannot listen on ${host}:${port} (${cause.code}). ${remedy}`, {
    code: "LISTEN_FAILED",
    cause,
  });
}
