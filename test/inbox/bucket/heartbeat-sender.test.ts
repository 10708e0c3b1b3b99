import { expect, onTestFinished, test } from "vitest";
import { HeartbeatSender } from "../../../src/inbox/bucket/ownership.ts";
import { FaultyS3 } from "../../support/faulty-s3.ts";

test("a thread sends heartbeats while the event loop is blocked, until it is stopped", async () => {
  await using s3 = await FaultyS3.start();
  const { connection } = await s3.open();
  if (connection === undefined) throw new Error("A thread cannot open the store.");
  const errors: unknown[] = [];
  const sender = new HeartbeatSender({
    connection,
    key: "heartbeats/writer",
    heartbeat: { isReleased: false },
    intervalMs: 80,
    readPosition: () => 7,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => sender.stop());
  // The server runs on the event loop too, so it receives the request after the block.
  while (s3.history.length === 0) {
    const until = performance.now() + 60;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await sender.stop();
  const stored = s3.objects.get("inbox/test/heartbeats/writer");
  expect(JSON.parse(String(stored?.body))).toEqual({ isReleased: false, position: 7 });
  expect(errors).toEqual([]);
  const requests = s3.history.length;
  const until = performance.now() + 200;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(s3.history).toHaveLength(requests);
});
