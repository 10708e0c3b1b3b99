import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod/mini";
import { type Duration, isDuration, toMilliseconds } from "../../core/options.ts";
import { parseGiven } from "../error-response.ts";

/** The operations of the S3 API. `HEAD` and `LIST` include requests for the bucket itself. `DELETE` includes deletions of several objects. */
const operations = ["GET", "HEAD", "PUT", "DELETE", "LIST"] as const;
export type BucketOperation = (typeof operations)[number];

const duration = z.custom<Duration>(isDuration, 'expected a duration such as "300ms"');

const selection = {
  operations: z.optional(z.array(z.enum(operations)).check(z.minLength(1))),
  bucket: z.optional(z.string()),
  keys: z.optional(z.string()),
  skip: z.optional(z.int().check(z.nonnegative())),
  count: z.optional(z.int().check(z.positive())),
};

const bucketFault = z.discriminatedUnion("kind", [
  z.strictObject({ ...selection, kind: z.literal("latency"), latency: duration }),
  z.strictObject({
    ...selection,
    kind: z.literal("error"),
    status: z.int().check(z.minimum(400), z.maximum(599)),
    code: z.optional(z.string().check(z.regex(/^[A-Za-z]+$/, "expected the code of an S3 error"))),
    retryAfterSeconds: z.optional(z.int().check(z.nonnegative())),
    isExecuted: z.optional(z.boolean()),
  }),
  z.strictObject({ ...selection, kind: z.literal("answer-lost") }),
  z.strictObject({ ...selection, kind: z.literal("torn-body") }),
  z.strictObject({ ...selection, kind: z.literal("ignored-condition") }),
  z.strictObject({ ...selection, kind: z.literal("redirect"), to: z.optional(z.enum(["path", "origin"])) }),
]);

const bucketFaults = z.array(bucketFault).check(z.maxLength(1_000));

type ParsedFault = z.output<typeof bucketFault>;

/** Selects the requests to which a fault applies. Default: all requests. */
export interface BucketFaultSelection {
  /** Default: all operations. `HEAD` and `LIST` include requests for the bucket itself. */
  operations?: ("GET" | "HEAD" | "PUT" | "DELETE" | "LIST")[];
  /** The full name of the bucket, such as `me/inbox`. */
  bucket?: string;
  /** A pattern of keys, in which `*` matches any characters, such as `"log/*"`. For `LIST`, the pattern of prefixes. */
  keys?: string;
  /** The number of selected requests that succeed before the fault. Default `0`. */
  skip?: number;
  /** The number of requests that the fault applies to. Default: all requests. */
  count?: number;
}

/**
 * A failure of the S3 API of the local Hub:
 *
 * - `latency`: the request is executed after the latency, also if the client disconnects.
 * - `error`: the response is an error. The default code belongs to the status: `SlowDown` for 503, `InternalError` for 500. With
 *   `isExecuted`, the request is executed first.
 * - `answer-lost`: the request is executed, and the connection is closed without a response.
 * - `torn-body`: a PUT stores only the first half of the body, but succeeds.
 * - `ignored-condition`: a PUT ignores `If-None-Match` and `If-Match`.
 * - `redirect`: a GET is answered with 302, to another origin (default) or to another path.
 */
export type BucketFault = BucketFaultSelection &
  (
    | { kind: "latency"; latency: Duration }
    | { kind: "error"; status: number; code?: string; retryAfterSeconds?: number; isExecuted?: boolean }
    | { kind: "answer-lost" }
    | { kind: "torn-body" }
    | { kind: "ignored-condition" }
    | { kind: "redirect"; to?: "path" | "origin" }
  );

interface FaultyRequest {
  operation: BucketOperation;
  bucket: string;
  keys: readonly string[];
  isConditional: boolean;
}

export type AppliedFaults = ReturnType<BucketFaults["take"]>;

/** The faults that a user set. They are kept in memory only. */
export class BucketFaults {
  /** The faults, and how many of the selected requests they skip and apply to. */
  #active: { fault: ParsedFault; skip: number; count: number }[] = [];
  readonly #closing = new AbortController();

  /** Replaces all faults. @throws `ARGUMENT_INVALID` with the invalid fields. */
  set(faults: unknown): void {
    this.#active = parseGiven(bucketFaults, faults, "faults").map((fault) => ({
      fault,
      skip: fault.skip ?? 0,
      count: fault.count ?? Number.POSITIVE_INFINITY,
    }));
  }

  /** Waits for a latency. Returns `false` if the local Hub closes before the latency has passed. */
  async wait(latencyMs: number): Promise<boolean> {
    if (latencyMs === 0) return true;
    try {
      await delay(latencyMs, undefined, { signal: this.#closing.signal });
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /** Returns the faults of a request, and counts the request. */
  take(request: FaultyRequest) {
    const applied: ParsedFault[] = [];
    for (const active of this.#active) {
      const { fault } = active;
      // A request that fails has no further faults.
      if (applied.at(-1)?.kind === "error" || active.count === 0 || !isSelected(fault, request)) continue;
      if (active.skip > 0) {
        active.skip -= 1;
        continue;
      }
      active.count -= 1;
      applied.push(fault);
    }
    const latencies = applied.filter((fault) => fault.kind === "latency");
    const redirect = applied.findLast((fault) => fault.kind === "redirect");
    return {
      latencyMs: latencies.reduce((sum, { latency }) => sum + toMilliseconds(latency, "latency"), 0),
      error: applied.find((fault) => fault.kind === "error"),
      isAnswerLost: applied.some(({ kind }) => kind === "answer-lost"),
      isTorn: applied.some(({ kind }) => kind === "torn-body"),
      isConditionIgnored: applied.some(({ kind }) => kind === "ignored-condition"),
      redirectTo: redirect && (redirect.to ?? "origin"),
    };
  }
}

function isSelected(fault: ParsedFault, { operation, bucket, keys, isConditional }: FaultyRequest): boolean {
  if (fault.kind === "torn-body" && operation !== "PUT") return false;
  if (fault.kind === "redirect" && operation !== "GET") return false;
  if (fault.kind === "ignored-condition" && !isConditional) return false;
  if (fault.operations && !fault.operations.includes(operation)) return false;
  if (fault.bucket !== undefined && fault.bucket !== bucket) return false;
  const { keys: pattern } = fault;
  return pattern === undefined || keys.some((key) => matchesPattern(pattern, key));
}

function matchesPattern(pattern: string, key: string): boolean {
  const literal = (text: string) => text.replace(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`);
  return new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`, "su").test(key);
}
