import { inspect } from "node:util";
import { expect, onTestFinished } from "vitest";
import {
  type Delivery,
  type LaunchOptions,
  type StoredDelivery,
  type WebhookErrorCode,
  WebhooksServer,
  type WebhooksServerOptions,
} from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger, type LogLine } from "../support/memory-logger.ts";
import { type RawAnswer, type RawRequest, RawSocket, requestBytes } from "../support/raw-socket.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { type DeclarationName, declarations } from "./declared-endpoints.ts";
import { HostedReceiver } from "./hosted-receiver.ts";
import { onBuiltPackage } from "./on-built-package.ts";
import { inOwnProcess } from "./rows.ts";

/** The secret of all receivers here. It must not appear in log lines, responses, or pages. */
export const secret = "Planted-5ecret-b81f0c27";

/** The expected result of a fault. */
export interface Expected {
  /** Status of the response; omitted if the client disconnects before it. */
  status?: number;
  /** The `code` in the response body. */
  code?: WebhookErrorCode;
  /** Fields of the single log line with the reason. Each value is exact or a pattern. */
  logged: Readonly<Record<string, unknown>>;
  /** Number of runs of the "target" handler. Default for responses other than 2xx: 0. */
  runs?: number;
}

/** Access to a receiver under test, in this process or in another. */
export interface ReceiverSource {
  url: string;
  lines: () => readonly LogLine[];
  /** Returns the number of runs of the "target" handler. */
  runs: () => number;
  /** Waits until all lines logged so far are in `lines`; absent if they always are. */
  sync?: () => Promise<void>;
}

/** A running receiver, and the sockets on which tests send faults. */
export class Receiver {
  readonly url: string;
  readonly #source: ReceiverSource;
  readonly #sockets: RawSocket[] = [];

  constructor(source: ReceiverSource) {
    this.url = source.url;
    this.#source = source;
  }

  /** Returns the bytes of a valid delivery to "target" with `changes`. */
  delivery({ headers, ...changes }: Partial<RawRequest> = {}): Buffer {
    return requestBytes({
      path: "/webhooks/target",
      headers: {
        Host: new URL(this.url).host,
        "Content-Type": "application/json",
        "X-Webhook-Secret": secret,
        "Webhook-Id": crypto.randomUUID(),
        ...headers,
      },
      body: JSON.stringify(webhookPayload("repo.content")),
      ...changes,
    });
  }

  async connect(): Promise<RawSocket> {
    const socket = await RawSocket.open(this.url);
    this.#sockets.push(socket);
    return socket;
  }

  /** Sends bytes on a new connection and waits for one response. */
  async send(...parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
    const socket = (await this.connect()).send(...parts);
    const answer = await socket.answer();
    socket.close();
    await this.#source.sync?.();
    return answer;
  }

  /** Sends a valid delivery with `changes`. */
  post(changes?: Partial<RawRequest>): Promise<RawAnswer> {
    return this.send(this.delivery(changes));
  }

  async page(path: string): Promise<RawAnswer> {
    return this.send(
      requestBytes({ method: "GET", path, headers: { Host: new URL(this.url).host, Connection: "close" } }),
    );
  }

  /**
   * Asserts that a fault leads to the expected response and one log line with the reason, that the next valid delivery
   * succeeds, and that no output contains the secret.
   */
  async survives(fault: () => Promise<RawAnswer | undefined>, { status, code, logged, runs }: Expected) {
    const linesBefore = this.#source.lines().length;
    const runsBefore = this.#source.runs();
    const since = () => this.#source.lines().slice(linesBefore);
    const isReason = (line: LogLine) =>
      Object.entries(logged).every(([field, wanted]) =>
        wanted instanceof RegExp ? wanted.test(String(line[field])) : line[field] === wanted,
      );

    const answer = await fault();
    expect(answer?.status, answer?.text).toBe(status);
    if (code !== undefined) expect(JSON.parse(answer?.text ?? "")).toEqual({ error: expect.any(String), code });
    await waitFor(() => expect(since().some(isReason), inspect(since(), { depth: 4 })).toBe(true), { interval: 5 });
    const isSuccess = answer !== undefined && answer.status < 300;
    if (runs !== undefined || !isSuccess) expect(this.#source.runs() - runsBefore).toBe(runs ?? 0);

    const tellsBefore = since().filter(isReason).length;
    expect(tellsBefore, inspect(since(), { depth: 4 })).toBe(1);
    const runsSoFar = this.#source.runs();
    const next = await this.post();
    expect(next.status, next.text).toBe(200);
    // A log line of another process can arrive after the response. Wait for it, so that the next check does not count
    // it.
    await waitFor(() => expect(this.#source.runs()).toBeGreaterThan(runsSoFar), { interval: 5 });
    expect(since().filter((line) => isComplaint(line) && !isReason(line))).toEqual([]);
    await this.keepsSecret(answer, next);
    return answer;
  }

  /** Asserts that no log line, response, or page contains the secret. */
  async keepsSecret(...answers: readonly (RawAnswer | undefined)[]): Promise<void> {
    const pages = await Promise.all(["/", "/health", "/nowhere", `/?secret=${secret}`].map((path) => this.page(path)));
    for (const answer of [...answers, ...pages]) {
      expect(holdsSecret([answer?.text, [...(answer?.headers ?? [])]], secret), answer?.text).toBe(false);
    }
    for (const line of this.#source.lines()) expect(holdsSecret(line, secret), line.msg).toBe(false);
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }
}

function isComplaint({ level }: LogLine): boolean {
  return level === "warn" || level === "error";
}

/** Options of {@link openReceiver}. */
export interface OpenReceiverOptions
  extends Omit<WebhooksServerOptions, "logger" | "inbox" | "landingPage" | "createId"> {
  timeouts?: LaunchOptions["timeouts"];
  /** Additional endpoints. They also work for a receiver in another process. */
  declared?: DeclarationName;
  /** Registers endpoints that share state with the test, so the receiver runs in this process. */
  declare?: (server: WebhooksServer) => void;
}

/** What a test can read from its receiver. */
export interface ReceiverView {
  url: string;
  log: readonly LogLine[];
  /** Deliveries that the "target" handler received. */
  received: readonly Delivery[];
  /** Returns a delivery from the receiver's inbox. */
  stored: (id: string) => Promise<Partial<StoredDelivery> | undefined>;
  sync?: () => Promise<void>;
}

/** A receiver of a single test. */
export class LocalReceiver extends Receiver {
  readonly log: readonly LogLine[];
  readonly received: readonly Delivery[];
  readonly stored: ReceiverView["stored"];

  constructor({ url, log, received, stored, sync }: ReceiverView) {
    super({ url, lines: () => log, runs: () => received.length, ...(sync && { sync }) });
    this.log = log;
    this.received = received;
    this.stored = stored;
  }
}

/**
 * Launches a receiver with the endpoint "target" on a free port and closes it after the test. With the built package it
 * runs in another process unless the test passes functions.
 */
export async function openReceiver(options: OpenReceiverOptions = {}): Promise<LocalReceiver> {
  const { declare, now, ...plain } = options;
  if (!onBuiltPackage || declare || now) return openHere(options);
  inOwnProcess();
  const hosted = await HostedReceiver.open(withDefaultSecret(plain));
  const { url, log, received } = hosted;
  const receiver = new LocalReceiver({
    url,
    log,
    received,
    stored: (id) => hosted.stored(id),
    sync: () => hosted.sync(),
  });
  onTestFinished(async () => {
    receiver.close();
    await hosted.close();
  });
  return receiver;
}

/** Adds the default secret. If `secret` is `undefined`, the receiver reads the environment instead. */
function withDefaultSecret<T extends { secret?: unknown }>(
  options: T,
): Omit<T, "secret"> & Pick<WebhooksServerOptions, "secret"> {
  const { secret: given, ...others } = { secret, ...options };
  return given === undefined ? others : { secret: given, ...others };
}

async function openHere({ timeouts, declare, declared, ...options }: OpenReceiverOptions): Promise<LocalReceiver> {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ ...withDefaultSecret(options), logger });
  const received: Delivery[] = [];
  server.webhook("target", (_payload, { delivery }) => {
    received.push(delivery);
    return { received: delivery.id };
  });
  if (declared) declarations[declared](server);
  declare?.(server);
  const { url } = await server.launch({
    port: 0,
    host: "127.0.0.1",
    handleSignals: false,
    ...(timeouts && { timeouts }),
  });
  const receiver = new LocalReceiver({ url, log: logger.lines, received, stored: (id) => server.inbox.get(id) });
  onTestFinished(async () => {
    receiver.close();
    await server.close();
  });
  return receiver;
}
