import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The path of a future file, in a folder that is removed after the test. */
export function inboxFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-inbox-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "inbox.db");
}
