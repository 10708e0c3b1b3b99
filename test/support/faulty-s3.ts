import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { openS3ObjectStore } from "../../src/inbox/bucket/s3.ts";
import { listenOnPort } from "./free-port.ts";
import { SeededRandom } from "./seeded-random.ts";

export type S3Operation = "GET" | "HEAD" | "PUT" | "DELETE" | "LIST";

/** Selects the requests to which a fault applies. Default: all requests. */
interface Selection {
  operations?: readonly S3Operation[];
  /** A pattern or a part of `BUCKET/KEY`. For `LIST`, of `BUCKET/PREFIX`. */
  keys?: RegExp | string;
  /** The ID of the access key, to select the requests of one process. */
  accessKey?: string;
  /** The number of selected requests that succeed before the fault. Default `0`. */
  skip?: number;
  /** The number of requests that the fault applies to. Default: all requests. */
  count?: number;
  /** The probability of the fault, from 0 to 1. Default `1`. */
  chance?: number;
}

/**
 * A fault of the server. For each request, all matching latencies and the first other matching fault apply:
 *
 * - `latency`: the request takes `ms`, in part before and in part after its effect. With `maxMs`, the latency has a long tail: `ms`
 *   is the minimum, the median is twice as long, and one of a hundred requests takes a hundred times as long, up to `maxMs`.
 * - `lost answer`: the request has its effect, and the connection is closed without a response.
 * - `dropped`: the connection is closed without an effect.
 * - `silent`: the connection stays open without a response. `isApplied`: whether the request has its effect.
 * - `late`: the client gets a failure, or no answer if `answer` is `"silent"`. The request has its effect after a random time up to
 *   `maxMs`. Without `maxMs`, it has its effect when `applyLate` is called.
 * - `false 412`: a conditional PUT is rejected without an effect.
 * - `ignored condition`: a PUT ignores its conditions.
 * - `stale list`: a LIST hides the newest objects, by the time at which they were stored. `forMs`: only objects that are younger.
 * - `short`: a GET returns a part of the object. Its `content-length` matches, unless `isDeclared`, so that the client can detect it.
 * - `slow`: a GET returns the second half of the object after `ms`.
 * - `corrupted`: a GET returns the object with one changed byte.
 * - `torn`: a PUT stores the first half of the object, but succeeds.
 * - `redirect`: a GET is redirected to a server of another origin, which rejects signed requests.
 * - `error`: the response is an error. `isApplied`: the request has its effect first.
 * - `answer`: the response is this response.
 */
export type S3Fault = Selection &
  (
    | { kind: "latency"; ms: number; maxMs?: number }
    | { kind: "lost answer" | "dropped" | "false 412" | "ignored condition" | "corrupted" | "torn" }
    | { kind: "redirect"; headers?: Readonly<Record<string, string>> }
    | { kind: "silent"; isApplied?: boolean }
    | { kind: "slow"; ms: number }
    | { kind: "late"; maxMs?: number; answer?: "closed" | "error" | "silent" }
    | { kind: "stale list"; newest: number; forMs?: number }
    | { kind: "short"; isDeclared?: boolean }
    | { kind: "error"; status: number; code: string; isApplied?: boolean; retryAfterSeconds?: number }
    | { kind: "answer"; response: Response }
  );

export const slowDown = { kind: "error", status: 503, code: "SlowDown" } as const;
export const storedAlthough500 = { kind: "error", status: 500, code: "InternalError", isApplied: true } as const;
export const full = { kind: "error", status: 507, code: "QuotaExceeded", operations: ["PUT"] } as const;
export const denied = { kind: "error", status: 403, code: "AccessDenied" } as const;

/** A request in the history of the server. All times are in milliseconds of the server's clock. */
export interface S3Request {
  /** From 1. */
  number: number;
  operation: S3Operation;
  /** `BUCKET/KEY`, or `BUCKET/PREFIX` for `LIST`. */
  key: string;
  isConditional: boolean;
  /** The ID of the access key. Missing if the request is not signed. */
  accessKey?: string;
  receivedAt: number;
  /** The fault of the request, other than a latency. */
  fault?: S3Fault["kind"];
  /** The result. Missing while the request is being processed. */
  result?: number | "closed" | "silent";
  /** When the request changed the bucket. Missing if it did not change the bucket so far. */
  appliedAt?: number;
  url: URL;
  headers: Headers;
  /** The size of the body of the request, in bytes. */
  bytes: number;
  /** The SHA-256 of the body of the request, in hexadecimal. */
  sha256: string;
}

interface S3Object {
  body: Buffer;
  /** `ETag`, with quotes. */
  etag: string;
  storedAt: number;
  /** Orders objects that were stored at the same time. */
  order: number;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: Buffer;
}

type AppliedFault = Exclude<S3Fault, { kind: "latency" }>;

export interface FaultyS3Options {
  /** Determines all random decisions. Default `1`. */
  seed?: number;
  /** Default: a free port. */
  port?: number;
  /** The maximum number of objects in a page of a list. Default `1_000`. */
  pageSize?: number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/**
 * A server with the S3 API whose answers are as bad as those of real services can be. Objects are in the memory of the process. The
 * server does not use code of the package, so that both cannot have the same mistake. It checks the ID of the access key and the
 * checksum of the body, but not the signature.
 */
export class FaultyS3 implements AsyncDisposable {
  /** The URL of the S3 API. */
  readonly url: string;
  /** The active faults. Replace them at any time. */
  faults: readonly S3Fault[] = [];
  /** All requests so far. */
  readonly history: S3Request[] = [];
  /** The objects by `BUCKET/KEY`. */
  readonly objects = new Map<string, S3Object>();
  readonly buckets = new Set(["inbox"]);
  /** The IDs of the valid access keys. */
  readonly accessKeys = new Set(["HFAKTESTACCESSKEY"]);
  readonly #random: SeededRandom;
  readonly #pageSize: number;
  readonly #clock: () => number;
  #skippedMs = 0;
  readonly #servers: readonly Server[];
  readonly #cdnUrl: string;
  readonly #cdn = new Map<string, Buffer>();
  /** The number of selected requests so far. */
  readonly #seen = new WeakMap<S3Fault, number>();
  readonly #late = new Map<() => void, NodeJS.Timeout | undefined>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #stored = 0;

  private constructor(
    { seed = 1, pageSize = 1_000, now = Date.now }: FaultyS3Options,
    { servers, urls: [url = "", cdnUrl = ""] }: { servers: readonly Server[]; urls: readonly string[] },
  ) {
    this.#random = new SeededRandom(seed);
    this.#pageSize = pageSize;
    this.#clock = now;
    this.#servers = servers;
    this.url = url;
    this.#cdnUrl = cdnUrl;
  }

  static async start(options: FaultyS3Options = {}): Promise<FaultyS3> {
    const servers = [createServer(), createServer()];
    const [main, cdn] = servers;
    const ports = [main && (await listenOnPort(main, { port: options.port ?? 0 })), cdn && (await listenOnPort(cdn))];
    const s3 = new FaultyS3(options, { servers, urls: ports.map((port) => `http://127.0.0.1:${port}`) });
    // The client can end the connection in the middle of a request.
    main?.on("request", (incoming, outgoing) => void s3.#handle(incoming, outgoing).catch(() => outgoing.destroy()));
    cdn?.on("request", (incoming, outgoing) => s3.#handleCdn(incoming, outgoing));
    return s3;
  }

  /** The environment variables of a receiver whose inbox is in a bucket of this server. */
  variables({ bucket = "inbox", prefix = "test", accessKey = "HFAKTESTACCESSKEY" } = {}): Record<string, string> {
    this.buckets.add(bucket);
    this.accessKeys.add(accessKey);
    return {
      INBOX_URL: `s3://${bucket}/${prefix}`,
      AWS_ENDPOINT_URL_S3: this.url,
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: "test-secret-access-key",
    };
  }

  /** Opens a bucket with the client of the package. */
  open({
    bucket = "inbox",
    prefix = "test",
    timeoutMs,
  }: {
    bucket?: string;
    prefix?: string;
    timeoutMs?: number;
  } = {}) {
    this.buckets.add(bucket);
    const name = `s3://${bucket}/${prefix}`;
    return openS3ObjectStore({
      location: { endpoint: this.url, region: "us-east-1", bucket, prefix: `${prefix}/`, name },
      credentials: { accessKeyId: "HFAKTESTACCESSKEY", secretAccessKey: "test-secret-access-key" },
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  }

  /** Adds a fault that applies to the next selected request, before all other faults. */
  next(fault: S3Fault): void {
    this.faults = [{ count: 1, ...fault }, ...this.faults];
  }

  /** Milliseconds since the epoch, by the clock of the server. */
  now(): number {
    return this.#clock() + this.#skippedMs;
  }

  /** Sets the clock of the server forward, so that all objects are older. */
  advance(ms: number): void {
    this.#skippedMs += ms;
  }

  /** The number of requests whose effect is late. */
  get late(): number {
    return this.#late.size;
  }

  /** Lets all late requests have their effect. */
  applyLate(): void {
    for (const apply of [...this.#late.keys()]) apply();
  }

  /** Closes all connections. Late requests have no effect. */
  async close(): Promise<void> {
    for (const timer of [...this.#timers, ...this.#late.values()]) clearTimeout(timer);
    this.#late.clear();
    await Promise.all(
      this.#servers.map(async (server) => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const request = this.#record(incoming, body);
    const { latencyMs, fault } = this.#chooseFaults(request);
    if (fault) request.fault = fault.kind;
    const beforeMs = latencyMs * this.#random.next();
    await this.#wait(beforeMs);
    const answer = fault?.kind === "answer" ? await answerOf(fault.response) : this.#answer(request, { body, fault });
    request.result = typeof answer === "string" ? answer : answer.status;
    await this.#wait(latencyMs - beforeMs);
    if (answer === "closed") outgoing.destroy();
    if (typeof answer === "string") return;
    outgoing.writeHead(answer.status, { date: new Date(this.now()).toUTCString(), ...answer.headers });
    const isCutOff = answer.body && Number(answer.headers?.["content-length"]) > answer.body.length;
    if (fault?.kind === "slow" && answer.body) {
      const half = answer.body.length / 2;
      outgoing.write(answer.body.subarray(0, half));
      await this.#wait(fault.ms);
      outgoing.end(answer.body.subarray(half));
    } else if (isCutOff) outgoing.write(answer.body, () => outgoing.destroy());
    else outgoing.end(answer.body);
  }

  #record(incoming: IncomingMessage, body: Buffer): S3Request {
    const url = new URL(incoming.url ?? "", this.url);
    const [, bucket = "", ...key] = url.pathname.split("/").map(decodeURIComponent);
    const isList = incoming.method === "GET" && key.join("/") === "";
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
    const accessKey = /^AWS4-HMAC-SHA256 Credential=([^/]+)\//.exec(headers.get("authorization") ?? "")?.[1];
    const request: S3Request = {
      number: this.history.length + 1,
      operation: isList ? "LIST" : operationOf(incoming.method),
      key: `${bucket}/${isList ? (url.searchParams.get("prefix") ?? "") : key.join("/")}`,
      isConditional: headers.has("if-none-match") || headers.has("if-match"),
      ...(accessKey !== undefined && { accessKey }),
      receivedAt: this.now(),
      url,
      headers,
      bytes: body.length,
      sha256: createHash("sha256").update(body).digest("hex"),
    };
    this.history.push(request);
    return request;
  }

  #chooseFaults(request: S3Request): { latencyMs: number; fault?: AppliedFault } {
    let latencyMs = 0;
    let chosen: AppliedFault | undefined;
    for (const fault of this.faults) {
      if (fault.kind !== "latency" && chosen) continue;
      if (!isSelected(fault, request)) continue;
      if (fault.chance !== undefined && !this.#random.chance(fault.chance)) continue;
      const seen = this.#seen.get(fault) ?? 0;
      this.#seen.set(fault, seen + 1);
      const { skip = 0, count = Number.POSITIVE_INFINITY } = fault;
      if (seen < skip || seen >= skip + count) continue;
      if (fault.kind !== "latency") chosen = fault;
      else latencyMs += fault.maxMs ? Math.min(fault.maxMs, fault.ms / (1 - this.#random.next())) : fault.ms;
    }
    return { latencyMs, ...(chosen && { fault: chosen }) };
  }

  async #wait(ms: number): Promise<void> {
    if (ms < 1) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.add(timer);
    });
  }

  /** Executes a request, and returns the answer that the client gets. */
  #answer(
    request: S3Request,
    { body, fault }: { body: Buffer; fault: AppliedFault | undefined },
  ): Answer | "closed" | "silent" {
    const run = () => this.#execute(request, { body, fault });
    const refusal = this.#refusalOf(request, body);
    if (refusal) return refusal;
    switch (fault?.kind) {
      case "lost answer":
        run();
        return "closed";
      case "dropped":
        return "closed";
      case "silent":
        if (fault.isApplied) run();
        return "silent";
      case "late":
        this.#runLater(run, fault.maxMs);
        return fault.answer === "error" ? errorAnswer(500, "InternalError") : (fault.answer ?? "closed");
      case "false 412":
        return request.isConditional ? errorAnswer(412, "PreconditionFailed") : run();
      case "error":
        if (fault.isApplied) run();
        return errorAnswer(fault.status, fault.code, fault.retryAfterSeconds);
      default:
        return run();
    }
  }

  #runLater(run: () => void, maxMs: number | undefined): void {
    const apply = () => {
      clearTimeout(this.#late.get(apply));
      this.#late.delete(apply);
      run();
    };
    this.#late.set(apply, maxMs === undefined ? undefined : setTimeout(apply, maxMs * this.#random.next()));
  }

  #refusalOf({ key, headers, sha256, accessKey }: S3Request, body: Buffer): Answer | undefined {
    if (accessKey === undefined) return errorAnswer(403, "AccessDenied");
    if (!this.accessKeys.has(accessKey)) return errorAnswer(403, "InvalidAccessKeyId");
    if (!this.buckets.has(key.slice(0, key.indexOf("/")))) return errorAnswer(404, "NoSuchBucket");
    const isDamaged =
      headers.get("x-amz-content-sha256") !== sha256 || Number(headers.get("content-length") ?? 0) !== body.length;
    return isDamaged ? errorAnswer(400, "XAmzContentSHA256Mismatch") : undefined;
  }

  #execute(request: S3Request, { body, fault }: { body: Buffer; fault: AppliedFault | undefined }): Answer {
    const { operation, key, headers } = request;
    const found = this.objects.get(key);
    if (operation === "LIST") return this.#list(request, fault);
    if (operation === "PUT") {
      const [ifNoneMatch, ifMatch] = [headers.get("if-none-match"), headers.get("if-match")];
      const isRejected = (ifNoneMatch === "*" && found !== undefined) || (ifMatch !== null && found?.etag !== ifMatch);
      if (isRejected && fault?.kind !== "ignored condition") return errorAnswer(412, "PreconditionFailed");
      const stored = fault?.kind === "torn" ? body.subarray(0, body.length / 2) : body;
      const etag = `"${createHash("md5").update(stored).digest("hex")}"`;
      this.#stored += 1;
      this.objects.set(key, { body: stored, etag, storedAt: this.now(), order: this.#stored });
      request.appliedAt = this.now();
      return { status: 200, headers: { etag, "content-length": "0" } };
    }
    if (operation === "DELETE") {
      if (this.objects.delete(key)) request.appliedAt = this.now();
      return { status: 204 };
    }
    if (!found) return operation === "HEAD" ? { status: 404 } : errorAnswer(404, "NoSuchKey");
    return this.#read(found, { operation, fault });
  }

  #read(found: S3Object, { operation, fault }: { operation: S3Operation; fault: AppliedFault | undefined }): Answer {
    const headers = {
      etag: found.etag,
      "last-modified": new Date(found.storedAt).toUTCString(),
      "content-length": String(found.body.length),
    };
    if (operation === "HEAD") return { status: 200, headers };
    const at = this.#random.below(found.body.length);
    if (fault?.kind === "redirect") {
      const path = `/${crypto.randomUUID()}`;
      this.#cdn.set(path, found.body);
      return {
        status: 302,
        headers: { ...fault.headers, location: `${this.#cdnUrl}${path}?signature=s`, "content-length": "0" },
      };
    }
    if (fault?.kind === "short") {
      const body = found.body.subarray(0, at);
      return { status: 200, headers: fault.isDeclared ? headers : { ...headers, "content-length": String(at) }, body };
    }
    const body = Buffer.from(found.body);
    if (fault?.kind === "corrupted") body[at] = (body[at] ?? 0) ^ 0x20;
    return { status: 200, headers, body };
  }

  #list({ key: start, url: { searchParams: query } }: S3Request, fault: AppliedFault | undefined): Answer {
    const bucket = start.slice(0, start.indexOf("/") + 1);
    const continued = query.get("continuation-token");
    const after =
      continued === null ? (query.get("start-after") ?? "") : Buffer.from(continued, "base64url").toString();
    const all = [...this.objects].filter(([key]) => key.startsWith(start));
    const hidden = new Set<string>();
    if (fault?.kind === "stale list") {
      const { newest, forMs = Number.POSITIVE_INFINITY } = fault;
      const young = all.filter(([, { storedAt }]) => this.now() - storedAt <= forMs);
      for (const [key] of young.sort(([, one], [, other]) => other.order - one.order).slice(0, newest)) hidden.add(key);
    }
    // S3 sorts keys by their bytes in UTF-8.
    const listed = all
      .map(([key, { body }]) => ({ key: key.slice(bucket.length), whole: key, size: body.length }))
      .filter(({ key, whole }) => !hidden.has(whole) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
      .sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
    const page = listed.slice(0, Math.min(this.#pageSize, Number(query.get("max-keys") ?? 1_000)));
    const next = page.length < listed.length ? page.at(-1)?.key : undefined;
    const isEncoded = query.get("encoding-type") === "url";
    const text = (key: string) => (isEncoded ? encodeURIComponent(key).replaceAll("%2F", "/") : key);
    const contents = page.map(({ key, size }) => `<Contents><Key>${text(key)}</Key><Size>${size}</Size></Contents>`);
    const token =
      next === undefined
        ? ""
        : `<NextContinuationToken>${Buffer.from(next).toString("base64url")}</NextContinuationToken>`;
    return xmlAnswer(
      200,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${isEncoded ? "<EncodingType>url</EncodingType>" : ""}<IsTruncated>${next !== undefined}</IsTruncated>${token}${contents.join("")}</ListBucketResult>`,
    );
  }

  /** A CDN stores equal objects once, so its objects are older. It rejects signatures of the store. */
  #handleCdn({ headers, url = "" }: IncomingMessage, outgoing: ServerResponse): void {
    const path = url.replace(/\?.*/, "");
    const body = this.#cdn.get(path);
    this.#cdn.delete(path);
    const isSigned = Object.keys(headers).some((name) => name === "authorization" || name.startsWith("x-amz-"));
    if (isSigned || !body) outgoing.writeHead(isSigned ? 400 : 404).end();
    else outgoing.writeHead(200, { "last-modified": "Wed, 21 Oct 2020 07:28:00 GMT" }).end(body);
  }
}

function operationOf(method: string | undefined): S3Operation {
  if (method === "GET" || method === "HEAD" || method === "PUT" || method === "DELETE") return method;
  throw new Error(`The server does not support ${method}.`);
}

/** The test can read the response again. Other test files can replace `Response` with a class that has no `bytes`. */
async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), body: Buffer.from(await response.clone().arrayBuffer()) };
}

function isSelected({ operations, keys, accessKey }: S3Fault, { operation, key, ...request }: S3Request): boolean {
  if (operations && !operations.includes(operation)) return false;
  if (accessKey !== undefined && request.accessKey !== accessKey) return false;
  if (keys === undefined) return true;
  return typeof keys === "string" ? key.includes(keys) : keys.test(key);
}

function errorAnswer(status: number, code: string, retryAfterSeconds?: number): Answer {
  const answer = xmlAnswer(status, `<Error><Code>${code}</Code></Error>`);
  return {
    ...answer,
    headers: {
      ...answer.headers,
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    },
  };
}

function xmlAnswer(status: number, xml: string): Answer {
  const body = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`);
  return { status, headers: { "content-type": "application/xml", "content-length": String(body.length) }, body };
}
