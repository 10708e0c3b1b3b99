/** Objects below a prefix of a bucket. Keys are relative to the prefix. */
export interface ObjectStore {
  /** The URL of the inbox without credentials and without its query, for messages. */
  readonly name: string;
  /**
   * Stores an object. With `ifAbsent`, the store decides atomically: of several concurrent requests for a key, only one resolves
   * with `stored`, and the others resolve with `exists`.
   *
   * @throws {@link ObjectStoreError} if the object was not stored, or if it is unknown whether it was stored.
   */
  put(key: string, body: Uint8Array, options?: { ifAbsent?: boolean }): Promise<"stored" | "exists">;
  /** Returns an object, or `undefined` if no object has this key. @throws {@link ObjectStoreError} */
  get(key: string): Promise<StoredObject | undefined>;
  /**
   * Lists all objects whose keys start with a prefix, sorted by key. `after`: a key, to list only the objects after this key.
   *
   * @throws {@link ObjectStoreError}
   */
  list(prefix: string, options?: { after?: string }): Promise<readonly ListedObject[]>;
  /** Deletes an object. A missing object is no error. @throws {@link ObjectStoreError} */
  delete(key: string): Promise<void>;
}

/** An object with its content. */
export interface StoredObject {
  body: Uint8Array;
  /** The time since the object was stored, in milliseconds, by the clock of the store. */
  ageMs: number;
}

/** An object in a list. */
export interface ListedObject {
  key: string;
  bytes: number;
}

/** A failed request to an object store. The message contains no keys or signatures. */
export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";
  /**
   * Whether the store has refused the request, such as for a wrong access key. The request then had no effect, and the same request
   * fails again. Otherwise, it is unknown whether the request had an effect.
   */
  readonly isRefused: boolean;
  /** The HTTP status of the response. Missing if there was no response. */
  readonly status: number | undefined;
  /** The error code of S3, such as `SlowDown`. */
  readonly s3Code: string | undefined;
  /** How long to wait before the next request, in milliseconds, if the store requested a wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    {
      isRefused,
      status,
      s3Code,
      retryAfterMs,
      cause,
    }: { isRefused: boolean; status?: number; s3Code?: string; retryAfterMs?: number; cause?: unknown },
  ) {
    super(message, { cause });
    this.isRefused = isRefused;
    this.status = status;
    this.s3Code = s3Code;
    this.retryAfterMs = retryAfterMs;
  }
}
