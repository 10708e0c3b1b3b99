import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import { checkPrivateFolder, makePrivateFolder, syncFolder } from "../core/private-folder.ts";
import { withFileLock } from "./file-lock.ts";
import { secretHash } from "./secret-hash.ts";

const watched = z.array(z.strictObject({ type: z.string(), name: z.string() }));

/** The fields of a webhook that determine the deliveries and their destination. */
const webhookFields = z.strictObject({ url: z.string(), watched, domains: z.array(z.string()) });

/** The process that owns a temporary webhook. */
const registrationSession = z.strictObject({
  id: z.string().min(1),
  /** While the session is running, a GET request to `url` returns `answer`. The URL is on this machine. */
  alive: z.strictObject({ url: z.string(), answer: z.string().min(1) }),
});

const managedWebhook = z.strictObject({
  id: z.string().min(1),
  endpoint: z.string(),
  /** Absent if the secret is unknown, for example because the webhook was created elsewhere. */
  secret: secretHash.optional(),
  /**
   * The fields that were last written, and the fields that the Hub returned. They can differ, because the Hub can
   * normalize a URL.
   */
  written: webhookFields.optional(),
  returned: webhookFields.optional(),
  session: registrationSession.optional(),
});

const pendingWebhook = z.strictObject({
  /** The ID of this entry. */
  key: z.string().min(1),
  endpoint: z.string(),
  secret: secretHash,
  written: webhookFields,
  /** The IDs of the webhooks that existed before the creation. */
  existingIds: z.array(z.string()),
  startedAt: z.iso.datetime(),
  session: registrationSession.optional(),
});

const hubState = z.strictObject({ webhooks: z.array(managedWebhook), pending: z.array(pendingWebhook) });

const registrationState = z.strictObject({ version: z.literal(1), hubs: z.record(z.string(), hubState) });

/** A webhook that this package created or adopted. */
export type ManagedWebhook = z.output<typeof managedWebhook>;
/** A webhook that is being created. */
export type PendingWebhook = z.output<typeof pendingWebhook>;
/** The process that owns temporary webhooks. */
export type RegistrationSession = z.output<typeof registrationSession>;
/** The fields of a webhook that determine the deliveries and their destination. */
export type WebhookFields = z.output<typeof webhookFields>;
/** The managed webhooks on one Hub. */
export type HubState = z.output<typeof hubState>;
type RegistrationState = z.output<typeof registrationState>;

const defaultPath = join(".hub-webhooks", "registrations.json");

/**
 * The maximum time that a change waits for the lock, in milliseconds. Changes are short, because each one only reads
 * and writes a small file.
 */
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

  /**
   * @param options The path of the file (default: `.hub-webhooks/registrations.json` in the working directory), and the
   * URL of the Hub.
   */
  constructor({ path = defaultPath, hubUrl }: { path?: string | undefined; hubUrl: string }) {
    this.path = resolve(path);
    this.#hubUrl = hubUrl;
  }

  /**
   * Reads the state of this Hub. Does not create the file.
   *
   * @throws `STATE_UNUSABLE`.
   */
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
  runExclusive<Result>(
    work: () => Promise<Result>,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<Result> {
    return this.#withLock({ name: "exclusive", timeoutMs: exclusiveTimeoutMs, signal }, work);
  }

  async #withLock<Result>(
    { name, timeoutMs, signal }: { name: string; timeoutMs: number; signal?: AbortSignal | undefined },
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
    const json = parseJson(readText(this.path));
    const parsed = registrationState.safeParse(json);
    if (parsed.success) return parsed.data;
    throw new WebhookError(
      isNewerVersion(json)
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

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw registrationFileUnusable(path, error);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isNewerVersion(json: unknown): boolean {
  return typeof json === "object" && json !== null && "version" in json && Number(json.version) > 1;
}

function registrationFileUnusable(path: string, cause: unknown): WebhookError {
  return new WebhookError(
    `The state file "${path}" cannot be read or written (${messageOf(cause)}). Make the file and its folder readable and writable, or use another file (--state, or "state" in code).`,
    { code: "STATE_UNUSABLE", cause },
  );
}
