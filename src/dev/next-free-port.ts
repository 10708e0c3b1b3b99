/** How many ports after the usual one are tried before the system chooses one. */
const maxTried = 20;

/**
 * Listens on the usual port or, where that is taken, on the next one that is free: 7861 after 7860, so that the address
 * stays one that can be remembered.
 *
 * @param listen opens the socket; port 0 leaves the choice to the system.
 * @param isTaken whether an error of `listen` means that the port is in use.
 * @throws any other error of `listen`.
 */
export async function listenFrom<Listening>(
  usualPort: number,
  { listen, isTaken }: { listen: (port: number) => Promise<Listening>; isTaken: (error: unknown) => boolean },
): Promise<Listening> {
  for (let port = usualPort; port <= usualPort + maxTried; port += 1) {
    try {
      return await listen(port);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  return listen(0);
}
