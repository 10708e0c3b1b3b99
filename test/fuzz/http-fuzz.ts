import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import type { Findings, MonitoredReceiver } from "../support/monitored-receiver.ts";
import { holdsSecret } from "../support/secrets.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { readAnswers, type WireAnswer } from "./http-answers.ts";
import { type HttpInput, makeHttpInput } from "./http-input.ts";

export interface HttpFuzzOptions {
  receiver: () => MonitoredReceiver;
  findings: Findings;
  seed: number;
  secret: string;
  consoleToken: string;
}

/** The receiver closes every connection after its timeouts of at most 3 s. */
const maxConnectionMs = 15_000;
const concurrency = 24;

/** Sends generated requests, mostly invalid, to a receiver and checks every byte of the answers. */
export class HttpFuzz {
  cases = 0;
  /** Number of answers by status. */
  readonly statuses = new Map<number, number>();
  readonly #options: HttpFuzzOptions;
  #isServing = true;

  constructor(options: HttpFuzzOptions) {
    this.#options = options;
  }

  /** The options that reproduce the latest cases. */
  get reproduction(): string {
    return `--seed ${this.#options.seed}, about --case ${this.cases}`;
  }

  async run(isOver: () => boolean): Promise<void> {
    const worker = async () => {
      while (!isOver() && this.#isServing) {
        this.cases += 1;
        await this.#try(this.cases);
        if (this.cases % 500 === 0) await this.#sendValidDelivery();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }

  /** Runs one case and prints the request and the answer. */
  async show(number: number): Promise<void> {
    const input = this.#input(number);
    console.log(
      JSON.stringify({ end: input.end, pieces: input.pieces.map((piece) => piece.toString("latin1")) }, null, 2),
    );
    console.log(JSON.stringify((await this.#exchange(input)).bytes.toString("latin1"), null, 2));
    await this.#try(number);
  }

  #input(number: number): HttpInput {
    const { seed, secret, consoleToken } = this.#options;
    const owner = Buffer.from(`me:${consoleToken}`).toString("base64");
    return makeHttpInput(new SeededRandom(seed * 1_000_003 + number), { secret, owner, token: consoleToken });
  }

  async #try(number: number): Promise<void> {
    const { findings, seed } = this.#options;
    const shownBy = `--seed ${seed} --case ${number}`;
    const input = this.#input(number);
    try {
      const { bytes, inTime } = await this.#exchange(input);
      if (!inTime) findings.note("a connection is not closed in time", shownBy);
      // After a reset, the answer may be incomplete.
      if (input.end === "reset") return;
      for (const answer of readAnswers(bytes)) this.#checkStatus(answer, shownBy);
      this.#checkSecrets(bytes, shownBy);
    } catch (error) {
      if (this.#options.receiver().hasEnded) this.#isServing = false;
      findings.note(String(error), shownBy);
    }
  }

  #checkStatus({ status, body }: WireAnswer, shownBy: string): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status < 500) return;
    if (status === 500 && body.includes('"code":"HANDLER_FAILED"')) return;
    this.#options.findings.note(`an answer is ${status}: ${body.slice(0, 200)}`, shownBy);
  }

  #checkSecrets(bytes: Buffer, shownBy: string): void {
    const { secret, consoleToken, findings } = this.#options;
    for (const planted of [secret, consoleToken]) {
      if (holdsSecret(bytes, planted)) findings.note("a secret is in an answer", shownBy);
    }
  }

  #exchange({ pieces, end }: HttpInput): Promise<{ bytes: Buffer; inTime: boolean }> {
    const { hostname, port } = new URL(this.#options.receiver().url);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      const received: Buffer[] = [];
      let inTime = true;
      const timer = setTimeout(() => {
        inTime = false;
        socket.destroy();
      }, maxConnectionMs);
      socket.on("data", (chunk: Buffer) => received.push(chunk));
      socket.on("end", () => socket.end());
      socket.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED") reject(new Error("the receiver does not listen any longer"));
      });
      socket.on("close", () => {
        clearTimeout(timer);
        resolve({ bytes: Buffer.concat(received), inTime });
      });
      socket.on("connect", async () => {
        for (const piece of pieces) {
          if (socket.destroyed || socket.writableEnded) return;
          socket.write(piece);
          if (pieces.length > 1) await pause(1);
        }
        if (end === "finish") socket.end();
        if (end === "reset") socket.resetAndDestroy();
      });
    });
  }

  /** Notes a finding unless a valid delivery is answered with 200. */
  async #sendValidDelivery(): Promise<void> {
    const { receiver, secret, findings } = this.#options;
    const payload = webhookPayload("repo.content");
    const request = deliveryRequest({ endpoint: "inline", payload, secret, baseUrl: receiver().url });
    const status = await fetch(request).then(
      (response) => response.status,
      (error: unknown) => String(error),
    );
    if (status !== 200) findings.note(`a valid delivery is answered with ${status}`, this.reproduction);
  }
}
