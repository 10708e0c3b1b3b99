import { WebhookError } from "../core/errors.ts";

/** The number of ports to try before the system chooses a port. */
const maxAttempts = 21;

/**
 * Listens on a port, or on the next free port if that port is in use. A port such as 7861 is easier to remember than a
 * random port.
 *
 * @param listen opens the socket, and throws `PORT_IN_USE` if the port is in use. With port 0, the system chooses a port.
 * @throws any other error of `listen`.
 */
export async function listenOnFreePort<Listening>(
  firstPort: number,
  listen: (port: number) => Promise<Listening>,
): Promise<Listening> {
  for (let port = firstPort; port < firstPort + maxAttempts; port += 1) {
    try {
      return await listen(port);
    } catch (error) {
      if (!WebhookError.isInstance(error) || error.code !== "PORT_IN_USE") throw error;
    }
  }
  return listen(0);
}
