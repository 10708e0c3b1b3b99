import { describe, expect, test } from "vitest";
import { bodyOf, type DeliveryJob, retryFinished, toJobData } from "../../../src/inbox/bullmq/stored-job.ts";
import { incoming } from "../engine.ts";

test.each(["{}", "Grüße 🪝", "\u0000", "\ud83d", "\udf32\ud83d", ""])("A job stores the body %j unchanged", (body) => {
  expect(bodyOf(toJobData(incoming("a", { body })))).toBe(body);
});

test.each(["\u0000", "\ud83d", "\udf32\ud83d"])("A job encodes the body %j, which jsonb cannot store", (body) => {
  expect(JSON.stringify(toJobData(incoming("a", { body })))).toMatch(/^[\w{}:=",+/]*$/);
});

describe("A dead delivery that cannot be queued again", () => {
  const refused = new Error("The job cannot be retried.");

  function jobIn(state: string, error = refused): DeliveryJob {
    const job: Partial<DeliveryJob> = {
      attemptsStarted: 1,
      log: async () => 1,
      retry: () => Promise.reject(error),
      getState: async () => state as "failed",
    };
    return job as DeliveryJob;
  }

  test("was replayed by another process if it is no longer dead", async () => {
    expect(await retryFinished(jobIn("waiting"), "failed")).toBe(false);
  });

  test("was replayed by another process if it is dead again", async () => {
    const error = Object.assign(new Error("Job is not in the failed state."), { code: -3 });
    expect(await retryFinished(jobIn("failed", error), "failed")).toBe(false);
  });

  test("was pruned by another process if it is no longer stored", async () => {
    expect(await retryFinished(jobIn("unknown"), "failed")).toBeUndefined();
  });

  test("is an error if it is still dead", async () => {
    await expect(retryFinished(jobIn("failed"), "failed")).rejects.toBe(refused);
  });
});
