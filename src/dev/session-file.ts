import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { isLoopbackHost } from "../core/urls.ts";

const sessionFile = z.object({
  pid: z.int().positive(),
  startedAt: z.optional(z.string()),
  folder: z.string(),
  /** Absent if the session uses the real Hub. */
  localHubUrl: z.optional(z.string()),
  /** Absent if the server accepts deliveries without a secret. */
  secret: z.optional(z.string()),
});

/** What `hub-webhooks trigger` reads of a running `dev` session or local Hub (`hub`). `port`: of the server, or of the local Hub. */
export type SessionRecord = Omit<z.output<typeof sessionFile>, "pid" | "startedAt"> & { port: number };

/**
 * Stores a session for `hub-webhooks trigger` in a file that only the current user can read. Replaces an earlier file of
 * the same port. Returns a function that deletes the file.
 *
 * @throws errors of the file system, and an error if another user owns the folder.
 */
export function writeSessionFile({ port, ...session }: SessionRecord): () => void {
  const folder = sessionsFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivate(folder)) throw new Error(`"${folder}" belongs to another user, or other users can write to it`);
  const file = join(folder, fileName(port));
  // Delete an existing file first, because `mode` applies only when a file is created.
  rmSync(file, { force: true });
  const { pid } = process;
  writeFileSync(file, JSON.stringify({ pid, startedAt: startOf(pid), ...session }), { mode: 0o600, flag: "wx" });
  return () => rmSync(file, { force: true });
}

/** Returns the secret of the session that is running at a local URL, or `undefined` if there is no such session. */
export function findSessionSecret(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "http:" || !isLoopbackHost(parsed.hostname)) return undefined;
  return readSessionFile(fileName(Number(parsed.port || 80)))?.secret;
}

/** Returns the URL of the local Hub that the latest running `dev` or `hub` in this folder has started. */
export function findSessionHub(folder: string): string | undefined {
  return sessionFileNames()
    .flatMap((name) => readSessionFile(name) ?? [])
    .filter((session) => session.folder === folder && session.localHubUrl !== undefined)
    .sort((left, right) => right.writtenAt - left.writtenAt)[0]?.localHubUrl;
}

function sessionFileNames(): readonly string[] {
  try {
    return readdirSync(sessionsFolder()).filter((name) => /^dev-\d+\.json$/.test(name));
  } catch {
    return [];
  }
}

/** Returns `undefined` if the file cannot be read or trusted, or if the session is no longer running. */
function readSessionFile(name: string): (z.output<typeof sessionFile> & { writtenAt: number }) | undefined {
  try {
    const folder = sessionsFolder();
    if (!isPrivate(folder)) return undefined;
    const file = join(folder, name);
    const session = sessionFile.parse(JSON.parse(readFileSync(file, "utf8")));
    // Throws if the process of the session no longer exists, for example because it was killed.
    process.kill(session.pid, 0);
    // Another process can have its PID now.
    if (session.startedAt !== startOf(session.pid)) return undefined;
    return { ...session, writtenAt: statSync(file).mtimeMs };
  } catch {
    return undefined;
  }
}

/** Returns when a process started, in ticks since the start of the machine. `undefined` on other systems than Linux. */
function startOf(pid: number): string | undefined {
  try {
    // The name of the program, in parentheses, can contain spaces and parentheses.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19];
  } catch {
    return undefined;
  }
}

function sessionsFolder(): string {
  return join(tmpdir(), `hub-webhooks-${process.getuid?.() ?? userInfo().username}`);
}

function fileName(port: number): string {
  return `dev-${port}.json`;
}

/** Any user can create a folder with this name in a shared temporary folder. */
function isPrivate(folder: string): boolean {
  const found = lstatSync(folder);
  if (process.getuid === undefined) return found.isDirectory();
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o077) === 0;
}

/** The file with the URL of the local Hub and the secret of the server, which `hub-webhooks trigger` reads. */
export class StoredSession {
  readonly #session: Pick<SessionRecord, "port" | "localHubUrl">;
  readonly #onFailure: (error: unknown) => void;
  /** The secret in the file; `null` before the file is written. */
  #secret: string | undefined | null = null;
  #remove: () => void = () => {};
  #isClosed = false;

  /** @param onFailure called if the session cannot be stored for the first time. */
  constructor(session: Pick<SessionRecord, "port" | "localHubUrl">, onFailure: (error: unknown) => void) {
    this.#session = session;
    this.#onFailure = onFailure;
  }

  /** Writes the file if the secret has changed, which every reload can do. */
  store(secret: string | undefined): void {
    if (secret === this.#secret || this.#isClosed) return;
    const isFirst = this.#secret === null;
    this.#secret = secret;
    try {
      this.#remove = writeSessionFile({ ...this.#session, folder: process.cwd(), secret });
    } catch (error) {
      if (isFirst) this.#onFailure(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#remove();
  }
}
