import * as z from "zod/mini";
import { exportRecent, importRecent } from "../recent/recent-snapshot.ts";
import { EarlierActivity } from "./earlier-activity.ts";
import type { ServerParts } from "./source.ts";

const snapshot = z.object({ deliveries: z.array(z.unknown()), activity: z.unknown() });

type SnapshotSource = Pick<ServerParts, "history" | "activity" | "endpoints" | "now">;

/** Copies what the console shows and no inbox stores as plain data: the deliveries in memory, and the activity. */
export function takeSessionSnapshot(
  { history, activity, endpoints, now }: SnapshotSource,
  earlier = EarlierActivity.read(undefined),
): z.infer<typeof snapshot> {
  return {
    deliveries: exportRecent(history.recent),
    activity: earlier.takeSnapshot({ activity, endpoints: endpoints.byName, now: now() }),
  };
}

/**
 * Adds the deliveries of a snapshot to the history, and returns its activity. Skips values of another format, from another version of
 * this package.
 */
export function restoreSessionSnapshot({ history }: Pick<SnapshotSource, "history">, value: unknown): EarlierActivity {
  const { data } = snapshot.safeParse(value);
  if (data) importRecent(history.recent, data.deliveries);
  return EarlierActivity.read(data?.activity);
}
