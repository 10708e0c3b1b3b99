import { expect, vi } from "vitest";
import { type Job, job } from "../../../src/hub/jobs.ts";
import type { SpokenHub } from "./hub.ts";

/** The jobs of a local Hub, newest first. */
export async function jobs(hub: SpokenHub): Promise<Job[]> {
  return job.array().parse((await hub.ask("GET /_local/jobs", { token: null })).body);
}

/** Waits until no job is to come or under way, and returns them, newest first. */
export async function ended(hub: SpokenHub, count = 1): Promise<Job[]> {
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

/** What the jobs have written, line by line. */
export function output(hub: SpokenHub): unknown[] {
  return hub.log.lines.filter(({ msg }) => msg === "job output").map(({ line }) => line);
}
