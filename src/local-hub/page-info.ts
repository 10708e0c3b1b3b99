import type { HubPageInfo } from "./page/info.ts";
import { summarizeWebhook } from "./resources/webhooks.ts";
import type { Store } from "./store/store.ts";

/** What {@link readPageInfo} reads from. */
export interface PageSource {
  store: Store;
  baseUrl: string;
  runsJobs: boolean;
  allowsRemote: boolean;
  startedAt: Date;
}

/** Entries of a webhook's log that the page shows. */
const entriesShown = 30;

/** Reads from the store what the page shows, without any secret. */
export function readPageInfo(source: PageSource, { theme }: { theme: string | undefined }): HubPageInfo {
  const { store, baseUrl, runsJobs, allowsRemote, startedAt } = source;
  return {
    baseUrl,
    runsJobs,
    allowsRemote,
    startedAt: startedAt.toISOString(),
    ...((theme === "light" || theme === "dark") && { theme }),
    webhooks: store.webhooks.all().map((webhook) => ({
      ...summarizeWebhook(webhook),
      log: store.deliveries.entries(webhook.id, { most: entriesShown }),
    })),
  };
}
