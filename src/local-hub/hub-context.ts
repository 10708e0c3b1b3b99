import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { Dispatcher } from "./delivery/dispatcher.ts";
import type { FaultyDelivery } from "./delivery/faults.ts";
import type { RepositoryChange } from "./events/repository-change.ts";
import type { ScenarioRecorder } from "./events/scenario-recorder.ts";
import type { JobRunner } from "./jobs/job-runner.ts";
import type { BucketFeed } from "./resources/buckets/bucket-feed.ts";
import type { BucketFaults } from "./s3/faults.ts";
import type { LocalSpaces } from "./spaces/spaces.ts";
import type { AuditLog } from "./store/audit-log-store.ts";
import type { Store } from "./store/store.ts";

/** The parts and settings of a local Hub that the events, routes, and console share. */
export interface HubContext {
  store: Store;
  dispatcher: Dispatcher;
  auditLog: AuditLog;
  recorder: ScenarioRecorder;
  jobs: JobRunner;
  spaces: LocalSpaces;
  /** The failures of the S3 API that a user asked for. */
  bucketFaults: BucketFaults;
  bucketFeed: BucketFeed;
  deliveryFaults: FaultyDelivery;
  /** The URL of the local Hub, without a trailing slash. */
  hubUrl: string;
  createId: () => string;
  createSha: () => string;
  now: () => number;
  log: Logger;
  /** Whether to run the commands of jobs as local processes. */
  runJobs: boolean;
  /** Whether to deliver to other machines. */
  allowRemote: boolean;
  startedAt: Date;
  /** Requests that change repositories wait for this promise, which never rejects. */
  changesHeldUntil?: Promise<unknown>;
  /**
   * Collects changes to repositories instead of publishing them. By default, changes are published when they are made. A change
   * that must be published together with others, or not at all, is made with a context that collects changes.
   */
  collectedChanges?: RepositoryChange[];
  reset: () => void;
}

/**
 * The parts of each local Hub, for the console of a dev session. In a file of its own, because the types of the parts must not become
 * part of the published declarations.
 */
const readers = new WeakMap<object, () => HubContext>();

export function registerContext(hub: object, read: () => HubContext): void {
  readers.set(hub, read);
}

/** @throws `CLOSING` if the local Hub is closed. */
export function contextOf(hub: object): HubContext {
  const read = readers.get(hub);
  if (read) return read();
  throw new WebhookError("The local Hub belongs to another copy of this package.", { code: "OPTION_INVALID" });
}
