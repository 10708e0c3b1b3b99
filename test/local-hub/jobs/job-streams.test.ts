import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { createId } from "../../../src/local-hub/accounts.ts";
import { JobRunner } from "../../../src/local-hub/jobs/job-runner.ts";
import { streamJobLogs } from "../../../src/local-hub/resources/jobs.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { openMemoryStore } from "../support/context.ts";

// The stream imports the function by name.
const pauses = vi.spyOn(timers, "setTimeout");
syncBuiltinESMExports();
afterEach(() => pauses.mockReset());
afterAll(() => {
  pauses.mockRestore();
  syncBuiltinESMExports();
});

/** Opens the stream of a job that is running. Each pause ends when its signal is aborted, or when `endPause` is called. */
function openStream() {
  let endPause = () => {};
  pauses.mockImplementation((_milliseconds, value, { signal } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<typeof value>();
    endPause = () => resolve(value);
    signal?.addEventListener("abort", () => reject(signal.reason));
    return promise;
  });
  const store = openMemoryStore();
  const runner = new JobRunner({
    ...{ store: store.jobs, runJobs: false, createId, log: createMemoryLogger(), now: () => 1 },
  });
  const definition = { flavor: "cpu-basic", environment: {}, timeoutSeconds: null, attempts: 1 } as const;
  const job = { id: "job", owner: "me", createdBy: "me", createdAt: 1, definition, secretNames: [], message: null };
  store.jobs.add({ ...job, stage: "RUNNING" }, {});
  const reader = streamJobLogs({ store: store.jobs, runner }, { jobId: "job", tail: undefined }).getReader();
  return {
    reader,
    read: async () => new TextDecoder().decode((await reader.read()).value),
    print(...lines: readonly string[]) {
      store.jobs.addLines(
        "job",
        lines.map((data) => ({ timestamp: 0, data })),
      );
      runner.changes.notify("job");
    },
    /** Marks the job as completed. */
    complete() {
      store.jobs.update({ ...job, stage: "COMPLETED" });
      runner.changes.notify("job");
    },
    endPause: () => endPause(),
    /** Returns the pauses that have not ended. */
    openPauses: () => pauses.mock.calls.filter(([, , options]) => options?.signal?.aborted !== true).length,
  };
}

const line = (data: string) => `data: ${JSON.stringify({ timestamp: "1970-01-01T00:00:00.000Z", data })}\n\n`;

test("A stream without new lines has a comment after each pause of 30 s", async () => {
  const { read, endPause, print } = openStream();
  expect(await read()).toBe(": stream\n\n");
  for (let comment = 1; comment <= 2; comment += 1) {
    const next = read();
    await vi.waitFor(() => expect(pauses).toHaveBeenCalledTimes(comment), { interval: 1 });
    expect(pauses).toHaveBeenLastCalledWith(30_000, false, expect.anything());
    endPause();
    expect(await next).toBe(": keep-alive\n\n");
  }
  print("later");
  expect(await read()).toBe(line("later"));
});

test("A new line ends the pause of a stream", async () => {
  const { read, print, openPauses } = openStream();
  await read();
  for (const data of ["first", "second"]) {
    const next = read();
    await vi.waitFor(() => expect(openPauses()).toBe(1), { interval: 1 });
    print(data);
    expect(await next).toBe(line(data));
  }
});

test("A stream contains each kept line once if the oldest lines were deleted", async () => {
  const { read, print, complete } = openStream();
  const lines = Array.from({ length: 10_600 }, (_, index) => `${index}`);
  print(...lines);
  complete();
  await read();
  let text = "";
  for (let part = await read(); part !== ""; part = await read()) text += part;
  expect(text).toBe(lines.slice(600).map(line).join(""));
});

test("A client that disconnects ends the pause of a stream", async () => {
  const { reader, read, openPauses } = openStream();
  await read();
  const next = reader.read();
  await vi.waitFor(() => expect(openPauses()).toBe(1), { interval: 1 });
  await reader.cancel();
  expect(openPauses()).toBe(0);
  expect(await next).toMatchObject({ done: true });
});
