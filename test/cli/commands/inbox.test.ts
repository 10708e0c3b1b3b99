// @module-tag slow

import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { checkBucket } from "../../../src/inbox/bucket/bucket-check.ts";
import { denied, FaultyS3, type S3Fault, slowDown } from "../../support/faulty-s3.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { type RunOptions, runCommand } from "../run-command.ts";

let s3: FaultyS3;
beforeEach(async () => {
  s3 = await FaultyS3.start();
});
afterEach(() => s3.close());

const never = new Promise<never>(() => {});

function check(argv: readonly string[] = [], options: RunOptions = {}) {
  return runCommand(["inbox", "check", ...argv], {
    env: { ...s3.variables(), NO_COLOR: "1" },
    stopped: never,
    ...options,
  });
}

/** Checks a bucket without the wait for the age of an object. */
function report() {
  const variables = s3.variables();
  return checkBucket({
    url: variables.INBOX_URL ?? "",
    log: createMemoryLogger(),
    readVariable: (name) => variables[name],
    signal: new AbortController().signal,
    wait: async (ms) => s3.advance(ms),
    races: 5,
  });
}

describe("hub-webhooks inbox check", () => {
  test("passes on a bucket that works but is slow, and removes all of its objects", async () => {
    s3.faults = [{ kind: "latency", ms: 1_100, operations: ["DELETE"], keys: "/write/", count: 1 }];
    const folder = createFolder();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await (await s3.open()).put("log/0000000000000001", new TextEncoder().encode("of a receiver"));
    const { verdict, parts, requestsPerDelivery, remaining } = await report();
    expect(parts.filter(({ outcome }) => outcome !== "passed")).toEqual([
      { name: "latency", outcome: "slow", details: expect.stringContaining("A takeover can take longer than 5 s") },
    ]);
    expect({ verdict, objects: remaining.objects }).toEqual({ verdict: "passed", objects: 0 });
    expect(parts.map(({ details }) => details)).toContainEqual(expect.stringMatching(/^5 races of 8 writes/));
    expect(requestsPerDelivery?.oneAtATime).toBeLessThanOrEqual(4);
    expect(requestsPerDelivery?.together).toBeLessThan(1);
    expect([...s3.objects.keys()]).toEqual(["inbox/test/log/0000000000000001"]);
    // The temporary inbox is closed.
    expect(readdirSync(folder)).toEqual([]);
    const changed = s3.history.filter(({ appliedAt, key }) => appliedAt !== undefined && !key.includes("/check/"));
    expect(changed).toHaveLength(1);
  });

  test.each<{ what: string; faults: S3Fault[]; part: string; details: RegExp }>([
    {
      what: "ignores conditions",
      faults: [{ kind: "ignored condition" }],
      part: "conditional writes",
      details: /8 of 8/,
    },
    {
      what: "ignores a condition",
      // The last of the first forty writes is not the first one for its key.
      faults: [{ kind: "ignored condition", keys: /check\/.*\/check\//, operations: ["PUT"], skip: 39, count: 1 }],
      part: "conditional writes",
      details: /two conditional writes for one key succeeded/,
    },
    {
      what: "rejects writes of new objects",
      faults: [{ kind: "false 412", keys: "/write/" }],
      part: "reads and lists after writes",
      details: /12 conditional writes were rejected/,
    },
    {
      what: "returns outdated lists",
      faults: [{ kind: "stale list", newest: 1, chance: 0.3 }],
      part: "reads and lists after writes",
      details: /\d of 36 lists were outdated/,
    },
    {
      what: "returns damaged objects",
      faults: [{ kind: "corrupted", keys: "/write/" }],
      part: "reads and lists after writes",
      details: /24 of 36 reads/,
    },
    {
      what: "is overloaded",
      faults: [{ ...slowDown, keys: /check\/.*\/check\//, operations: ["PUT"] }],
      part: "conditional writes",
      details: /SlowDown/,
    },
    ...(["PUT", "GET", "LIST", "DELETE"] as const).map((operation) => ({
      what: `denies ${operation}`,
      faults: [{ ...denied, operations: [operation] }],
      part: `permission to ${operation.toLowerCase()} objects`,
      details: /AccessDenied/,
    })),
  ])("fails on a bucket that $what", async ({ faults, part, details }) => {
    s3.faults = faults;
    const { verdict, parts, remaining } = await report();
    expect(verdict).toBe("failed");
    const failed = parts.filter(({ outcome }) => outcome === "failed");
    expect(failed).toEqual([{ name: part, outcome: "failed", details: expect.stringMatching(details) }]);
    expect(remaining.objects).toBe(s3.objects.size);
  });

  test("fails on a bucket that does not report the age of its objects", async () => {
    s3.faults = [{ kind: "answer", response: new Response("first"), operations: ["GET"], keys: "/first" }];
    const { parts } = await report();
    expect(parts.find(({ name }) => name === "ages of objects")).toMatchObject({ outcome: "failed" });
  });

  test("prints a table and a verdict, without the access key", async () => {
    s3.faults = [{ ...denied, operations: ["DELETE"] }];
    const { exitCode, stdout, stderr } = await check([], { isTerminal: true });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^CHECK +RESULT +DETAILS\npermission to put objects +passed/);
    expect(stdout).toMatch(/\npermission to delete objects +failed +.*AccessDenied/);
    expect(stderr).toMatch(/1 objects? of the check could not be removed.*\nThe bucket cannot be used for an inbox/);
    for (const secret of Object.values(s3.variables()).slice(2)) expect(stdout + stderr).not.toContain(secret);
  });

  test("removes its objects when it is interrupted", async () => {
    const stopped = Promise.withResolvers<void>();
    s3.faults = [{ kind: "latency", ms: 50, keys: "/write/" }];
    const checked = check(["--format", "json"], { stopped: stopped.promise });
    await expect.poll(() => [...s3.objects.keys()].some((key) => key.includes("/write/"))).toBe(true);
    stopped.resolve();
    const { exitCode, stdout } = await checked;
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "failed", remaining: { objects: 0 } });
    expect(JSON.parse(stdout).parts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ outcome: "passed", details: expect.stringMatching(/^30 races of 8 writes/) }),
        expect.objectContaining({ outcome: "skipped", details: "stopped" }),
      ]),
    );
    expect(s3.objects.size).toBe(0);
  });

  test.each(["sqlite:./inbox.db", "redis://:password@localhost", "postgres://me:password@localhost/db"])(
    "does not need to check %s",
    async (url) => {
      const { exitCode, stdout, stderr } = await check([url, "--format", "json"]);
      expect({ exitCode, verdict: JSON.parse(stdout).verdict }).toEqual({ exitCode: 0, verdict: "not needed" });
      expect(stderr).toContain("Only an inbox in a bucket");
      expect(stdout + stderr).not.toContain("password");
    },
  );

  test.each([
    { argv: [], env: {}, exitCode: 2, message: "There is no URL to check" },
    { argv: ["ftp://me"], env: {}, exitCode: 2, message: "Unsupported inbox URL. Set [url] to a file" },
    { argv: ["hf://me"], env: {}, exitCode: 2, message: "Set [url] to hf://buckets/NAMESPACE/BUCKET" },
    { argv: ["hf://buckets/me/inbox"], env: {}, exitCode: 1, message: "AWS_ACCESS_KEY_ID" },
  ])("reports wrong usage: $argv", async ({ argv, env, exitCode, message }) => {
    const result = await check(argv, { env });
    expect(result).toMatchObject({ exitCode, stdout: "" });
    expect(result.stderr).toContain(message);
  });
});
