import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openLocalHub, type TestHub, type TestHubOptions } from "./hub.ts";

/** Creates a folder that is deleted after the test. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-state-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the path of a file that does not exist yet. */
export function stateFile(): string {
  return join(openFolder(), "hub.sqlite");
}

/** Closes a local Hub and launches another one. */
export async function restart(before: TestHub, options: TestHubOptions): Promise<TestHub> {
  await before.hub.close();
  return openLocalHub(options);
}
