import { resolveDevOptions, type StartDevOptions } from "./dev-options.ts";
import { type DevSession, Session } from "./dev-session.ts";

/**
 * Runs a server file like `hub-webhooks dev`. The session has a stable URL, reloads the file on every change, and
 * creates temporary webhooks that are deleted at the end. Resolves when deliveries can arrive, after a test request
 * through the public URL has succeeded.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `PORT_IN_USE`, `TUNNEL_FAILED`, `STATE_UNUSABLE`, errors of the Hub
 * (`HUB_TOKEN_MISSING`, `HUB_UNAUTHORIZED`, …), and the reason of `signal`.
 * @example
 * ```ts
 * await using dev = await startDev({ file: "server.ts", onEvent: (event) => console.log(event) });
 * console.log(dev.state.endpoints);
 * ```
 */
export async function startDev(options: StartDevOptions = {}): Promise<DevSession> {
  const { signal } = options;
  signal?.throwIfAborted();
  const session = new Session(resolveDevOptions(options));
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const abort = () => aborted.reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([session.open(), aborted.promise]);
  } catch (error) {
    await session.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  // The signal can abort between the end of `open` and this line.
  if (signal?.aborted) await session.close();
  signal?.throwIfAborted();
  signal?.addEventListener("abort", () => void session.close(), { signal: session.closing });
  return session;
}
