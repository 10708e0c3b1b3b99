import { loadPostgresPackages, loadRedisPackages } from "./optional-packages.ts";
import { openPostgresLeases } from "./postgres.ts";
import type { LeaseServer } from "./queue-server.ts";
import { openRedisLeases } from "./redis.ts";

/**
 * Connects to the server of an inbox to renew leases. A file of its own, which the thread of a `LeaseRenewer` loads only when it
 * needs a connection.
 *
 * @param url of the inbox.
 */
export async function openLeaseServer(url: string, onError: (error: Error) => void): Promise<LeaseServer> {
  if (/^rediss?:/.test(url)) return openRedisLeases({ url, onError, packages: await loadRedisPackages() });
  return openPostgresLeases({ url, onError, packages: await loadPostgresPackages() });
}
