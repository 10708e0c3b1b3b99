import { expect, test } from "vitest";
import { HandlerRuns } from "../../../src/inbox/bullmq/handler-runs.ts";
import type { EndpointQueue } from "../../../src/inbox/inbox.ts";
import { incoming, type succeeded } from "../engine.ts";

test.each([
  ["before", "after"],
  ["after", "before"],
  ["before", "before"],
  ["after", "after"],
] as const)(
  "A run is aborted if the inbox closes %s its start, and ends if the grace period ends %s its start",
  async (...at) => {
    const [closesAt, endsAt] = at;
    const signals: AbortSignal[] = [];
    const ignored = Promise.withResolvers<typeof succeeded>();
    const queue: Pick<EndpointQueue, "run"> = {
      run(_claimed, signal) {
        signals.push(signal);
        return ignored.promise;
      },
    };
    const runs = new HandlerRuns(queue, () => 0);
    if (closesAt === "before") runs.abortAll();
    if (endsAt === "before") runs.giveUp();
    const running = runs.run("job", { ...incoming("job"), attempt: 1, isLastAttempt: false, retryDelayMs: 0 });
    if (closesAt === "after") runs.abortAll();
    if (endsAt === "after") runs.giveUp();
    expect(signals[0]?.reason).toMatchObject({ code: "CLOSING" });
    expect(await running).toMatchObject({ outcome: "unfinished", isInterrupted: true, hasLostLease: false });
  },
);
