import { onTestFinished } from "vitest";
import { parsePayload, type WebhookPayload } from "../../../src/index.ts";
import { createId, createSha } from "../../../src/local-hub/accounts.ts";
import { Dispatcher } from "../../../src/local-hub/delivery/dispatcher.ts";
import { FaultyDelivery } from "../../../src/local-hub/delivery/faults.ts";
import { HttpSender } from "../../../src/local-hub/delivery/http-sender.ts";
import { ScenarioRecorder } from "../../../src/local-hub/events/scenario-recorder.ts";
import type { HubContext } from "../../../src/local-hub/hub-context.ts";
import { JobRunner } from "../../../src/local-hub/jobs/job-runner.ts";
import { BucketFeed } from "../../../src/local-hub/resources/buckets/bucket-feed.ts";
import { createWebhook } from "../../../src/local-hub/resources/webhooks.ts";
import { BucketFaults } from "../../../src/local-hub/s3/faults.ts";
import { LocalSpaces } from "../../../src/local-hub/spaces/spaces.ts";
import { AuditLog } from "../../../src/local-hub/store/audit-log-store.ts";
import type { StoredRepository } from "../../../src/local-hub/store/repository-store.ts";
import { openStore, type Store } from "../../../src/local-hub/store/store.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Opens an empty store in memory, which is closed after the test. */
export function openMemoryStore(): Store {
  const store = openStore({});
  onTestFinished(() => store.close());
  return store;
}

/**
 * Opens the parts of a local Hub without a server and without example data, for tests of functions that change repositories. The
 * time starts at 0 ms and only changes with `clock.now`. A webhook watches the owners `me` and `acme`.
 */
export function openContext(): { context: HubContext; clock: { now: number } } {
  const clock = { now: 0 };
  const now = () => clock.now;
  const store = openStore({});
  const hubUrl = "http://127.0.0.1:5050";
  const parts = { store, hubUrl, now, createId, log: createMemoryLogger() };
  const sender = new HttpSender({ allowRemote: false });
  const jobs = new JobRunner({ ...parts, store: store.jobs, runJobs: false });
  const limits = { attempts: 1, backoffMs: 1, timeoutMs: 1_000, suspendAfter: 1_000, triggersPerDay: 10_000 };
  const spaces = new LocalSpaces({ ...parts, runSpaces: false, modulesFolder: undefined, canRead: () => true });
  const deliveryFaults = new FaultyDelivery(() => 0);
  const dispatcher = new Dispatcher({ ...parts, sender, jobs, limits, deliveryFaults });
  onTestFinished(async () => {
    await dispatcher.close();
    sender.close();
    store.close();
  });
  const context: HubContext = {
    ...{ bucketFaults: new BucketFaults(), bucketFeed: new BucketFeed({ now }), deliveryFaults },
    ...{ ...parts, dispatcher, jobs, spaces, createSha, runJobs: false, allowRemote: false, startedAt: new Date(0) },
    recorder: new ScenarioRecorder(),
    auditLog: new AuditLog({ ...parts, store: store.auditLog }),
    reset: () => store.clear(),
  };
  const watched = (["me", "acme"] as const).map((name) => ({ type: "user" as const, name }));
  const organization = { type: "org" as const, name: "acme" };
  createWebhook(context, {
    owner: "local-user",
    definition: {
      url: "http://127.0.0.1:1/",
      watched: [...watched, organization],
      domains: ["repo", "discussion"],
    },
  });
  return { context, clock };
}

/** Makes a change. Returns what it made, and the payloads that it fired, before they are delivered. */
export function fire<Made>({ store }: HubContext, change: () => Made): { made: Made; payloads: WebhookPayload[] } {
  const [latest] = store.events.list({ limit: 1 });
  const made = change();
  const fired = store.events.list({ limit: 100 }).filter(({ sequence }) => sequence > (latest?.sequence ?? 0));
  const bodies = fired
    .reverse()
    .flatMap(({ deliveries }) => deliveries.map(({ deliveryId }) => store.deliveries.getPending(deliveryId)?.body));
  return { made, payloads: bodies.map((body) => parsePayload(JSON.parse(body ?? ""))) };
}

/** Returns the public dataset `me/data` without content, with changes. */
export function storedRepository(changes: Partial<StoredRepository> = {}): StoredRepository {
  return {
    ...{ type: "dataset", name: "me/data", id: "a".repeat(24), private: false, discussions: 0 },
    ...{ createdAt: 0, lastModified: 0, gated: false, discussionsDisabled: false },
    ...changes,
  };
}
