import { expect, vi } from "vitest";
import { type Job, job } from "../../../src/hub/jobs.ts";
import type { TestHub } from "./hub.ts";

/** Returns the jobs of a local Hub, newest first. */
export async function jobs(hub: TestHub): Promise<Job[]> {
  return job.array().parse((await hub.request("GET /_local/jobs", { token: null })).body);
}

/** Waits until every job has ended, and returns them, newest first. */
export async function waitForJobs(hub: TestHub, count = 1): Promise<Job[]> {
  return vi.waitFor(
    async () => {
      const found = await jobs(hub);
      expect(found).toHaveLength(count);
      for (const { status } of found) expect(status.stage, JSON.stringify(status)).not.toMatch(/SCHEDULING|RUNNING/);
      return found;
    },
    { interval: 20, timeout: 15_000 },
  );
}

/** Returns the output of the jobs, line by line. */
export function output(hub: TestHub): unknown[] {
  return hub.log.lines.filter(({ msg }) => msg === "job output").map(({ line }) => line);
}
