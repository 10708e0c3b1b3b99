import { suspendedAfterFailure } from "../hub/contract/webhooks.ts";
import { maskUrl } from "../url-secrets.ts";
import type { HubPageInfo } from "./page/info.ts";
import type { Store } from "./store/store.ts";
import type { StoredWebhook } from "./store/webhook-store.ts";

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
    webhooks: store.webhooks.all().map((webhook) => {
      const { id, owner, disabled, definition, lastTriggerAt } = webhook;
      return {
        id,
        owner,
        target: targetOf(webhook),
        state: disabled === suspendedAfterFailure ? "suspended" : disabled ? "disabled" : "enabled",
        watched: definition.watched,
        domains: definition.domains,
        secretIsSet: definition.secret !== undefined,
        ...(lastTriggerAt !== undefined && { lastTriggerAt: new Date(lastTriggerAt).toISOString() }),
        log: store.deliveries.entries(id, { most: entriesShown }),
      };
    }),
  };
}

function targetOf({ definition: { url, job, jobSourceId } }: StoredWebhook): HubPageInfo["webhooks"][number]["target"] {
  if (url !== undefined) return { kind: "url", url: maskUrl(url) };
  if (job) return { kind: "job", description: [...(job.command ?? []), ...(job.arguments ?? [])].join(" ") };
  return { kind: "jobSource", id: jobSourceId ?? "" };
}
