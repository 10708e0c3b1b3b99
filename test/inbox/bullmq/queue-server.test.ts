import { expect, test, vi } from "vitest";
import { openQueue, type QueueServer } from "../../../src/inbox/bullmq/queue-server.ts";
import { waitFor } from "../../support/wait-for.ts";

test("A queue that cannot reach its server is closed and reported as failed", async () => {
  const queue = { waitUntilReady: vi.fn().mockRejectedValue(new Error("ECONNREFUSED")), close: vi.fn(async () => {}) };
  const onFailed = vi.fn();
  openQueue({ openQueue: () => queue } as unknown as QueueServer, "retrain", onFailed);
  await waitFor(() => expect([onFailed.mock.calls.length, queue.close.mock.calls.length]).toEqual([1, 1]));
});
