import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import * as z from "zod";

/**
 * The hash of a secret, or `null` for no secret. A hash can be compared with a secret, but does not reveal the secret.
 */
export const secretHash = z.union([z.null(), z.strictObject({ salt: z.string(), hash: z.string() })]);
export type SecretHash = z.output<typeof secretHash>;

const deriveKey = promisify<string, Buffer, number, Buffer>(scrypt);
const saltBytes = 16;
const hashBytes = 32;

/**
 * Hashes a secret for the state file, and checks whether a stored hash matches the secret. Hashes are cached, because
 * computing a hash takes about 50 ms and the webhooks of a server usually share a secret.
 */
export class SecretHasher {
  readonly #secret: string | undefined;
  readonly #hashes = new Map<string, Promise<Buffer>>();
  #stored: Promise<SecretHash> | undefined;

  /** @param secret the secret, or `undefined` for no secret. */
  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  /** Returns the salted hash to store, or `null` for no secret. */
  hash(): Promise<SecretHash> {
    this.#stored ??= this.#hashNew();
    return this.#stored;
  }

  /** Whether a stored hash matches this secret. `undefined` (an unknown secret) never matches. */
  async matches(stored: SecretHash | undefined): Promise<boolean> {
    if (stored === undefined || stored === null || this.#secret === undefined) {
      return stored === null && this.#secret === undefined;
    }
    const expected = Buffer.from(stored.hash, "hex");
    const actual = await this.#derive(this.#secret, stored.salt);
    return actual.length === expected.length && timingSafeEqual(actual, expected);
  }

  async #hashNew(): Promise<SecretHash> {
    if (this.#secret === undefined) return null;
    const salt = randomBytes(saltBytes).toString("hex");
    return { salt, hash: (await this.#derive(this.#secret, salt)).toString("hex") };
  }

  #derive(secret: string, salt: string): Promise<Buffer> {
    const hash = this.#hashes.get(salt) ?? deriveKey(secret, Buffer.from(salt, "hex"), hashBytes);
    this.#hashes.set(salt, hash);
    return hash;
  }
}
