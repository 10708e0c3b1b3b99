import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder of a benchmark's inbox. The starting process deletes it, because subjects are killed. */
export const inboxFolder = join(tmpdir(), "hub-webhooks-bench-inbox");
