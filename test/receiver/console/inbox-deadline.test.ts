import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withInboxDeadline } from "../../../src/receiver/console/source.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("An inbox that does not answer within 5 s counts as unavailable", async () => {
  const waiting = expect(withInboxDeadline(new Promise(() => {}))).rejects.toMatchObject({
    code: "INBOX_UNAVAILABLE",
    status: 503,
  });
  await vi.advanceTimersByTimeAsync(5_000);
  await waiting;
});

test("A slow change of the inbox can have a longer timeout", async () => {
  const answer = Promise.withResolvers<string>();
  const waiting = withInboxDeadline(answer.promise, 20_000);
  await vi.advanceTimersByTimeAsync(19_000);
  answer.resolve("done");
  expect(await waiting).toBe("done");
});
