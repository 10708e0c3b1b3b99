import { expect, onTestFinished, test } from "vitest";
import { openInbox } from "../../src/inbox/open-inbox.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

test("An inbox in memory logs a warning that its deliveries are lost with the process", async () => {
  const logger = createMemoryLogger();
  const inbox = await openInbox({ url: "sqlite::memory:", now: Date.now, log: logger });
  onTestFinished(async () => void (await inbox.close(0)));
  expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("lost") }]);
});
