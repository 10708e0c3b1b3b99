import { webhookPayload } from "hub-webhooks/testing";
import { holdsSecret } from "../faults/leak.ts";
import type { Findings } from "../support/findings.ts";
import { chunk, type RawAnswer, type RawRequest, RawSocket, requestBytes } from "../support/raw-socket.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Audit } from "./audit.ts";
import type { Life } from "./life.ts";

/** What is sent to a receiver, and what it may answer. */
interface Kind {
  name: string;
  weight: number;
  /** Of the answer; none: nobody waits for one. */
  statuses: readonly number[];
  send: (load: Load, life: Life) => Promise<RawAnswer | undefined>;
}

/** What came of one kind. */
export interface Tally {
  sent: number;
  /** The receiver was ended, or was ending, before it had answered. */
  cutOff: number;
  /** How often each status came. */
  statuses: Map<number, number>;
}

const longestAnswerMs = 40_000;
const wrongSecret = [403, 429];
const plain = JSON.stringify(webhookPayload("repo.content"));

const kinds: readonly Kind[] = [
  inline("inline", { weight: 18, prefix: "works", statuses: [200] }),
  {
    name: "inline, large (1 to 3 MB)",
    weight: 1,
    statuses: [200],
    send: (load, life) =>
      load.ask(life, load.request(life, { path: "/webhooks/inline", body: load.bodyOf(1_000_000, 3_000_000) })),
  },
  inline("inline, slow handler", { weight: 3, prefix: "slow", statuses: [200] }),
  inline("inline, handler fails", { weight: 3, prefix: "fails", statuses: [500] }),
  background("background", { weight: 18, prefix: "works" }),
  background("background, slow handler", { weight: 6, prefix: "slow" }),
  background("background, fails once", { weight: 4, prefix: "second-try" }),
  background("background, fails always", { weight: 1, prefix: "poison" }),
  background("background, cannot work", { weight: 1, prefix: "hopeless" }),
  {
    name: "duplicate of one acknowledged",
    weight: 6,
    statuses: [202],
    send: (load, life) => load.deliver(life, { id: load.earlierId(), body: plain }),
  },
  background("background, large (50 to 150 kB)", { weight: 0.6, prefix: "works", large: true }),
  refused("no secret", { weight: 3, statuses: [401], headers: { "X-Webhook-Secret": undefined } }),
  refused("wrong secret", { weight: 8, statuses: wrongSecret, headers: { "X-Webhook-Secret": "another" } }),
  refused("no JSON", { weight: 3, statuses: [400], body: plain.slice(0, -1) }),
  refused("no payload", { weight: 3, statuses: [422], body: '{"event":{"scope":"repo"},"repo":[]}' }),
  refused("too large", { weight: 1, statuses: [413], headers: { "Content-Length": "5000000" }, body: "" }),
  refused("compressed", { weight: 1, statuses: [415], headers: { "Content-Encoding": "gzip" } }),
  refused("unknown endpoint", { weight: 2, statuses: [404], path: "/webhooks/nowhere" }),
  refused("another method", { weight: 1, statuses: [405], method: "PUT" }),
  {
    name: "bytes that are no HTTP",
    weight: 2,
    statuses: [400],
    send: (load, life) => load.ask(life, "\x16\x03\x01\r\n\r\n"),
  },
  {
    name: "body that comes slowly",
    weight: 3,
    statuses: [200],
    send: async (load, life) => {
      const half = Math.floor(plain.length / 2);
      const head = load.request(life, {
        path: "/webhooks/inline",
        headers: { "Transfer-Encoding": "chunked" },
        body: "",
      });
      const parts = [head, chunk(plain.slice(0, half)), chunk(plain.slice(half)), chunk("")];
      return load.ask(life, ...parts.flatMap((part) => [part, 400]));
    },
  },
  {
    name: "hangs up in the body",
    weight: 3,
    statuses: [],
    send: async (load, life) => {
      const bytes = load.request(life, { path: "/webhooks/background" });
      (await load.open(life)).send(bytes.subarray(0, -10)).reset();
      return undefined;
    },
  },
  {
    name: "hangs up before the answer",
    weight: 2,
    statuses: [],
    send: async (load, life) => {
      const socket = await load.open(life);
      socket.send(load.request(life, { path: "/webhooks/inline", headers: { "Webhook-Id": load.newId("slow") } }));
      setTimeout(() => socket.reset(), 20);
      return undefined;
    },
  },
  {
    name: "connection without a word",
    weight: 1,
    statuses: [],
    send: async (load, life) => {
      const socket = await load.open(life);
      setTimeout(() => socket.close(), 5_000);
      return undefined;
    },
  },
  page("landing page", { weight: 2, path: "/" }),
  page("health", { weight: 2, path: "/health" }),
  page("dashboard", { weight: 1, path: "/_deliveries" }),
  page("dashboard, dead ones", { weight: 0.5, path: "/_deliveries?status=dead" }),
  page("metrics", { weight: 0.5, path: "/metrics" }),
];

function inline(
  name: string,
  { weight, prefix, statuses }: { weight: number; prefix: string; statuses: number[] },
): Kind {
  return {
    name,
    weight,
    statuses,
    send: (load, life) =>
      load.ask(life, load.request(life, { path: "/webhooks/inline", headers: { "Webhook-Id": load.newId(prefix) } })),
  };
}

function background(
  name: string,
  { weight, prefix, large = false }: { weight: number; prefix: string; large?: boolean },
): Kind {
  return {
    name,
    weight,
    statuses: [202],
    send: (load, life) =>
      load.deliver(life, { id: load.newId(prefix), body: large ? load.bodyOf(50_000, 150_000) : plain }),
  };
}

function refused(
  name: string,
  { weight, statuses, ...request }: { weight: number; statuses: number[] } & Partial<RawRequest>,
): Kind {
  return {
    name,
    weight,
    statuses,
    send: (load, life) => load.ask(life, load.request(life, { path: "/webhooks/background", ...request })),
  };
}

function page(name: string, { weight, path }: { weight: number; path: string }): Kind {
  return { name, weight, statuses: [200], send: (load, life) => load.ask(life, load.page(life, path)) };
}

/** What a {@link Load} needs. */
export interface LoadOptions {
  random: SeededRandom;
  audit: Audit;
  findings: Findings;
  secret: string;
  dashboardToken: string;
  /** The receivers that may be sent to, the one that is never ended first. */
  lives: () => readonly [Life, ...Life[]];
}

/** Sends what senders send, good and bad, to receivers that come and go. */
export class Load {
  readonly tallies: ReadonlyMap<string, Tally> = new Map(
    kinds.map(({ name }) => [name, { sent: 0, cutOff: 0, statuses: new Map() }]),
  );
  readonly #options: LoadOptions;
  readonly #underWay = new Set<Promise<void>>();
  readonly #acknowledged: string[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Sends one of the mix; nobody needs to wait for it. */
  sendOne(): void {
    const { random, lives } = this.#options;
    const kind = random.pickWeighted(kinds);
    const life = random.pick(lives());
    const sending = this.#send(kind, life).finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }

  /** Waits until everything that was sent has its end. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #send(kind: Kind, life: Life): Promise<void> {
    const { findings } = this.#options;
    const tally = this.tallies.get(kind.name);
    if (!tally) return;
    tally.sent += 1;
    try {
      const answer = await kind.send(this, life);
      if (!answer) return;
      this.#look(answer);
      tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1);
      const isLeaving = life.isEnding && answer.status === 503;
      if (!kind.statuses.includes(answer.status) && !isLeaving) {
        findings.note(`${kind.name} is answered ${answer.status}`, answer.text.slice(0, 300));
      }
    } catch (error) {
      tally.cutOff += 1;
      if (!life.isEnding) findings.note(`${kind.name} has no answer: ${error}`);
    }
  }

  /**
   * Sends a delivery in the background. Whatever has no answer that acknowledges it is sent again, as the Hub does it, to
   * the receiver that is never ended.
   */
  async deliver(life: Life, { id, body }: { id: string; body: string }): Promise<RawAnswer> {
    const send = (to: Life) =>
      this.ask(to, this.request(to, { path: "/webhooks/background", headers: { "Webhook-Id": id }, body }));
    const first = await send(life).catch((error: unknown) => {
      if (!life.isEnding) throw error;
      return undefined;
    });
    const isLost = first === undefined || (life.isEnding && first.status === 503);
    const answer = isLost ? await send(this.#options.lives()[0]) : first;
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

  /** The id of something that was acknowledged some time ago, and works. */
  earlierId(): string {
    const works = this.#acknowledged.filter((id) => id.startsWith("works"));
    return works.length === 0 ? this.newId("works") : this.#options.random.pick(works);
  }

  /** A payload of a length between these. */
  bodyOf(least: number, most: number): string {
    const extra = "x".repeat(least + this.#options.random.below(most - least));
    return JSON.stringify({ ...webhookPayload("discussion.comment"), extra });
  }

  request(life: Life, { headers, ...request }: RawRequest): Buffer {
    return requestBytes({
      headers: {
        Host: new URL(life.url).host,
        "Content-Type": "application/json",
        "X-Webhook-Secret": this.#options.secret,
        "Webhook-Id": this.newId("works"),
        ...headers,
      },
      body: plain,
      ...request,
    });
  }

  page(life: Life, path: string): Buffer {
    const password = Buffer.from(`owner:${this.#options.dashboardToken}`).toString("base64");
    const headers = { Host: new URL(life.url).host, Authorization: `Basic ${password}`, "Content-Length": undefined };
    return requestBytes({ method: "GET", path, headers });
  }

  /** A connection of its own. */
  open(life: Life): Promise<RawSocket> {
    return RawSocket.open(life.url);
  }

  /** Sends parts on a connection of their own, with pauses where there are numbers, and waits for the answer. */
  async ask(life: Life, ...parts: readonly (Buffer | string | number)[]): Promise<RawAnswer> {
    const socket = await this.open(life);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("It did not answer in time.")), longestAnswerMs);
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

  #look({ text, headers }: RawAnswer): void {
    const { secret, dashboardToken, findings } = this.#options;
    for (const planted of [secret, dashboardToken]) {
      if (holdsSecret([text, [...headers]], planted)) findings.note("a secret is in an answer");
    }
  }
}
