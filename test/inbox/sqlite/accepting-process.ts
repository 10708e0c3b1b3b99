import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Accepts deliveries one after another, and says the id of each once it is acknowledged. Its handlers never end. */
const inbox = new SqliteInbox({ file: process.env.FILE ?? "", now: Date.now, log: createMemoryLogger });
const body = "x".repeat(2_000);
for (let count = 0; ; count += 1) {
  const ids = Array.from({ length: 5 }, (_, index) => `${process.pid}-${count}-${index}`);
  await Promise.all(ids.map((id) => inbox.accept({ id, endpoint: "retrain", body, receivedAt: new Date() })));
  process.stdout.write(`${ids.join("\n")}\n`);
}
