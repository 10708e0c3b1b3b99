import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { holdsSecret } from "../faults/leak.ts";
import type { Findings } from "../support/findings.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import type { FuzzedReceiver } from "./fuzzed-receiver.ts";
import { readAnswers, type WireAnswer } from "./http-answers.ts";
import { type HttpInput, makeHttpInput } from "./http-input.ts";

/** What {@link HttpFuzz} needs. */
export interface HttpFuzzOptions {
  receiver: () => FuzzedReceiver;
  findings: Findings;
  seed: number;
  secret: string;
  dashboardToken: string;
}

/** The receiver ends every connection within its time-outs, which are three seconds at most. */
const longestMs = 15_000;
const atOnce = 24;

/** Sends nonsense to a receiver, case by case, and looks at every byte that comes back. */
export class HttpFuzz {
  cases = 0;
  /** How many answers had each status. */
  readonly statuses = new Map<number, number>();
  readonly #options: HttpFuzzOptions;
  #stands = true;

  constructor(options: HttpFuzzOptions) {
    this.#options = options;
  }

  /** How to see the latest cases again. */
  get latest(): string {
    return `with --seed ${this.#options.seed} and about --case ${this.cases}`;
  }

  /** Goes on until it is told to stop. */
  async run(isOver: () => boolean): Promise<void> {
    const lane = async () => {
      while (!isOver() && this.#stands) {
        this.cases += 1;
        await this.#try(this.cases);
        if (this.cases % 500 === 0) await this.#stillServes();
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  }

  /** Tries one case, and shows what was sent and what came. */
  async show(number: number): Promise<void> {
    const input = this.#input(number);
    console.log(
      JSON.stringify({ end: input.end, pieces: input.pieces.map((piece) => piece.toString("latin1")) }, null, 2),
    );
    console.log(JSON.stringify((await this.#exchange(input)).bytes.toString("latin1"), null, 2));
    await this.#try(number);
  }

  #input(number: number): HttpInput {
    const { seed, secret, dashboardToken } = this.#options;
    const owner = Buffer.from(`me:${dashboardToken}`).toString("base64");
    return makeHttpInput(new SeededRandom(seed * 1_000_003 + number), { secret, owner });
  }

  async #try(number: number): Promise<void> {
    const { findings, seed } = this.#options;
    const shownBy = `--seed ${seed} --case ${number}`;
    const input = this.#input(number);
    try {
      const { bytes, inTime } = await this.#exchange(input);
      if (!inTime) findings.note("a connection is not ended in time", shownBy);
      // What a reset, from either side, has cut off need not be whole.
      if (input.end === "reset") return;
      for (const answer of readAnswers(bytes)) this.#judge(answer, shownBy);
      this.#lookForSecret(bytes, shownBy);
    } catch (error) {
      if (this.#options.receiver().hasEnded) this.#stands = false;
      findings.note(String(error), shownBy);
    }
  }

  #judge({ status, body }: WireAnswer, shownBy: string): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status < 500) return;
    if (status === 500 && body.includes('"code":"HANDLER_FAILED"')) return;
    this.#options.findings.note(`an answer is ${status}: ${body.slice(0, 200)}`, shownBy);
  }

  #lookForSecret(bytes: Buffer, shownBy: string): void {
    const { secret, dashboardToken, findings } = this.#options;
    for (const planted of [secret, dashboardToken]) {
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
      }, longestMs);
      socket.on("data", (chunk: Buffer) => received.push(chunk));
      socket.on("end", () => socket.end());
      socket.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED") reject(new Error("nobody listens any more"));
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

  /** A valid delivery is answered 200, whatever came before. */
  async #stillServes(): Promise<void> {
    const { receiver, secret, findings } = this.#options;
    const payload = webhookPayload("repo.content");
    const request = deliveryRequest({ endpoint: "inline", payload, secret, baseUrl: receiver().url });
    const status = await fetch(request).then(
      (response) => response.status,
      (error: unknown) => String(error),
    );
    if (status !== 200) findings.note(`a valid delivery is answered ${status}`, this.latest);
  }
}
