import { loadPostgresPackages, loadRedisPackages } from "./optional-packages.ts";
import { openPostgresLeases } from "./postgres.ts";
import type { LeaseServer } from "./queue-server.ts";
import { openRedisLeases } from "./redis.ts";

/**
 * Opens a connection that renews leases. This function has its own file, because the thread of a `LeaseRenewer` loads the file only
 * when the thread needs a connection.
 *
 * @param url the Redis or PostgreSQL URL of the inbox.
 */
export async function openLeaseServer(url: string, onError: (error: Error) => void): Promise<LeaseServer> {
  if (/^rediss?:/.test(url)) return openRedisLeases({ url, onError, packages: await loadRedisPackages() });
  return openPostgresLeases({ url, onError, packages: await loadPostgresPackages() });
}
