import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { ClockSkew, StallDetector } from "../../src/inbox/bullmq/health.ts";
import { inboxMissing, serverUnusable } from "../../src/inbox/bullmq/queue-server.ts";
import { deliveryRunning, inboxClosing, inboxFull, inboxUnavailable, leaseLost } from "../../src/inbox/errors.ts";
import type { InboxProblem } from "../../src/inbox/inbox.ts";
import { compactInbox, openInbox as openByUrl } from "../../src/inbox/open-inbox.ts";
import { createRetryPolicy } from "../../src/inbox/retry.ts";
import { createDamageTracker } from "../../src/inbox/sqlite/context.ts";
import { openInboxDatabase } from "../../src/inbox/sqlite/database.ts";
import { DiskSpace } from "../../src/inbox/sqlite/file-system.ts";
import { errorsOf, maskAddresses } from "../support/error-messages.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { inboxFile } from "./inbox-file.ts";
import { hurry, incoming, openInbox } from "./sqlite/open-inbox.ts";

/**
 * The snapshot contains the wording of the inbox's messages. After a change, run vitest with `-u` and review the diff.
 * Other tests assert codes.
 */

const open = (url: string, mustExist = false) =>
  openByUrl({ url, mustExist, now: Date.now, log: createMemoryLogger() });
const thrown = (error: unknown) => () => Promise.reject(error);
const shown = (problems: readonly (InboxProblem | undefined)[]) =>
  problems.map((problem) => maskAddresses(`${problem?.code} (${problem?.severity}): ${problem?.message}`));

/** Creates a file and runs this SQL in it. */
function fileOf(sql: string): string {
  const file = inboxFile();
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
  return file;
}

/** Creates an inbox file and runs this SQL in it. */
function changedInbox(sql: string): string {
  const file = inboxFile();
  const database = openInboxDatabase(file);
  database.exec(sql);
  database.close();
  return file;
}

test("Inboxes that cannot be opened", async () => {
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_S3"]) vi.stubEnv(name, "");
  const text = inboxFile();
  writeFileSync(text, "dear diary, ".repeat(500));
  expect(
    await errorsOf({
      "unsupported URL": () => open("mysql://host"),
      "invalid URL of a bucket": () => open("hf://models/me/inbox"),
      "invalid endpoint of a bucket": () => open("s3://inbox?endpoint=localhost"),
      "bucket of the Hub without an access key": () => open("hf://buckets/me/inbox"),
      "bucket of another service without an access key": () => open("s3://inbox"),
      "invalid URL": () => open("redis://user:p/ss@host:6379"),
      "database of Redis that is not a number": () => open("redis://127.0.0.1:1/db"),
      "missing file": () => open(`sqlite:${inboxFile()}`, true),
      "missing inbox in memory": () => open("sqlite::memory:", true),
      "missing inbox on a server": thrown(inboxMissing("redis://user:password@host:6379/1")),
      "unreachable server": () => open("redis://127.0.0.1:1"),
      "unreachable server with a hint": thrown(
        serverUnusable({ url: "postgres://host/db", cause: new Error("refused"), hint: "Check the hint." }),
      ),
      "file that is not a database": () => open(`sqlite:${text}`),
      "database of another program": () => open(`sqlite:${fileOf("CREATE TABLE notes (text TEXT)")}`),
      "inbox of a newer release": () => open(`sqlite:${changedInbox("PRAGMA user_version = 99")}`),
    }),
  ).toMatchSnapshot();
});

test("Invalid calls of an inbox", async () => {
  const { inbox, file } = openInbox();
  expect(
    await errorsOf({
      limit: () => inbox.list({ limit: 0 }),
      cursor: () => inbox.list({ cursor: "nowhere" }),
      "unknown delivery": () => inbox.replay({ id: "d-1", endpoint: "retrain" }),
      "discarding an unknown delivery": () => inbox.discard({ id: "d-1", endpoint: "retrain" }),
      "discarding a running delivery": thrown(deliveryRunning({ id: "d-1", endpoint: "retrain" })),
      "invalid time": () => inbox.list({ receivedFrom: new Date("x") }),
      "compaction of a server": () => compactInbox("redis://host"),
      "compaction of an open inbox": () => compactInbox(`sqlite:${file}`),
    }),
  ).toMatchSnapshot();
});

test("Invalid retries", async () => {
  const create = (options: object) => () => createRetryPolicy(Object.assign({}, options));
  expect(
    await errorsOf({
      "no waits": create({ backoff: [] }),
      "wait that is not a duration": create({ backoff: ["soon"] }),
      "single wait": create({ backoff: "10s" }),
      "first wait longer than the last": create({ backoff: { first: "2m", max: "1m" } }),
      "unknown option": create({ backoff: { longest: "1m" } }),
    }),
  ).toMatchSnapshot();
});

test("Deliveries that are refused or interrupted", async () => {
  expect(
    await errorsOf({
      full: thrown(inboxFull("retrain")),
      unavailable: thrown(inboxUnavailable(new Error("disk I/O error"))),
      closing: thrown(inboxClosing()),
      "lost lease": thrown(leaseLost()),
    }),
  ).toMatchSnapshot();
});

test("Problems of an inbox in a file", { tags: "slow" }, async () => {
  const { inbox, file } = openInbox({ pollMs: 3_600_000 });
  const space = vi.spyOn(DiskSpace.prototype, "hasRoomFor");
  onTestFinished(() => space.mockRestore());
  space.mockImplementation(() => {
    throw new Error("disk I/O error");
  });
  const unreadable = await inbox.problems();
  space.mockReturnValue(false);
  const full = await inbox.problems();
  space.mockRestore();
  const other = new DatabaseSync(file);
  other.exec("CREATE TRIGGER refuse BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ROLLBACK, 'Not now.'); END");
  other.exec("BEGIN IMMEDIATE");
  const slowDown = hurry();
  await inbox.accept(incoming("a")).catch(() => {});
  slowDown();
  const locked = await inbox.problems();
  other.close();
  const damage = createDamageTracker({ file, log: createMemoryLogger(), monotonicNow: () => 0 });
  damage.recordIfDamage(Object.assign(new Error("database disk image is malformed"), { errcode: 11 }), "retrain");
  expect(shown([...unreadable, ...full, ...locked, damage.problem()])).toMatchSnapshot();
});

test("Problems of an inbox on a server", async () => {
  const elapsed = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => elapsed.mockRestore());
  const skew = async (aheadMs: number) => {
    const clock = new ClockSkew({ now: () => 0, log: createMemoryLogger() });
    await clock.measure(async () => aheadMs);
    return clock.problem;
  };
  const detector = new StallDetector(0);
  const progress = { isRunning: false, hasCapacity: true, claimed: 0 };
  const stalled = await detector.findProblem(new Map([["retrain", { progress }]]), async () => true);
  expect(shown([await skew(3_600_000), await skew(-3_600_000), stalled])).toMatchSnapshot();
});
