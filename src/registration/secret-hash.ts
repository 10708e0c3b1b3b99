import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { NotedSecret } from "./state.ts";

const derive = promisify<string, Buffer, number, Buffer>(scrypt);
const saltBytes = 16;
const hashBytes = 32;

/**
 * Notes secrets so that one can be recognised, and not be read: a slow hash with a salt. What was reckoned once is kept,
 * since a server's webhooks mostly share a secret, and each hash takes about 50 ms.
 */
export class SecretHashes {
  readonly #secret: string | undefined;
  readonly #hashes = new Map<string, Promise<Buffer>>();
  #noted: Promise<NotedSecret> | undefined;

  /** @param secret the one that is wanted; `undefined` for none. */
  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  /** What is to be noted of it. */
  note(): Promise<NotedSecret> {
    this.#noted ??= this.#note();
    return this.#noted;
  }

  /** Whether it is the one that was noted; not known where nothing was. */
  async isNoted(noted: NotedSecret | undefined): Promise<boolean> {
    if (noted === undefined || noted === null || this.#secret === undefined) {
      return noted === null && this.#secret === undefined;
    }
    const hash = Buffer.from(noted.hash, "hex");
    const own = await this.#hash(this.#secret, noted.salt);
    return own.length === hash.length && timingSafeEqual(own, hash);
  }

  async #note(): Promise<NotedSecret> {
    if (this.#secret === undefined) return null;
    const salt = randomBytes(saltBytes).toString("hex");
    return { salt, hash: (await this.#hash(this.#secret, salt)).toString("hex") };
  }

  #hash(secret: string, salt: string): Promise<Buffer> {
    const known = this.#hashes.get(salt) ?? derive(secret, Buffer.from(salt, "hex"), hashBytes);
    this.#hashes.set(salt, known);
    return known;
  }
}
