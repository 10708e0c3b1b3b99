import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { isLoopbackHost } from "../core/loopback.ts";

const sessionNote = z.object({ pid: z.int().positive(), secret: z.string() });

/**
 * Notes the secret of a session for `hub-webhooks trigger --url`, in a file that only its owner can read, by the port of
 * the session. Returns the function that removes it.
 *
 * @throws what the file system says, also where another user has taken the folder.
 */
export function noteSessionSecret({ port, secret }: { port: number; secret: string }): () => void {
  const folder = notesFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isOurs(folder)) throw new Error(`"${folder}" belongs to another user, or others may write to it`);
  const file = noteOf(port);
  // Anew, so that its mode is this one.
  rmSync(file, { force: true });
  writeFileSync(file, JSON.stringify({ pid: process.pid, secret }), { mode: 0o600, flag: "wx" });
  return () => rmSync(file, { force: true });
}

/** The secret of the session that runs at this URL of this machine; `undefined` where there is none, or it has none. */
export function findSessionSecret(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "http:" || !isLoopbackHost(parsed.hostname)) return undefined;
  try {
    if (!isOurs(notesFolder())) return undefined;
    const { pid, secret } = sessionNote.parse(JSON.parse(readFileSync(noteOf(Number(parsed.port || 80)), "utf8")));
    // Throws where the session was killed, and its note is still there.
    process.kill(pid, 0);
    return secret;
  } catch {
    return undefined;
  }
}

function notesFolder(): string {
  return join(tmpdir(), `hub-webhooks-${process.getuid?.() ?? userInfo().username}`);
}

function noteOf(port: number): string {
  return join(notesFolder(), `dev-${port}.json`);
}

/** Anyone can make a folder of that name in a temporary folder that all share. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder);
  if (process.getuid === undefined) return found.isDirectory();
  return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o077) === 0;
}
