import type { HubPageInfo } from "./page/info.ts";
import { summarizeWebhook } from "./resources/webhooks.ts";
import type { Store } from "./store/store.ts";

export interface PageSource {
  store: Store;
  hubUrl: string;
  runJobs: boolean;
  allowsRemote: boolean;
  startedAt: Date;
}

/** Attempts that the page shows per webhook. */
const maxShownAttempts = 30;

/** Reads the data of the page from the store, with secrets masked. */
export function readPageInfo(source: PageSource, { theme }: { theme: string | undefined }): HubPageInfo {
  const { store, hubUrl, runJobs, allowsRemote, startedAt } = source;
  return {
    hubUrl,
    runJobs,
    allowsRemote,
    startedAt: startedAt.toISOString(),
    ...((theme === "light" || theme === "dark") && { theme }),
    webhooks: store.webhooks.all().map((webhook) => ({
      ...summarizeWebhook(webhook),
      log: store.deliveries.attempts(webhook.id, { limit: maxShownAttempts }),
    })),
  };
}
