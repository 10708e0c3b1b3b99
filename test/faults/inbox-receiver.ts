import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { RawAnswer } from "../support/raw-socket.ts";
import { addressOf, type ReceiverProcess, startReceiverProcess } from "../support/receiver-process.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { Ledger } from "./inbox-ledger.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { Receiver, secret } from "./receiver.ts";
import { inOwnProcess } from "./rows.ts";

/** The script of all receivers with an inbox. */
export const inboxScript = new URL("./inbox-script.ts", import.meta.url);

/** The compile cache reduces the start time to a third. */
const compiled = fileURLToPath(new URL("../../node_modules/.faults/compiled", import.meta.url));

/** Returns the environment of a receiver with an inbox. */
export function inboxEnvironment(url: string, environment: Readonly<Record<string, string | undefined>> = {}) {
  inOwnProcess();
  const settings = {
    PORT: "0",
    WEBHOOK_SECRET: secret,
    INBOX_URL: url,
    NODE_COMPILE_CACHE: compiled,
    ...packageEnvironment,
    ...environment,
  };
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A delivery to send. */
export interface Sent {
  /** Default: a new ID. */
  id?: string;
  /** Default `target`. */
  endpoint?: string;
}

/** A receiver in a separate process whose endpoints run in the background. */
export class InboxReceiver extends Receiver {
  readonly child: ReceiverProcess;
  readonly ledger: Ledger;

  constructor(child: ReceiverProcess, { url, ledger }: { url: string; ledger: Ledger }) {
    super({ url, lines: () => child.lines, runs: () => child.lines.filter(({ msg }) => msg === "target ran").length });
    this.child = child;
    this.ledger = ledger;
  }

  /** Returns the bytes of a delivery to a background endpoint. */
  bytes({ id = crypto.randomUUID(), endpoint = "target" }: Sent = {}): Buffer {
    return this.delivery({ path: `/webhooks/${endpoint}`, headers: { "Webhook-Id": id } });
  }

  /** Sends a delivery on a new connection and records an acknowledgment in the ledger. */
  async deliver({ id = crypto.randomUUID(), endpoint = "target" }: Sent = {}): Promise<RawAnswer> {
    const answer = await this.send(this.bytes({ id, endpoint }));
    this.note(answer, { id, endpoint });
    return answer;
  }

  note(answer: RawAnswer, { id, endpoint }: Required<Sent>): void {
    if (answer.status !== 202) return;
    expect(JSON.parse(answer.text)).toMatchObject({ deliveryId: id });
    this.ledger.acknowledge({ id, endpoint });
  }

  /** Sends deliveries on persistent connections until the receiver exits. Returns the number of refused deliveries. */
  async load({ connections = 4, acknowledged = () => {} } = {}): Promise<number> {
    let refused = 0;
    const sendOnOne = async () => {
      try {
        const socket = await this.connect();
        for (;;) {
          const sent = { id: crypto.randomUUID(), endpoint: "target" };
          const answer = await socket.send(this.bytes(sent)).answer();
          this.note(answer, sent);
          if (answer.status === 202) acknowledged();
          else refused += 1;
        }
      } catch {
        // The connection closed. The last delivery was not acknowledged, so the Hub would retry it.
      }
    };
    await Promise.all(Array.from({ length: connections }, sendOnOne));
    return refused;
  }

  async control(path: string): Promise<unknown> {
    const response = await fetch(new URL(`/control/${path}`, this.url), { method: "POST" });
    expect(response.status).toBe(200);
    return response.json();
  }

  countOf(message: string): number {
    return this.child.lines.filter(({ msg }) => msg === message).length;
  }

  /** Waits until exactly `count` log lines have these fields. */
  async says(count: number, fields: Readonly<Record<string, unknown>>): Promise<void> {
    await waitFor(() => {
      const found = this.child.lines.filter((line) => matches(line, fields));
      expect(found, JSON.stringify(this.child.lines.slice(-8))).toHaveLength(count);
    });
  }

  /** Waits until exactly one log line has these fields. */
  saysOnce(fields: Readonly<Record<string, unknown>>): Promise<void> {
    return this.says(1, fields);
  }

  /** Asserts that the receiver stores and runs the next delivery and that no output contains the secret. */
  async stillWorks(...answers: readonly (RawAnswer | undefined)[]): Promise<void> {
    const id = crypto.randomUUID();
    const answer = await this.deliver({ id });
    expect(answer.status, answer.text).toBe(202);
    await this.ledger.waitForStatus({ id, endpoint: "target" }, "succeeded");
    await this.keepsSecret(answer, ...answers);
    expect(holdsSecret([this.child.lines, this.child.errorOutput], secret)).toBe(false);
    expect(this.child.errorOutput).toBe("");
  }
}

function matches(line: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(fields).every(([field, wanted]) =>
    wanted instanceof RegExp ? wanted.test(String(line[field])) : line[field] === wanted,
  );
}

/** Starts a receiver with an inbox and waits until it is ready. */
export async function startInboxReceiver({
  ledger,
  url,
  ...environment
}: { url: string; ledger?: Ledger } & Readonly<Record<string, unknown>>): Promise<InboxReceiver> {
  const settings = Object.entries(environment).map(([name, value]) => [name, String(value)]);
  const child = startReceiverProcess(inboxScript, inboxEnvironment(url, Object.fromEntries(settings)));
  return new InboxReceiver(child, { url: await addressOf(child), ledger: ledger ?? new Ledger(url) });
}
