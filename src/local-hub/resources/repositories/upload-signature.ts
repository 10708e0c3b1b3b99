import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A file that a client may upload to LFS. */
export interface AllowedUpload {
  repositoryId: string;
  /** The SHA-256 of the content, in hexadecimal digits. */
  oid: string;
  /** The size in bytes. */
  size: number;
}

const validMs = 6 * 60 * 60 * 1_000;

/**
 * Signs the URLs to which clients upload files, because clients send no token to these URLs. The URLs are valid for six hours, and only
 * until the local Hub stops.
 */
export class UploadSigner {
  readonly #key = randomBytes(32);
  readonly #now: () => number;

  constructor({ now }: { now: () => number }) {
    this.#now = now;
  }

  /** Returns the query of an upload URL. */
  sign(upload: AllowedUpload): string {
    const expires = this.#now() + validMs;
    return String(
      new URLSearchParams({
        size: String(upload.size),
        expires: String(expires),
        signature: this.#hash(upload, expires),
      }),
    );
  }

  /** Whether the query of an upload URL is valid. */
  verify(upload: AllowedUpload, { expires, signature }: { expires: number; signature: string }): boolean {
    const expected = Buffer.from(this.#hash(upload, expires));
    const sent = Buffer.from(signature);
    return expires > this.#now() && sent.byteLength === expected.byteLength && timingSafeEqual(sent, expected);
  }

  #hash({ repositoryId, oid, size }: AllowedUpload, expires: number): string {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([repositoryId, oid, size, expires]))
      .digest("hex");
  }
}
