import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import { checkPrivateFolder, makePrivateFolder, syncFolder } from "../core/private-folder.ts";
import { withFileLock } from "./file-lock.ts";
import { type HubState, type RegistrationState, registrationState } from "./state.ts";

/** Where it is unless it is said, from the working directory. */
const defaultStateFile = join(".hub-webhooks", "registrations.json");

/** Whoever holds it only reads and writes a small file. */
const longestChangeMs = 10_000;

/** What a {@link StateFile} is made from. */
export interface StateFileOptions {
  /** Its path. Default: `.hub-webhooks/registrations.json` in the working directory. */
  path?: string | undefined;
  /** The Hub whose webhooks are meant: its address. */
  hub: string;
}

/**
 * The file that says which webhooks on a Hub are ours. It holds no secret, only what one can be recognised by.
 *
 * Several processes may use one file at the same time: each change reads it anew, under a lock, and writes it whole.
 */
export class StateFile {
  readonly path: string;
  readonly #hub: string;

  constructor({ path = defaultStateFile, hub }: StateFileOptions) {
    this.path = resolve(path);
    this.#hub = hub;
  }

  /**
   * What is known of the webhooks on this Hub. Where there is no file, it makes none.
   *
   * @throws `STATE_UNUSABLE`; the file is left as it is.
   */
  read(): HubState {
    return this.#of(this.#readAll());
  }

  /**
   * Changes what is known of this Hub, on the disk when it resolves. What `change` does with the state it is given is
   * written.
   *
   * @throws `STATE_UNUSABLE`; the file is left as it is.
   */
  async change<Result>(change: (state: HubState) => Result): Promise<Result> {
    return this.#locked({ name: "lock", waitMs: longestChangeMs }, () => {
      const all = this.#readAll();
      const state = this.#of(all);
      const result = change(state);
      const hubs = { ...all.hubs, [this.#hub]: state };
      if (state.webhooks.length + state.pending.length === 0) delete hubs[this.#hub];
      this.#write({ ...all, hubs });
      return result;
    });
  }

  /**
   * Does something long that nobody else may do with the same file at the same time, such as registering a server; the
   * file can be changed meanwhile.
   *
   * @throws `STATE_UNUSABLE` when others do it for longer than a minute.
   */
  alone<Result>(work: () => Promise<Result>, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<Result> {
    return this.#locked({ name: "turn", waitMs: 60_000, signal }, work);
  }

  async #locked<Result>(
    { name, waitMs, signal }: { name: string; waitMs: number; signal?: AbortSignal | undefined },
    work: () => Result | Promise<Result>,
  ): Promise<Result> {
    let isWorking = false;
    try {
      makePrivateFolder(dirname(this.path), "STATE_UNUSABLE");
      const done = await withFileLock({ file: `${this.path}.${name}`, waitMs, signal }, () => {
        isWorking = true;
        return work();
      });
      if (done) return done.result;
    } catch (error) {
      if (isWorking || signal?.aborted || WebhookError.isInstance(error)) throw error;
      throw unusable(this.path, error);
    }
    throw new WebhookError(
      `Another process works with "${this.path}" and does not come to an end: end that one, or name another file (--state, or "state" in code).`,
      { code: "STATE_UNUSABLE" },
    );
  }

  #of({ hubs }: RegistrationState): HubState {
    const state = Object.hasOwn(hubs, this.#hub) ? hubs[this.#hub] : undefined;
    return state ?? { webhooks: [], pending: [] };
  }

  #readAll(): RegistrationState {
    checkPrivateFolder(dirname(this.path), "STATE_UNUSABLE");
    if (!existsSync(this.path)) return { version: 1, hubs: {} };
    const read = parse(readText(this.path));
    const checked = registrationState.safeParse(read);
    if (checked.success) return checked.data;
    throw new WebhookError(
      isNewer(read)
        ? `"${this.path}" was written by a newer release of hub-webhooks: update this one.`
        : `"${this.path}" is not what hub-webhooks has written there, or it is damaged: name another file (--state, or "state" in code), or move it away. It says which webhooks were registered; without it, compare with hub-webhooks list.`,
      { code: "STATE_UNUSABLE" },
    );
  }

  /** Whole or not at all, also when the power fails meanwhile. */
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
      throw unusable(this.path, error);
    }
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unusable(path, error);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isNewer(read: unknown): boolean {
  return typeof read === "object" && read !== null && "version" in read && Number(read.version) > 1;
}

function unusable(path: string, cause: unknown): WebhookError {
  const reason = messageOf(cause);
  return new WebhookError(
    `The state of the registration cannot be kept in "${path}" (${reason}): name a file that can be read and written (--state, or "state" in code).`,
    { code: "STATE_UNUSABLE", cause },
  );
}
