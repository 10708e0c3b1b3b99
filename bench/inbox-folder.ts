import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where the inbox of a benchmark lies: a subject is killed, so whoever started it cleans up. */
export const inboxFolder = join(tmpdir(), "hub-webhooks-bench-inbox");
