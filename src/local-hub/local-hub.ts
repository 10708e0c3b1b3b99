import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Hono } from "hono";
import type { Console } from "../console/server/console.ts";
import { WebhookError } from "../core/errors.ts";
import { createSafeLogger, type Logger } from "../core/log.ts";
import { checkCount, checkOptionNames, checkPort, type Duration, toMilliseconds } from "../core/options.ts";
import { readJson } from "../core/text.ts";
import type { Job } from "../hub/jobs/schemas.ts";
import { type Listener, listen } from "../receiver/node/listen.ts";
import { createId, createSha, deriveAccessKey, findCaller, localUser } from "./accounts.ts";
import { createHubApp } from "./app.ts";
import { createHubConsole } from "./console/hub-console.ts";
import { Dispatcher } from "./delivery/dispatcher.ts";
import { type DeliveryFaults, FaultyDelivery } from "./delivery/faults.ts";
import { HttpSender } from "./delivery/http-sender.ts";
import type { HubDelivery, HubDeliveryAttempt } from "./delivery/hub-delivery.ts";
import { type HubEvent, type ParsedEvent, parseEvent, parseScenario, type Scenario } from "./events/event-request.ts";
import { ScenarioRecorder } from "./events/scenario-recorder.ts";
import { triggerEvent } from "./events/trigger.ts";
import { type HubContext, registerContext } from "./hub-context.ts";
import { JobRunner } from "./jobs/job-runner.ts";
import { BucketFeed } from "./resources/buckets/bucket-feed.ts";
import { toJob } from "./resources/jobs.ts";
import { createRepository } from "./resources/repositories/repository-changes.ts";
import { canRead } from "./routes/repository-access.ts";
import type { ApiEnvironment } from "./routes/route.ts";
import { type BucketFault, BucketFaults } from "./s3/faults.ts";
import { openSeededStore, seedStore } from "./seed/seed.ts";
import { LocalSpaces } from "./spaces/spaces.ts";
import { AuditLog } from "./store/audit-log-store.ts";
import type { StoredRepository } from "./store/repository-store.ts";
import type { Store } from "./store/store.ts";

/** The options of `LocalHub.launch`. */
export interface LocalHubOptions {
  /** The port. Default `0`, which chooses a free port. */
  port?: number;
  /** A SQLite file that stores all data across restarts. By default, data is stored in memory. */
  state?: string;
  /** Whether to run the commands of jobs as local processes. By default, jobs are only recorded. */
  runJobs?: boolean;
  /**
   * Whether to run Docker Spaces as local processes: the start command of the Dockerfile in a copy of the repository, with the Space's
   * secrets and variables, and with the packages in the `node_modules` of the current folder. By default, only their settings are stored.
   */
  runSpaces?: boolean;
  /** Whether to deliver to other machines. By default, the local Hub delivers only to this machine. */
  allowRemote?: boolean;
  /** The maximum number of attempts per delivery. Default `3`. */
  attempts?: number;
  /** The pause before the second attempt. The pause doubles before each later attempt. Default `"500ms"`. */
  backoff?: Duration;
  /** The timeout for the complete response of a receiver. Default `"30s"`, as on the Hub. */
  timeout?: Duration;
  /** The number of consecutive failed deliveries after which a webhook is suspended. Default `5`. */
  suspendAfter?: number;
  /** The maximum number of triggers per webhook and 24 hours. Default `1000`, as on the Hub. Use `Infinity` for no limit. */
  triggersPerDay?: number;
  /** What goes wrong with deliveries. Default: nothing. {@link LocalHub.setDeliveryFaults} changes it. */
  deliveryFaults?: DeliveryFaults;
  /** Receives log lines, including one for each delivery. By default, the local Hub does not log. */
  logger?: Logger;
}

const optionNames = {
  port: true,
  state: true,
  runJobs: true,
  runSpaces: true,
  allowRemote: true,
  attempts: true,
  backoff: true,
  timeout: true,
  suspendAfter: true,
  triggersPerDay: true,
  deliveryFaults: true,
  logger: true,
} satisfies Record<keyof LocalHubOptions, true>;

const defaultToken = "hf_local";

// Uploads of large files take minutes.
const timeouts = { headersMs: 15_000, requestMs: 3_600_000, keepAliveMs: 10_000 };

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/**
 * A Hub on this machine. Serves the webhooks API, triggers events, and sends deliveries, without an account or internet access.
 *
 * @example
 * ```ts
 * await using hub = await LocalHub.launch();
 * const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
 * await client.webhooks.create({ url, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] });
 * const [delivery] = await hub.push({ type: "dataset", name: "me/data" });
 * ```
 */
export class LocalHub {
  /** The URL without a trailing slash, for `HF_ENDPOINT`. */
  readonly url: string;
  readonly port: number;
  readonly #parts: Parts;
  #closed: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    registerContext(this, () => this.#context());
    this.url = parts.context.hubUrl;
    this.port = parts.listener.port;
  }

  /**
   * Launches a local Hub on 127.0.0.1.
   *
   * @throws `PORT_IN_USE` or `LISTEN_FAILED` if the port cannot be used, `LOCAL_HUB_STATE_UNUSABLE` if the state file cannot be
   *   used, `OPTION_INVALID` if an option is invalid.
   */
  static async launch(options: LocalHubOptions = {}): Promise<LocalHub> {
    checkOptionNames(options, { valid: Object.keys(optionNames), kind: "LocalHub" });
    const limits = {
      attempts: checkCount(options.attempts ?? 3, "attempts", { allowsInfinity: true }),
      backoffMs: toMilliseconds(options.backoff ?? "500ms", "backoff"),
      timeoutMs: toMilliseconds(options.timeout ?? "30s", "timeout"),
      suspendAfter: checkCount(options.suspendAfter ?? 5, "suspendAfter", { allowsInfinity: true }),
      triggersPerDay: checkCount(options.triggersPerDay ?? 1_000, "triggersPerDay", { allowsInfinity: true }),
    };
    const { runJobs = false, runSpaces = false, allowRemote = false } = options;
    const deliveryFaults = new FaultyDelivery(Math.random);
    deliveryFaults.set(options.deliveryFaults ?? {});
    const now = () => Date.now();
    const log = createSafeLogger(options.logger ?? silent);
    const port = checkPort(options.port ?? 0);
    let app: Hono<ApiEnvironment> | undefined;
    const listener = await listen({
      hasOwnLengths: true,
      host: "127.0.0.1",
      port,
      timeouts,
      log: log,
      fetch: (request, bindings) => app?.fetch(request, bindings) ?? new Response(null, { status: 503 }),
    });
    const store = await openStoreOrClose({ file: options.state, now: now() }, listener);
    const hubUrl = `http://127.0.0.1:${listener.port}`;
    const sender = new HttpSender({ allowRemote });
    const jobs = new JobRunner({ store: store.jobs, runJobs, now, createId, log });
    const modulesFolder = resolve("node_modules");
    const spaces = new LocalSpaces({
      ...{ store, runSpaces, modulesFolder, hubUrl, now, log },
      canRead: (repository, token) => canRead(store, repository, token === undefined ? undefined : findCaller(token)),
    });
    const dispatcher = new Dispatcher({
      store,
      sender,
      jobs,
      limits,
      deliveryFaults,
      hubUrl,
      now,
      createId,
      log,
    });
    const auditLog = new AuditLog({ store: store.auditLog, createId, now });
    const context: HubContext = {
      store,
      dispatcher,
      auditLog,
      recorder: new ScenarioRecorder(),
      jobs,
      spaces,
      bucketFaults: new BucketFaults(),
      bucketFeed: new BucketFeed({ now }),
      deliveryFaults,
      hubUrl,
      createId,
      createSha,
      now,
      log,
      runJobs,
      allowRemote,
      startedAt: new Date(now()),
      reset: () => resetStore(context),
    };
    const console = createHubConsole(context);
    app = createHubApp(context, { console });
    spaces.resume();
    return new LocalHub({ context, listener, sender, console });
  }

  /**
   * Triggers a push to a repository, which adds a commit to its main branch, and waits until each delivery has succeeded, has failed its last attempt, or
   * was canceled. Creates the repository if necessary. `fields` override fields of the payload.
   *
   * @throws `ARGUMENT_INVALID` if `fields` are invalid, `CLOSING` if the local Hub is closed.
   */
  async push(repo: HubEvent["repo"], fields: Omit<Partial<HubEvent>, "repo" | "event"> = {}): Promise<HubDelivery[]> {
    return this.trigger({ ...fields, repo, event: { scope: "repo.content", action: "update" } });
  }

  /**
   * Triggers an event by making its change, such as a comment, and waits until each delivery has succeeded, has failed its last
   * attempt, or was canceled. A new pull request also fires the event of its ref. You can set all other fields of the payload, such
   * as `comment`, `discussion`, or `updatedRefs`. The local Hub adds the fields that you omit.
   *
   * @throws `ARGUMENT_INVALID` if the event is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * await localHub.trigger({
   *   repo: { type: "model", name: "me/net" },
   *   event: { scope: "discussion.comment", action: "create" },
   *   comment: { content: "@bot hello" },
   * });
   * ```
   */
  async trigger(event: HubEvent): Promise<HubDelivery[]> {
    return this.#trigger(parseEvent(event));
  }

  /**
   * Triggers the events of a scenario one after the other, each after the deliveries of the one before. Returns all deliveries. A
   * text is the path of a JSON file, which `hub-webhooks scenario` runs too.
   *
   * @throws `ARGUMENT_INVALID` if the scenario is invalid, `CLOSING` if the local Hub is closed, and errors from the file system.
   * @example
   * ```ts
   * const repo = { type: "dataset", name: "me/data" } as const;
   * await localHub.run({
   *   events: [
   *     { repo, event: { scope: "repo.content", action: "update" }, files: { "train.csv": "no header" } },
   *     { repo, event: { scope: "discussion.comment", action: "create" }, comment: { content: "@bot check again" } },
   *   ],
   * });
   * ```
   */
  async run(scenario: Scenario | string): Promise<HubDelivery[]> {
    const given: unknown = typeof scenario === "string" ? readJson(await readFile(scenario, "utf8")) : scenario;
    if (given === undefined) throw new WebhookError(`"${scenario}" is not valid JSON.`, { code: "ARGUMENT_INVALID" });
    const deliveries: HubDelivery[] = [];
    for (const event of parseScenario(given)) deliveries.push(...(await this.#trigger(event)));
    return deliveries;
  }

  /**
   * Waits until all deliveries have succeeded, have failed their last attempt, or were canceled. Use this method after a change
   * through the API, such as a commit.
   *
   * @throws `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * await client.repo({ type: "dataset", name: "me/data" }).commit({ message: "Add a card", files: { "README.md": "# Data" } });
   * await localHub.settled();
   * ```
   */
  async settled(): Promise<void> {
    await this.#context().dispatcher.waitUntilIdle();
  }

  /** Returns a webhook's latest 100 attempts, newest first. */
  deliveries(webhookId: string): HubDeliveryAttempt[] {
    return this.#context().store.deliveries.attempts(webhookId);
  }

  /** Returns the jobs of all users, newest first. */
  jobs(): Job[] {
    const context = this.#context();
    return context.store.jobs.all().map((job) => toJob(job, context));
  }

  /**
   * Creates a private bucket, unless it exists. Returns the environment variables of a receiver whose inbox is in the bucket. A name
   * without an owner belongs to `local-user`. `token` is the token whose access the key has. Default `"hf_local"`.
   *
   * @throws `ARGUMENT_INVALID` if the name is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * const { INBOX_URL, AWS_ENDPOINT_URL_S3 } = localHub.createBucket("me/inbox"); // "hf://buckets/me/inbox", "http://127.0.0.1:…/s3/me"
   * ```
   */
  createBucket(name: string, options: { private?: boolean; token?: string } = {}): BucketVariables {
    const context = this.#context();
    const fullName = name.includes("/") ? name : `${localUser}/${name}`;
    const [namespace = "", bucket = "", ...rest] = fullName.split("/");
    if (rest.length > 0 || ![namespace, bucket].every((part) => /^[A-Za-z0-9][\w.-]{0,95}$/.test(part))) {
      throw new WebhookError(
        `The bucket name ${JSON.stringify(name)} is invalid. Use "owner/name", with letters, digits, "-", "_", and ".".`,
        { code: "ARGUMENT_INVALID" },
      );
    }
    if (!context.store.repositories.get({ type: "bucket", name: fullName })) {
      createRepository(context, { type: "bucket", name: fullName, private: options.private ?? true, user: localUser });
    }
    const { endpoint, credentials } = this.bucketConnection(namespace, options);
    return {
      INBOX_URL: `hf://buckets/${fullName}`,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
  }

  /**
   * Returns the options of an S3 client for the buckets of a namespace. The access key belongs to `token`, by default `"hf_local"`.
   *
   * @throws `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
   *
   * const s3 = new S3Client(localHub.bucketConnection("me"));
   * await s3.send(new PutObjectCommand({ Bucket: "inbox", Key: "data.txt", Body: "hello" }));
   * ```
   */
  bucketConnection(namespace: string, { token = defaultToken }: { token?: string } = {}): BucketConnection {
    return {
      endpoint: `${this.#context().hubUrl}/s3/${namespace}`,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: deriveAccessKey(token),
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    };
  }

  /**
   * Returns the address and the stage of a Space, after its latest start has succeeded or failed.
   *
   * @throws `ARGUMENT_INVALID` if there is no such Space, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * await using localHub = await LocalHub.launch({ runSpaces: true });
   * const { url, stage } = await localHub.space("me/my-bot"); // after a push to the Space
   * ```
   */
  async space(name: string): Promise<LocalSpace> {
    const { spaces } = this.#context();
    const repository = this.#findSpace(name);
    await spaces.find(repository)?.settled();
    const { stage, errorMessage } = spaces.runtime(repository);
    return { url: spaces.url(repository), stage, errorMessage };
  }

  /**
   * Lets a Space sleep, as after 48 hours without a request: its process ends, and the files that it wrote are lost. The next request wakes
   * it. From another process, send `POST /_local/spaces/OWNER/NAME/sleep`.
   *
   * @throws `ARGUMENT_INVALID` if there is no such Space, `CLOSING` if the local Hub is closed.
   */
  sleepSpace(name: string): void {
    this.#context().spaces.find(this.#findSpace(name))?.sleep();
  }

  /**
   * Sets the failures of requests to buckets. Replaces all failures that were set before.
   *
   * @throws `ARGUMENT_INVALID` if a fault is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * localHub.setBucketFaults([{ kind: "error", status: 503, retryAfterSeconds: 1, operations: ["PUT"], keys: "log/*", count: 3 }]);
   * ```
   */
  setBucketFaults(faults: readonly BucketFault[]): void {
    this.#context().bucketFaults.set(faults);
  }

  /**
   * Sets what goes wrong with deliveries, so that the recovery of a receiver can be tested. Replaces all such faults that were set
   * before. Replays are always sent.
   *
   * @throws `ARGUMENT_INVALID` if a fault is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * localHub.setDeliveryFaults({ drop: 0.1, duplicate: 0.1, delay: "2s", reorder: true });
   * ```
   */
  setDeliveryFaults(faults: DeliveryFaults): void {
    this.#context().deliveryFaults.set(faults);
  }

  /**
   * Creates a link that signs a browser in to the web console once. The console shows the webhooks, events, repositories, and jobs,
   * and sends events. The link is valid for an hour. After a link was used, the local Hub logs a new one.
   *
   * @throws `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * console.log(`Console: ${localHub.createConsoleLink()}`); // http://127.0.0.1:…/_console/#/sign-in/…
   * ```
   */
  createConsoleLink(): string {
    this.#context();
    return this.#parts.console.createSignInLink(this.url);
  }

  /** Restores the initial state: deletes all webhooks, deliveries, jobs, and other changes. */
  reset(): void {
    this.#context().reset();
  }

  /**
   * Stops the server and the deliveries, and cancels running jobs. If there is a state file, pending deliveries stay in
   * it.
   */
  close(): Promise<void> {
    this.#closed ??= closeParts(this.#parts);
    return this.#closed;
  }

  /** Calls {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #trigger(event: ParsedEvent): Promise<HubDelivery[]> {
    const context = this.#context();
    const { deliveries } = triggerEvent(context, event);
    return Promise.all(deliveries.map((delivery) => context.dispatcher.waitUntilSettled(delivery)));
  }

  #findSpace(name: string): StoredRepository {
    const found = this.#context().store.repositories.get({ type: "space", name });
    if (found) return found;
    throw new WebhookError(`There is no Space ${JSON.stringify(name)}. Create it first.`, { code: "ARGUMENT_INVALID" });
  }

  #context(): HubContext {
    if (this.#closed === undefined) return this.#parts.context;
    throw new WebhookError("This local Hub is closed. Launch another local Hub with LocalHub.launch().", {
      code: "CLOSING",
    });
  }
}

/** A Space of a local Hub. */
export interface LocalSpace {
  /** The address, without a trailing slash. `undefined` if the local Hub does not run the Space. */
  url: string | undefined;
  /** Such as `RUNNING`, `SLEEPING`, or `BUILD_ERROR`. */
  stage: string;
  /** Why the Space does not run. */
  errorMessage: string | undefined;
}

interface Parts {
  context: HubContext;
  listener: Listener;
  sender: HttpSender;
  console: Console;
}

function resetStore(context: HubContext): void {
  const { store, dispatcher, jobs, spaces, bucketFaults, bucketFeed, deliveryFaults, now } = context;
  deliveryFaults.set({});
  bucketFaults.set([]);
  jobs.cancelAll();
  void spaces.close();
  for (const { id } of store.webhooks.all()) dispatcher.cancel(id);
  store.clear();
  seedStore(store, { now: now() });
  bucketFeed.checkAccess();
}

const closeGraceMs = 5_000;

async function closeParts({ context, listener, sender, console }: Parts): Promise<void> {
  console.close();
  const listenerClosed = listener.close(closeGraceMs);
  context.bucketFaults.close();
  context.bucketFeed.close();
  await Promise.all([context.dispatcher.close(), context.jobs.close(), context.spaces.close()]);
  await listenerClosed;
  sender.close();
  context.store.close();
}

/** Opens the store. Call this function after the server listens, so that a failed launch creates no state file. */
async function openStoreOrClose(options: Parameters<typeof openSeededStore>[0], listener: Listener): Promise<Store> {
  try {
    return openSeededStore(options);
  } catch (error) {
    await listener.close(0);
    throw error;
  }
}

/** Everything that a client of the S3 API needs. Pass it to `new S3Client()` of AWS, or copy the fields for another client. */
export interface BucketConnection {
  /** The endpoint of the namespace. Its URL contains the path `/s3/NAMESPACE`. */
  endpoint: string;
  region: "us-east-1";
  /** The endpoint has no subdomains for buckets. */
  forcePathStyle: true;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** As on the Hub, checksums after the body are not supported. */
  requestChecksumCalculation: "WHEN_REQUIRED";
  responseChecksumValidation: "WHEN_REQUIRED";
}

/** The environment variables with which a receiver stores its inbox in a bucket. */
export interface BucketVariables {
  INBOX_URL: string;
  AWS_ENDPOINT_URL_S3: string;
  AWS_ACCESS_KEY_ID: string;
  AWS_SECRET_ACCESS_KEY: string;
}
