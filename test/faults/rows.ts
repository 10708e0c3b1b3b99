import { afterAll, beforeEach, type RunnerTask, TestRunner } from "vitest";
import { endHost } from "./hosted-receiver.ts";

/**
 * Faults that the package must survive, by ID, with their test file. A fault is survived if all tests whose titles
 * begin with its ID pass.
 */
export const rows = [
  { id: "H1", file: "http", what: "bytes that are no HTTP, or HTTP of another version, are answered 400" },
  { id: "H2", file: "http", what: "a body whose length is logged twice, wrongly or in bad chunks is answered 400" },
  { id: "H3", file: "http", what: "a body that ends too early is answered 400, and nothing of it is kept" },
  { id: "H4", file: "http", what: "a body that stops, with the connection open, is answered 408" },
  { id: "H5", file: "http", what: "a reset in the middle of the body runs no handler" },
  { id: "H6", file: "http", what: "slow headers, slow bodies and idle connections are answered 408" },
  { id: "H7", file: "http", what: "a delivery is answered beside 1,000 idle connections" },
  { id: "H8", file: "http", what: "another method is answered 405 with Allow" },
  { id: "H9", file: "http", what: "hostile names of endpoints are answered 404" },
  { id: "H10", file: "http", what: "a good request with garbage behind it is accepted once" },
  { id: "H11", file: "protocol", what: "a Trailer header with a body ends no process, of a receiver or of dev" },
  { id: "H12", file: "protocol", what: "2,000 unread pipelined pages on 50 connections take little memory" },
  { id: "H13", file: "protocol", what: "two Host headers, and chunks inside another coding, are answered 400" },
  { id: "H14", file: "protocol", what: "a Response with framing headers of its own is framed by its body" },
  { id: "H15", file: "protocol", what: "every page works after the process was out of file descriptors" },
  { id: "H16", file: "protocol", what: "Expect: 100-continue is answered after the secret was checked" },
  { id: "H17", file: "protocol", what: "a client that ends its side after the request gets its answer" },
  {
    id: "H18",
    file: "http",
    what: "a route that stops, cancels, destroys or throws in a body ends no process, of a receiver, dev or local Hub",
  },
  { id: "H19", file: "http", what: "HTTP/1.0 with Transfer-Encoding is answered 400, and its connection closed" },
  { id: "H20", file: "http", what: "dot segments below /webhooks/, also encoded, are answered 404" },
  { id: "H21", file: "http", what: "a delivery is answered beside 10,000 idle connections of one client" },
  { id: "S1", file: "secret", what: "no secret is answered 401 before the body is read" },
  { id: "S2", file: "secret", what: "a wrong secret is answered 403, and all its characters are compared" },
  { id: "S3", file: "secret", what: "a receiver without a secret is open, and logs at its start how to set one" },
  { id: "S4", file: "secret", what: "two secrets are valid while one replaces the other" },
  { id: "S5", file: "secret", what: "a secret in the URL is used only with secretInQuery, and is in no log" },
  { id: "S6", file: "secret", what: "guessing is answered 429, but a valid secret never is" },
  { id: "S7", file: "secret", what: "a post from the page of another site is answered 415" },
  { id: "S8", file: "secret", what: "the secret is in no log, page or error" },
  {
    id: "S9",
    file: "secret",
    what: "an empty secret, or one that is not a string, is an error at the start; false opens the server",
  },
  {
    id: "S10",
    file: "secret",
    what: "a secret in what a handler throws is redacted: in the log, the inbox, the console and the command line",
  },
  { id: "P1", file: "payload", what: "a body that is not JSON or not UTF-8 is answered 400" },
  { id: "P2", file: "payload", what: "a body that is too large is answered 413, and not read to its end" },
  { id: "P3", file: "payload", what: "a body in any encoding is answered 415, and never inflated" },
  { id: "P4", file: "payload", what: "a body of thousands of levels is answered 400" },
  { id: "P5", file: "payload", what: "of 100,000 invalid items, only the first few are validated and named" },
  { id: "P6", file: "payload", what: "a key __proto__ changes no prototype" },
  { id: "P7", file: "payload", what: "big integers and repeated keys are accepted, and the text kept byte by byte" },
  { id: "P8", file: "payload", what: "unknown scopes, actions, types, versions and fields are accepted" },
  { id: "P9", file: "payload", what: "a payload without required fields is answered 422, and runs no handler" },
  { id: "R1", file: "handler", what: "a handler that throws is answered 500, without its message" },
  { id: "R2", file: "handler", what: "a handler that returns nothing is answered 200" },
  {
    id: "R3",
    file: "handler",
    what: "a handler that never settles times out: 504, or another attempt in the background",
  },
  { id: "R4", file: "handler", what: "a client that disconnects aborts the signal of the handler" },
  { id: "R5", file: "inbox", what: "a delivery that always fails is dead after its attempts, and others still run" },
  { id: "R6", file: "handler", what: "a promise rejected after the answer is logged, and the server keeps running" },
  {
    id: "R7",
    file: "handler",
    what: "a thrown value that cannot be inspected is a normal failure, and is logged",
  },
  {
    id: "R8",
    file: "acting",
    what: "kills between a call of the Hub and its completion leave one comment, pull request and commit per push",
  },
  { id: "B1", file: "bucket", what: "a log that is pruned while another process restores it loses nothing" },
  { id: "B2", file: "bucket", what: "a request of a bucket without an answer ends, and readiness reports it" },
  { id: "B3", file: "bucket", what: "a new process takes over a loaded inbox within 5 s" },
  { id: "B4", file: "bucket", what: "outdated lists and damaged reads make nothing missing that exists" },
  { id: "B5", file: "bucket", what: "a takeover of a dead process that is stored late is recovered from" },
  { id: "B6", file: "bucket", what: "a start without a usable bucket is answered 503, and recovered from" },
  { id: "B7", file: "bucket", what: "a handler that blocks the event loop beyond the lease keeps the inbox" },
  { id: "B8", file: "bucket", what: "a record whose answer is lost and that is read back short is stored once" },
  { id: "B9", file: "bucket-load", what: "kills, pauses, wipes and races on a faulty bucket lose nothing" },
  {
    id: "B10",
    file: "bucket-load",
    what: "every fault of the bucket during load is answered 202 or 503, and recovered from",
  },
  { id: "I1", file: "inbox-crash", what: "10 kills around the write lose nothing, and each 202 follows a sync" },
  { id: "I2", file: "inbox-crash", what: "a delivery of a killed process runs again when its lease expires" },
  { id: "I3", file: "inbox-sqlite", what: "a full or read-only disk is answered 503, and recovered from" },
  { id: "I4", file: "inbox", what: "a store that does not answer leads to 503 within 5 s" },
  { id: "I5", file: "inbox", what: "a redelivery after a lost answer is a duplicate" },
  { id: "I6", file: "inbox", what: "the same delivery sent twenty times concurrently runs once" },
  { id: "I7", file: "inbox", what: "a full backlog is answered 503, and nothing is dropped" },
  {
    id: "I8",
    file: "inbox",
    what: "finished deliveries expire, waiting ones never do, and duplicates are detected for longer",
  },
  { id: "I9", file: "inbox", what: "a replay of a running delivery is one more attempt" },
  {
    id: "I10",
    file: "inbox",
    what: "a clock set back by an hour, or forward by a day, ends no attempt early and blocks no delivery",
  },
  { id: "I11", file: "inbox-crash", what: "two receivers on one store never run a delivery concurrently" },
  { id: "I12", file: "inbox-sqlite", what: "a file on a network disk or FUSE is refused, with the fix" },
  { id: "I13", file: "inbox-recovery", what: "a handler that blocks the event loop for long keeps its success" },
  { id: "I14", file: "inbox-sqlite", what: "an inbox deleted, moved or replaced is answered 503 until it is back" },
  {
    id: "I15",
    file: "inbox-servers",
    what: "a database without connections is a clear error, and no endpoint starves",
  },
  { id: "I16", file: "inbox-sqlite", what: "a small disk that is full is recovered from once there is space" },
  { id: "I17", file: "inbox-sqlite", what: "a damaged page of a large file stops no other endpoint" },
  { id: "I18", file: "inbox-servers", what: "a Redis that is a replica for a while is recovered from" },
  { id: "I19", file: "inbox-recovery", what: "a delivery that crashes the process dies, and those beside it succeed" },
  { id: "I20", file: "inbox-recovery", what: "payloads of a removed endpoint expire" },
  {
    id: "I21",
    file: "inbox-recovery",
    what: "a replay of 10,000 deliveries blocks the event loop for less than 50 ms",
  },
  { id: "I22", file: "inbox-servers", what: "a Redis that comes back empty is logged as data loss, and used again" },
  { id: "I23", file: "inbox-sqlite", what: "a file that a newer release updates while it is open is not written to" },
  { id: "I24", file: "acting", what: "a condition that ignores a delivery in the worker ends it as ignored" },
  { id: "X1", file: "process", what: "SIGTERM under load: new requests are refused, running ones finish, exit code 0" },
  { id: "X2", file: "process", what: "a second SIGTERM exits immediately, and the next start continues" },
  { id: "X3", file: "process", what: "an address that cannot be used is one clear line and exit code 1" },
  { id: "T1", file: "tunnel", what: "a tunnel server that is down, silent or wrong is an error within 15 s" },
  { id: "T2", file: "registration", what: "a lost or renamed tunnel is logged, and its webhooks are updated" },
  { id: "T3", file: "tunnel", what: "an error of a tunnel without a listener ends no process" },
  { id: "T4", file: "hub", what: "requests to a Hub that refuses, limits, fails or is slow are retried within limits" },
  { id: "T5", file: "hub", what: "a suspended webhook is found and reported with the fix" },
  { id: "T6", file: "registration", what: "webhooks of a killed session are deleted at the next start" },
  { id: "L1", file: "local-hub", what: "a target that hangs or never ends is abandoned after 30 s or 64 kB" },
  { id: "L2", file: "local-hub", what: "a redirect is not followed" },
  { id: "L3", file: "local-hub", what: "only this machine receives deliveries, unless others are allowed" },
  { id: "L4", file: "local-hub", what: "another Host, or a request that is not JSON, is answered 403" },
  {
    id: "U1",
    file: "pages",
    what: "values of a payload are text on every page, under a policy without inline scripts",
  },
  { id: "U2", file: "pages", what: "escape codes of a payload never reach the terminal" },
  { id: "U3", file: "pages", what: "a replay requested by another site is answered 403" },
  { id: "U4", file: "pages", what: "only the owner sees repositories, filters and payloads" },
  {
    id: "C1",
    file: "pages",
    what: "a short console token is refused at start, and guesses delay all sign-ins with a token",
  },
  { id: "C2", file: "dev", what: "secrets in an error of the server file are on no page of dev" },
  { id: "C3", file: "dev", what: "the console of dev opens only files of the project, at a valid position" },
  { id: "C4", file: "dev", what: "dev, its console, its Hub, and trigger send no local request to HTTP_PROXY" },
] as const;

/** Counts acknowledged deliveries of a test by outcome. */
export interface NotedAccount {
  acknowledged: number;
  succeeded: number;
  dead: number;
  queued: number;
  lost: number;
}

declare module "vitest" {
  interface TaskMeta {
    /** Whether the receiver ran in a separate process. */
    inOwnProcess?: boolean;
    accounts?: NotedAccount[];
    /** Why this machine cannot produce the fault. */
    skipReason?: string;
  }
}

function runningTest() {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error("No test is running.");
  return test;
}

/** Records that the current test's receiver runs in a separate process. */
export function inOwnProcess(): void {
  runningTest().meta.inOwnProcess = true;
}

/** Records the outcomes of the acknowledged deliveries of the current test. */
export function noteAccount({ acknowledged, succeeded, dead, queued, lost }: NotedAccount): void {
  const { meta } = runningTest();
  meta.accounts = [...(meta.accounts ?? []), { acknowledged, succeeded, dead, queued, lost }];
}

/** Skips the current test because this machine cannot produce its fault. */
export function skipFault(what: string, reason: string): never {
  console.log(`Skipped ${what}: ${reason}`);
  const { meta, context } = runningTest();
  meta.skipReason = `${what}: ${reason}`;
  return context.skip(reason);
}

/** Fails if one of this file's rows has no test. */
export function countRows(file: (typeof rows)[number]["file"]): void {
  let tests: readonly RunnerTask[] = [];
  beforeEach(({ task }) => {
    tests = testsIn(task.file);
  });
  afterAll(() => {
    endHost();
    // With `-t`, some rows have no selected test.
    if (tests.some(({ mode, meta }) => mode === "skip" && meta.skipReason === undefined)) return;
    const untried = rows.filter(
      (row) => row.file === file && !tests.some(({ name }) => name.startsWith(`${row.id}: `)),
    );
    if (untried.length > 0) throw new Error(`No test for rows: ${untried.map(({ id }) => id).join(", ")}.`);
  });
}

function testsIn(task: RunnerTask): readonly RunnerTask[] {
  return task.type === "suite" ? task.tasks.flatMap(testsIn) : [task];
}
