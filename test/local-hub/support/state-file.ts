import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openLocalHub, type SpokenHub, type TestHubOptions } from "./hub.ts";

/** A folder that is gone after the test. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-state-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file that is not there yet. */
export function stateFile(): string {
  return join(openFolder(), "hub.sqlite");
}

/** A local Hub whose process ends now and then. */
export async function restart(before: SpokenHub, options: TestHubOptions): Promise<SpokenHub> {
  await before.hub.close();
  return openLocalHub(options);
}
