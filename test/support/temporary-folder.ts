import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder and removes it after the test. Its path contains no symbolic links. */
export function createFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hub-webhooks-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
