import type { HubContext } from "./hub-context.ts";
import type { HubPageInfo } from "./page/info.ts";
import { summarizeWebhook } from "./resources/webhooks.ts";

/** The parts of a local Hub that the page shows. */
export type PageSource = Pick<HubContext, "store" | "hubUrl" | "runJobs" | "allowRemote" | "startedAt">;

/** The maximum number of attempts per webhook that the page shows. */
const maxShownAttempts = 30;

/** Reads the data of the page from the store, with masked secrets. */
export function readPageInfo(source: PageSource, { theme }: { theme: string | undefined }): HubPageInfo {
  const { store, hubUrl, runJobs, allowRemote, startedAt } = source;
  return {
    hubUrl,
    runJobs,
    allowRemote,
    startedAt: startedAt.toISOString(),
    ...((theme === "light" || theme === "dark") && { theme }),
    webhooks: store.webhooks.all().map((webhook) => ({
      ...summarizeWebhook(webhook),
      log: store.deliveries.attempts(webhook.id, { limit: maxShownAttempts }),
    })),
  };
}
