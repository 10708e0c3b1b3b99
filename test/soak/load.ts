import { webhookPayload } from "hub-webhooks/testing";
import type { Findings } from "../support/monitored-receiver.ts";
import { chunk, type RawAnswer, type RawRequest, RawSocket, requestBytes } from "../support/raw-socket.ts";
import { holdsSecret } from "../support/secrets.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Audit } from "./audit.ts";
import type { SampledReceiver } from "./sampled-receiver.ts";

/** One kind of request and the answers that are correct for it. */
interface RequestKind {
  name: string;
  weight: number;
  /** Valid statuses of the answer. Empty when the sender does not wait for one. */
  statuses: readonly number[];
  send: (load: Load, receiver: SampledReceiver) => Promise<RawAnswer | undefined>;
}

/** Counts of one kind of request. */
export interface Tally {
  sent: number;
  /** Requests without an answer because the receiver was stopped. */
  cutOff: number;
  /** Number of answers by status. */
  statuses: Map<number, number>;
}

const maxAnswerMs = 40_000;
const wrongSecret = [403, 429];
const plain = JSON.stringify(webhookPayload("repo.content"));

const kinds: readonly RequestKind[] = [
  inline("inline", { weight: 18, prefix: "works", statuses: [200] }),
  {
    name: "inline, large (1 to 3 MB)",
    weight: 1,
    statuses: [200],
    send: (load, receiver) =>
      load.ask(receiver, load.request(receiver, { path: "/webhooks/inline", body: load.bodyOf(1_000_000, 3_000_000) })),
  },
  inline("inline, slow handler", { weight: 3, prefix: "slow", statuses: [200] }),
  inline("inline, handler fails", { weight: 3, prefix: "fails", statuses: [500] }),
  background("background", { weight: 18, prefix: "works" }),
  background("background, slow handler", { weight: 6, prefix: "slow" }),
  background("background, fails once", { weight: 4, prefix: "second-try" }),
  background("background, always fails", { weight: 1, prefix: "poison" }),
  background("background, must not be retried", { weight: 1, prefix: "unretriable" }),
  {
    name: "duplicate of an acknowledged delivery",
    weight: 6,
    statuses: [202],
    send: (load, receiver) => load.deliver(receiver, { id: load.earlierId(), body: plain }),
  },
  background("background, large (50 to 150 kB)", { weight: 0.6, prefix: "works", large: true }),
  refused("no secret", { weight: 3, statuses: [401], headers: { "X-Webhook-Secret": undefined } }),
  refused("wrong secret", { weight: 8, statuses: wrongSecret, headers: { "X-Webhook-Secret": "another" } }),
  refused("not JSON", { weight: 3, statuses: [400], body: plain.slice(0, -1) }),
  refused("not a payload", { weight: 3, statuses: [422], body: '{"event":{"scope":"repo"},"repo":[]}' }),
  refused("too large", { weight: 1, statuses: [413], headers: { "Content-Length": "5000000" }, body: "" }),
  refused("compressed", { weight: 1, statuses: [415], headers: { "Content-Encoding": "gzip" } }),
  refused("unknown endpoint", { weight: 2, statuses: [404], path: "/webhooks/nowhere" }),
  refused("another method", { weight: 1, statuses: [405], method: "PUT" }),
  {
    name: "bytes that are not HTTP",
    weight: 2,
    statuses: [400],
    send: (load, receiver) => load.ask(receiver, "\x16\x03\x01\r\n\r\n"),
  },
  {
    name: "slow body",
    weight: 3,
    statuses: [200],
    send: async (load, receiver) => {
      const half = Math.floor(plain.length / 2);
      const head = load.request(receiver, {
        path: "/webhooks/inline",
        headers: { "Transfer-Encoding": "chunked" },
        body: "",
      });
      const parts = [head, chunk(plain.slice(0, half)), chunk(plain.slice(half)), chunk("")];
      return load.ask(receiver, ...parts.flatMap((part) => [part, 400]));
    },
  },
  {
    name: "disconnects during the body",
    weight: 3,
    statuses: [],
    send: async (load, receiver) => {
      const bytes = load.request(receiver, { path: "/webhooks/background" });
      (await load.open(receiver)).send(bytes.subarray(0, -10)).reset();
      return undefined;
    },
  },
  {
    name: "disconnects before the answer",
    weight: 2,
    statuses: [],
    send: async (load, receiver) => {
      const socket = await load.open(receiver);
      socket.send(load.request(receiver, { path: "/webhooks/inline", headers: { "Webhook-Id": load.newId("slow") } }));
      setTimeout(() => socket.reset(), 20);
      return undefined;
    },
  },
  {
    name: "silent connection",
    weight: 1,
    statuses: [],
    send: async (load, receiver) => {
      const socket = await load.open(receiver);
      setTimeout(() => socket.close(), 5_000);
      return undefined;
    },
  },
  page("landing page", { weight: 2, path: "/" }),
  page("health", { weight: 2, path: "/health" }),
  page("console", { weight: 0.5, path: "/_console/" }),
  page("console, deliveries", { weight: 1, path: "/_console/api/deliveries" }),
  page("console, dead deliveries", { weight: 0.5, path: "/_console/api/deliveries?status=dead" }),
  page("console, search", { weight: 0.5, path: "/_console/api/deliveries?search=acme" }),
  page("console, endpoints", { weight: 0.5, path: "/_console/api/endpoints" }),
  page("metrics", { weight: 0.5, path: "/metrics" }),
];

function inline(
  name: string,
  { weight, prefix, statuses }: { weight: number; prefix: string; statuses: number[] },
): RequestKind {
  return {
    name,
    weight,
    statuses,
    send: (load, receiver) =>
      load.ask(
        receiver,
        load.request(receiver, { path: "/webhooks/inline", headers: { "Webhook-Id": load.newId(prefix) } }),
      ),
  };
}

function background(
  name: string,
  { weight, prefix, large = false }: { weight: number; prefix: string; large?: boolean },
): RequestKind {
  return {
    name,
    weight,
    statuses: [202],
    send: (load, receiver) =>
      load.deliver(receiver, { id: load.newId(prefix), body: large ? load.bodyOf(50_000, 150_000) : plain }),
  };
}

function refused(
  name: string,
  { weight, statuses, ...request }: { weight: number; statuses: number[] } & Partial<RawRequest>,
): RequestKind {
  return {
    name,
    weight,
    statuses,
    send: (load, receiver) => load.ask(receiver, load.request(receiver, { path: "/webhooks/background", ...request })),
  };
}

function page(name: string, { weight, path }: { weight: number; path: string }): RequestKind {
  return { name, weight, statuses: [200], send: (load, receiver) => load.ask(receiver, load.page(receiver, path)) };
}

export interface LoadOptions {
  random: SeededRandom;
  audit: Audit;
  findings: Findings;
  secret: string;
  consoleToken: string;
  /** The receivers to send to. The first one is never stopped. */
  receivers: () => readonly [SampledReceiver, ...SampledReceiver[]];
}

/** Sends a mix of valid and invalid requests to receivers, some of which are stopped in the meantime. */
export class Load {
  readonly tallies: ReadonlyMap<string, Tally> = new Map(
    kinds.map(({ name }) => [name, { sent: 0, cutOff: 0, statuses: new Map() }]),
  );
  readonly #options: LoadOptions;
  readonly #inProgress = new Set<Promise<void>>();
  readonly #acknowledged: string[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get inProgress(): number {
    return this.#inProgress.size;
  }

  /** Sends one request of the mix without waiting for the answer. */
  sendOne(): void {
    const { random, receivers } = this.#options;
    const kind = random.pickWeighted(kinds);
    const receiver = random.pick(receivers());
    const sending = this.#send(kind, receiver).finally(() => this.#inProgress.delete(sending));
    this.#inProgress.add(sending);
  }

  /** Waits for all requests in progress. */
  async settle(): Promise<void> {
    await Promise.all(this.#inProgress);
  }

  async #send(kind: RequestKind, receiver: SampledReceiver): Promise<void> {
    const { findings } = this.#options;
    const tally = this.tallies.get(kind.name);
    if (!tally) return;
    tally.sent += 1;
    try {
      const answer = await kind.send(this, receiver);
      if (!answer) return;
      this.#checkSecrets(answer);
      tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1);
      const isClosing = receiver.isStopping && answer.status === 503;
      if (!kind.statuses.includes(answer.status) && !isClosing) {
        findings.note(`${kind.name} is answered ${answer.status}`, answer.text.slice(0, 300));
      }
    } catch (error) {
      tally.cutOff += 1;
      if (!receiver.isStopping) findings.note(`${kind.name} has no answer: ${error}`);
    }
  }

  /**
   * Sends a background delivery. One that a stopped receiver did not acknowledge is sent again, as the Hub retries it, to
   * the receiver that is never stopped.
   */
  async deliver(receiver: SampledReceiver, { id, body }: { id: string; body: string }): Promise<RawAnswer> {
    const send = (to: SampledReceiver) =>
      this.ask(to, this.request(to, { path: "/webhooks/background", headers: { "Webhook-Id": id }, body }));
    const first = await send(receiver).catch((error: unknown) => {
      if (!receiver.isStopping) throw error;
      return undefined;
    });
    const isLost = first === undefined || (receiver.isStopping && first.status === 503);
    const answer = isLost ? await send(this.#options.receivers()[0]) : first;
    if (answer.status === 202) this.#acknowledge(id);
    return answer;
  }

  #acknowledge(id: string): void {
    if (this.#acknowledged.includes(id)) return;
    this.#acknowledged.push(id);
    if (this.#acknowledged.length > 2_000) this.#acknowledged.splice(0, 1_000);
    this.#options.audit.acknowledge({ endpoint: "background", id });
  }

  newId(prefix: string): string {
    return `${prefix}-${crypto.randomUUID()}`;
  }

  /** Returns the ID of an acknowledged delivery that succeeds. */
  earlierId(): string {
    const works = this.#acknowledged.filter((id) => id.startsWith("works"));
    return works.length === 0 ? this.newId("works") : this.#options.random.pick(works);
  }

  /** Returns a payload with a length between `min` and `max`. */
  bodyOf(min: number, max: number): string {
    const extra = "x".repeat(min + this.#options.random.below(max - min));
    return JSON.stringify({ ...webhookPayload("discussion.comment"), extra });
  }

  request(receiver: SampledReceiver, { headers, ...request }: RawRequest): Buffer {
    return requestBytes({
      headers: {
        Host: new URL(receiver.url).host,
        "Content-Type": "application/json",
        "X-Webhook-Secret": this.#options.secret,
        "Webhook-Id": this.newId("works"),
        ...headers,
      },
      body: plain,
      ...request,
    });
  }

  page(receiver: SampledReceiver, path: string): Buffer {
    const { consoleToken } = this.#options;
    const password = Buffer.from(`owner:${consoleToken}`).toString("base64");
    const headers = {
      Host: new URL(receiver.url).host,
      Authorization: path.startsWith("/_console") ? `Bearer ${consoleToken}` : `Basic ${password}`,
      "Content-Length": undefined,
    };
    return requestBytes({ method: "GET", path, headers });
  }

  open(receiver: SampledReceiver): Promise<RawSocket> {
    return RawSocket.open(receiver.url);
  }

  /** Sends parts on a new connection and waits for the answer. A number is a pause in milliseconds. */
  async ask(receiver: SampledReceiver, ...parts: readonly (Buffer | string | number)[]): Promise<RawAnswer> {
    const socket = await this.open(receiver);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("There was no answer in time.")), maxAnswerMs);
    const answered = socket.answer();
    try {
      for (const part of parts) {
        if (typeof part !== "number") socket.send(part);
        else await Promise.race([new Promise((resolve) => setTimeout(resolve, part)), answered, late.promise]);
      }
      return await Promise.race([answered, late.promise]);
    } finally {
      clearTimeout(timer);
      socket.close();
    }
  }

  #checkSecrets({ text, headers }: RawAnswer): void {
    const { secret, consoleToken, findings } = this.#options;
    for (const planted of [secret, consoleToken]) {
      if (holdsSecret([text, [...headers]], planted)) findings.note("a secret is in an answer");
    }
  }
}
