import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { isLoopbackHost } from "../core/loopback.ts";

const secretFile = z.object({ pid: z.int().positive(), secret: z.string() });

/**
 * Stores the secret of a session for `hub-webhooks trigger --url`. The file is named after the port, and only the
 * current user can read it. Returns the function that deletes the file.
 *
 * @throws errors of the file system, and an error if another user owns the folder.
 */
export function writeSecretFile({ port, secret }: { port: number; secret: string }): () => void {
  const folder = secretsFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivate(folder)) throw new Error(`"${folder}" belongs to another user, or others may write to it`);
  const file = secretFilePath(port);
  // Delete any existing file: `mode` applies only when a file is created.
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify({ pid: process.pid, secret }), { mode: 0o600, flag: "wx" });
  return () => rmSync(file, { force: true });
}

/** Returns the secret of the session that is running at this local URL, or `undefined` if there is no such session. */
export function readSecretFile(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "http:" || !isLoopbackHost(parsed.hostname)) return undefined;
  try {
    if (!isPrivate(secretsFolder())) return undefined;
    const text = readFileSync(secretFilePath(Number(parsed.port || 80)), "utf8");
    const { pid, secret } = secretFile.parse(JSON.parse(text));
    // Throws if the process of the session no longer exists, for example because it was killed.
    process.kill(pid, 0);
    return secret;
  } catch {
    return undefined;
  }
}

function secretsFolder(): string {
  return join(tmpdir(), `hub-webhooks-${process.getuid?.() ?? userInfo().username}`);
}

function secretFilePath(port: number): string {
  return join(secretsFolder(), `dev-${port}.json`);
}

/**
 * Whether only the current user can access the folder. In a shared temporary folder, anyone can create a folder with
 * that name.
 */
function isPrivate(folder: string): boolean {
  const found = lstatSync(folder);
  if (process.getuid === undefined) return found.isDirectory();
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o077) === 0;
}
