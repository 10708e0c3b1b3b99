import type { Console } from "../console/server/console.ts";
import type { Listener } from "../receiver/node/listen.ts";
import type { HttpSender } from "./delivery/http-sender.ts";
import type { HubContext } from "./hub-context.ts";
import { seedStore } from "./seed/seed.ts";
import { openStore, type Store } from "./store/store.ts";

/** The parts of a running local Hub. */
export interface Parts {
  context: HubContext;
  listener: Listener;
  sender: HttpSender;
  console: Console;
}

/** Restores the initial data, and removes all faults. */
export function resetStore({ store, dispatcher, jobs, bucketFaults, now }: HubContext): void {
  bucketFaults.set([]);
  jobs.cancelAll();
  for (const { id } of store.webhooks.all()) dispatcher.cancel(id);
  store.clear();
  seedStore(store, { now: now() });
}

/** The timeout for open requests in {@link closeParts}. */
const closeGraceMs = 5_000;

/** Stops the server, the deliveries, and the jobs, and closes the store. */
export async function closeParts({ context, listener, sender, console }: Parts): Promise<void> {
  console.close();
  const listenerClosed = listener.close(closeGraceMs);
  context.bucketFaults.close();
  await Promise.all([context.dispatcher.close(), context.jobs.close()]);
  await listenerClosed;
  sender.close();
  context.store.close();
}

/** Opens the store. Call this function after the server listens, so that a failed launch creates no state file. */
export async function openStoreOrClose(file: string | undefined, listener: Listener): Promise<Store> {
  try {
    return openStore({ file });
  } catch (error) {
    await listener.close(0);
    throw error;
  }
}
