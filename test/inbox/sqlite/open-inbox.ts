import { onTestFinished } from "vitest";
import type { SqliteInboxOptions } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { emptyInboxFile } from "../inbox-file.ts";

export { failed, hold, incoming, succeeded, waitForStatus, work } from "../engine.ts";

/** Opens an inbox with short intervals and closes it after the test. */
export function openInbox(options: Partial<SqliteInboxOptions> = {}) {
  const logger = createMemoryLogger();
  const file = options.file ?? emptyInboxFile();
  const inbox = new SqliteInbox({ now: Date.now, pollMs: 20, log: logger, ...options, file });
  onTestFinished(async () => void (await inbox.close(1_000)));
  return { inbox, file, logger };
}
