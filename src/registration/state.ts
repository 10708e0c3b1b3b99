import { randomBytes, randomUUID, scrypt, timingSafeEqual } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import * as z from "zod/mini";
import { messageOf, readOwnField } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { checkPrivateFolder, isBusy, makePrivateFolder, syncFolder } from "../core/files.ts";
import { loadOnce } from "../core/time.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import { fieldsOf, isSameUrl, isSameWatched, webhookFields } from "./webhook.ts";

// An `import` would fail in old versions of Node before `errors.ts` can say which version is required.
const sqlite = process.getBuiltinModule("node:sqlite");

const retryDelayMs = 20;

interface LockOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Runs `work` while holding a lock that excludes other processes and other calls in this process. Returns `undefined`
 * if the lock was not available in time. The lock is an SQLite transaction, which the operating system releases when
 * the process exits, so there are no stale locks.
 *
 * @param options.file the path of the lock file, which must have no other use. The folder must exist.
 * @throws errors from the file system, SQLite, and `work`, and the signal's abort reason.
 */
export async function withFileLock<Result>(
  { file, timeoutMs, signal }: LockOptions & { file: string },
  work: () => Result | Promise<Result>,
): Promise<{ result: Result } | undefined> {
  const startedAt = performance.now();
  // Create the file only if it does not exist. On most systems, closing a file releases all locks that the process
  // holds on that file.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new sqlite.DatabaseSync(file, { timeout: 0 });
  try {
    while (!tryLock(database)) {
      if (performance.now() - startedAt > timeoutMs) return undefined;
      await sleep(retryDelayMs, undefined, { signal }).catch(() => {});
      signal?.throwIfAborted();
    }
    return { result: await work() };
  } finally {
    // Close the database to end the transaction, which releases the lock.
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** The hash of a secret, or `null` for no secret. A hash can be compared with a secret, but does not reveal the secret. */
const secretHash = z.union([z.null(), z.strictObject({ salt: z.string(), hash: z.string() })]);
export type SecretHash = z.output<typeof secretHash>;

/** The hash of a secret whose change was interrupted, so that the webhook has the former or the new secret. Matches no secret. */
export const uncertainSecret: SecretHash = { salt: "", hash: "" };

const deriveKey = promisify<string, Buffer, number, Buffer>(scrypt);
const saltBytes = 16;
const hashBytes = 32;

/**
 * Hashes a secret for the state file, and checks whether a stored hash matches the secret. Hashes are cached, because
 * computing a hash takes about 50 ms and the webhooks of a server usually share a secret.
 */
export class SecretHasher {
  readonly #secret: string | undefined;
  readonly #hashes = new Map<string, Promise<Buffer>>();

  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  readonly hash = loadOnce(async (): Promise<SecretHash> => {
    if (this.#secret === undefined) return null;
    const salt = randomBytes(saltBytes).toString("hex");
    return { salt, hash: (await this.#derive(this.#secret, salt)).toString("hex") };
  });

  /** Whether a stored hash matches this secret. `undefined` (an unknown secret) never matches. */
  async matches(stored: SecretHash | undefined): Promise<boolean> {
    if (stored === undefined || stored === null || this.#secret === undefined) {
      return stored === null && this.#secret === undefined;
    }
    const expected = Buffer.from(stored.hash, "hex");
    const actual = await this.#derive(this.#secret, stored.salt);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }

  #derive(secret: string, salt: string): Promise<Buffer> {
    const hash = this.#hashes.get(salt) ?? deriveKey(secret, Buffer.from(salt, "hex"), hashBytes);
    this.#hashes.set(salt, hash);
    return hash;
  }
}

/** The process that owns a temporary webhook. */
const registrationSession = z.strictObject({
  id: z.string().check(z.minLength(1)),
  /** While the session is running, a GET request to `url` returns `answer`. The URL is on this machine. */
  alive: z.strictObject({ url: z.string(), answer: z.string().check(z.minLength(1)) }),
});

const managedWebhook = z.strictObject({
  id: z.string().check(z.minLength(1)),
  endpoint: z.string(),
  /** Absent if the secret is unknown, for example because the webhook was created elsewhere. */
  secret: z.optional(secretHash),
  /**
   * The fields that were last written, and the fields that the Hub returned. They can differ, because the Hub can
   * normalize a URL.
   */
  written: z.optional(webhookFields),
  returned: z.optional(webhookFields),
  session: z.optional(registrationSession),
});

const pendingWebhook = z.strictObject({
  key: z.string().check(z.minLength(1)),
  endpoint: z.string(),
  secret: secretHash,
  written: webhookFields,
  /** The IDs of the webhooks that existed before the creation. */
  existingIds: z.array(z.string()),
  startedAt: z.iso.datetime(),
  session: z.optional(registrationSession),
});

const hubState = z.strictObject({ webhooks: z.array(managedWebhook), pending: z.array(pendingWebhook) });

const registrationState = z.strictObject({ version: z.literal(1), hubs: z.record(z.string(), hubState) });

export type ManagedWebhook = z.output<typeof managedWebhook>;
export type PendingWebhook = z.output<typeof pendingWebhook>;
export type RegistrationSession = z.output<typeof registrationSession>;
export type HubState = z.output<typeof hubState>;
type RegistrationState = z.output<typeof registrationState>;

/** How long an interrupted request can still create a webhook. */
const maxCreationMs = 10 * 60_000;

interface ResolvedCreation {
  pending: PendingWebhook;
  /** The created webhook. Absent if the Hub did not create a webhook. */
  created?: ManagedWebhook;
}

/**
 * Finds the outcomes of interrupted creations, for example after a crash. A webhook was created if the Hub lists a
 * webhook with the same URL and watched items that did not exist before. Otherwise, a creation remains unresolved for
 * 10 minutes, because the Hub can still create the webhook during this time.
 */
export function resolvePending(
  pending: readonly PendingWebhook[],
  { state, listed, now }: { state: HubState; listed: readonly Webhook[]; now: number },
): ResolvedCreation[] {
  const assigned = new Set(state.webhooks.map(({ id }) => id));
  const resolved: ResolvedCreation[] = [];
  for (const entry of pending) {
    const webhook = listed.find((candidate) => !assigned.has(candidate.id) && isCreatedFrom(entry, candidate));
    if (webhook) {
      assigned.add(webhook.id);
      const { endpoint, secret, written, session } = entry;
      const returned = fieldsOf(webhook);
      resolved.push({ pending: entry, created: { id: webhook.id, endpoint, secret, written, returned, session } });
    } else if (now - Date.parse(entry.startedAt) > maxCreationMs) {
      resolved.push({ pending: entry });
    }
  }
  return resolved;
}

/** Removes resolved creations from `pending`, and records the created webhooks as managed. */
export function recordResolved(state: HubState, resolved: readonly ResolvedCreation[]): void {
  const keys = new Set(resolved.map(({ pending }) => pending.key));
  state.pending = state.pending.filter(({ key }) => !keys.has(key));
  for (const { created } of resolved) {
    if (created && !state.webhooks.some(({ id }) => id === created.id)) state.webhooks.push(created);
  }
}

function isCreatedFrom({ written, existingIds }: PendingWebhook, { id, url, watched }: Webhook): boolean {
  return (
    !existingIds.includes(id) &&
    url !== undefined &&
    isSameUrl(url, written.url) &&
    isSameWatched(watched, written.watched)
  );
}

const defaultPath = join(".hub-webhooks", "registrations.json");

/** The maximum time that a change waits for the lock. Changes are short, because each one only reads and writes a small file. */
const changeTimeoutMs = 10_000;
const exclusiveTimeoutMs = 60_000;

/**
 * The state file, which records the webhooks that this package manages. Contains hashes instead of secrets.
 *
 * Several processes can use the same file, because each change reads and writes the whole file while holding a lock.
 */
export class RegistrationFile {
  readonly path: string;
  readonly #hubUrl: string;

  /** `path`: default `.hub-webhooks/registrations.json` in the working directory. */
  constructor({ path = defaultPath, hubUrl }: { path?: string | undefined; hubUrl: string }) {
    this.path = resolve(path);
    this.#hubUrl = hubUrl;
  }

  /** Reads the state of this Hub. Does not create the file. @throws `STATE_UNUSABLE`. */
  read(): HubState {
    return this.#select(this.#readAll());
  }

  /**
   * Applies `change` to the state of this Hub. When the promise resolves, the state is stored on disk.
   *
   * @throws `STATE_UNUSABLE`. The file is then unchanged.
   */
  async change<Result>(change: (state: HubState) => Result): Promise<Result> {
    return this.#withLock({ name: "lock", timeoutMs: changeTimeoutMs }, () => {
      const all = this.#readAll();
      const state = this.#select(all);
      const result = change(state);
      const hubs = { ...all.hubs, [this.#hubUrl]: state };
      if (state.webhooks.length + state.pending.length === 0) delete hubs[this.#hubUrl];
      this.#write({ ...all, hubs });
      return result;
    });
  }

  /**
   * Runs long work that must not run twice at the same time for one file, such as the registration of a server. Other
   * processes can change the file while the work is running.
   *
   * @throws `STATE_UNUSABLE` if other processes hold the lock for more than one minute.
   */
  runExclusive<Result>(work: () => Promise<Result>, { signal }: Pick<LockOptions, "signal"> = {}): Promise<Result> {
    return this.#withLock({ name: "exclusive", timeoutMs: exclusiveTimeoutMs, signal }, work);
  }

  async #withLock<Result>(
    { name, timeoutMs, signal }: LockOptions & { name: string },
    work: () => Result | Promise<Result>,
  ): Promise<Result> {
    let isWorking = false;
    try {
      makePrivateFolder(dirname(this.path), "STATE_UNUSABLE");
      const done = await withFileLock({ file: `${this.path}.${name}`, timeoutMs, signal }, () => {
        isWorking = true;
        return work();
      });
      if (done) return done.result;
    } catch (error) {
      if (isWorking || signal?.aborted || WebhookError.isInstance(error)) throw error;
      throw registrationFileUnusable(this.path, error);
    }
    throw new WebhookError(
      `Another process holds the lock of the state file "${this.path}". Stop that process, or use another file (--state, or "state" in code).`,
      { code: "STATE_UNUSABLE" },
    );
  }

  #select({ hubs }: RegistrationState): HubState {
    const state = Object.hasOwn(hubs, this.#hubUrl) ? hubs[this.#hubUrl] : undefined;
    return state ?? { webhooks: [], pending: [] };
  }

  #readAll(): RegistrationState {
    checkPrivateFolder(dirname(this.path), "STATE_UNUSABLE");
    if (!existsSync(this.path)) return { version: 1, hubs: {} };
    const json = readJson(this.path);
    const parsed = registrationState.safeParse(json);
    if (parsed.success) return parsed.data;
    throw new WebhookError(
      Number(readOwnField(json, "version")) > 1
        ? `The state file "${this.path}" was written by a newer version of hub-webhooks. Update hub-webhooks.`
        : `The state file "${this.path}" is damaged or was not written by hub-webhooks. Use another file (--state, or "state" in code), or move this file away. The file records the registered webhooks. Without the file, find the webhooks with hub-webhooks list.`,
      { code: "STATE_UNUSABLE" },
    );
  }

  /** Writes the file atomically, even if the power fails. */
  #write(state: RegistrationState): void {
    const temporary = `${this.path}.${randomUUID()}`;
    try {
      const descriptor = openSync(temporary, "wx", 0o600);
      try {
        writeFileSync(descriptor, `${JSON.stringify(state, null, 2)}\n`);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(temporary, this.path);
      syncFolder(dirname(this.path));
    } catch (error) {
      rmSync(temporary, { force: true });
      throw registrationFileUnusable(this.path, error);
    }
  }
}

/** Returns `undefined` if a file is not JSON. @throws `STATE_UNUSABLE` if it cannot be read. */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw registrationFileUnusable(path, error);
  }
}

function registrationFileUnusable(path: string, cause: unknown): WebhookError {
  return new WebhookError(
    `The state file "${path}" cannot be read or written (${messageOf(cause)}). Make the file and its folder readable and writable, or use another file (--state, or "state" in code).`,
    { code: "STATE_UNUSABLE", cause },
  );
}
