/** The number of ports to try before the system chooses a port. */
const maxAttempts = 21;

/**
 * Listens on a port, or on the next free port if that port is in use. A port such as 7861 is easier to remember than a
 * random port.
 *
 * @param listen opens the socket. With port 0, the system chooses a port.
 * @param isTaken whether an error of `listen` means that the port is in use.
 * @throws any other error of `listen`.
 */
export async function listenOnFreePort<Listening>(
  firstPort: number,
  { listen, isTaken }: { listen: (port: number) => Promise<Listening>; isTaken: (error: unknown) => boolean },
): Promise<Listening> {
  for (let port = firstPort; port < firstPort + maxAttempts; port += 1) {
    try {
      return await listen(port);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  return listen(0);
}
