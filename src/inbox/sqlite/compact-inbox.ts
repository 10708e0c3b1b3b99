import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { isBusy, isFull } from "../../core/files.ts";
import { openInboxDatabase } from "./database.ts";

/** The size of the file before and after compaction, in bytes. */
export interface CompactedInbox {
  bytesBefore: number;
  bytesAfter: number;
}

/**
 * Returns the unused space of an inbox to the disk. Afterwards, pruning also returns unused space. Stop all processes that use the
 * inbox first.
 *
 * @throws `INBOX_IN_USE` if a process has the inbox open, `INBOX_UNUSABLE` if the file is not an inbox or cannot be compacted.
 */
export function compactInboxFile(file: string): CompactedInbox {
  // Opening the inbox checks and migrates the file.
  openInboxDatabase(file, { mustExist: true }).close();
  const bytesBefore = statSync(file).size;
  const database = new DatabaseSync(file);
  try {
    // This fails while another connection is open, even if that connection is idle.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
    database.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM");
  } catch (error) {
    throw compactError(error, file);
  } finally {
    database.close();
  }
  return { bytesBefore, bytesAfter: statSync(file).size };
}

function compactError(error: unknown, file: string): WebhookError {
  const path = resolve(file);
  if (isBusy(error)) {
    return new WebhookError(
      `The inbox "${path}" is in use by another process. Stop the server, compact the inbox, then start the server again.`,
      { code: "INBOX_IN_USE", retryable: true },
    );
  }
  const remedy = isFull(error) ? "Free at least as much disk space as the inbox uses, then try again." : "Try again.";
  return new WebhookError(`The inbox "${path}" could not be compacted: ${messageOf(error)}. ${remedy}`, {
    code: "INBOX_UNUSABLE",
    cause: error,
  });
}
