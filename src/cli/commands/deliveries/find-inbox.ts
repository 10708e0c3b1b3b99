import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Which inbox to read where none is named, and what to note about it. */
export interface FoundInbox {
  /** `undefined`: the default inbox. */
  url: string | undefined;
  note: string;
}

/**
 * Looks for the inboxes of `hub-webhooks dev` in a folder: the latest one is read where there is no inbox of a server, and
 * mentioned where it is newer. `undefined` where there is nothing to note.
 */
export function findInbox(folder: string): FoundInbox | undefined {
  const inboxes = join(folder, ".hub-webhooks");
  const [latest] = namesIn(inboxes)
    .filter((name) => /^dev(?:-\d+)?\.db$/.test(name))
    .sort((left, right) => writtenAt(inboxes, right) - writtenAt(inboxes, left));
  if (latest === undefined) return undefined;
  const url = `sqlite:./.hub-webhooks/${latest}`;
  if (!namesIn(inboxes).includes("inbox.db")) return { url, note: `Reading ${url}, the inbox of hub-webhooks dev.` };
  if (writtenAt(inboxes, "inbox.db") > writtenAt(inboxes, latest)) return undefined;
  const note = `Reading the inbox of a server. For the one of hub-webhooks dev, add --inbox ${url}.`;
  return { url: undefined, note };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A file or its log, whichever was written last. */
function writtenAt(folder: string, name: string): number {
  const times = [name, `${name}-wal`].map(
    (file) => statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}
