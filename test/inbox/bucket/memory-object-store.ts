import {
  type ListedObject,
  type ObjectStore,
  ObjectStoreError,
  type StoredObject,
} from "../../../src/inbox/bucket/object-store.ts";

/** A request to a {@link MemoryObjectStore}. */
export interface StoreRequest {
  method: "put" | "get" | "list" | "delete";
  key: string;
}

/**
 * What happens to a request. `lost answer`: the request has its effect, but fails. `failed`: the request has no effect, but the caller
 * does not know that. `late`: the request fails, and has its effect when `runLate` is called. `refused`: the store refuses the request.
 * `torn`: the request fails after the first half of the object was stored.
 */
export type StoreFault = "lost answer" | "failed" | "late" | "refused" | "torn";

/** An object store in memory whose requests can fail. Processes that share a store share this object. */
export class MemoryObjectStore implements ObjectStore {
  readonly name: string;
  readonly objects = new Map<string, { body: Uint8Array; storedAt: number }>();
  /** All requests so far. */
  readonly requests: StoreRequest[] = [];
  /** Called before each request. Return a fault to make the request fail. */
  intercept: (request: StoreRequest) => StoreFault | undefined | Promise<StoreFault | undefined> = () => undefined;
  /** Called after an object was stored. */
  onStored: (stored: { key: string; body: Uint8Array; isTorn: boolean }) => void = () => {};
  /** Milliseconds since the epoch. */
  now: () => number = Date.now;
  readonly #late: (() => unknown)[] = [];

  constructor(name = "s3://test/inbox") {
    this.name = name;
  }

  async put(key: string, body: Uint8Array, { ifAbsent = false } = {}): Promise<"stored" | "exists"> {
    return this.#request({ method: "put", key }, (fault) => {
      if (ifAbsent && this.objects.has(key)) return "exists";
      const stored = fault === "torn" ? body.slice(0, body.length / 2) : body.slice();
      this.objects.set(key, { body: stored, storedAt: this.now() });
      this.onStored({ key, body, isTorn: fault === "torn" });
      return "stored";
    });
  }

  async get(key: string): Promise<StoredObject | undefined> {
    return this.#request({ method: "get", key }, () => {
      const found = this.objects.get(key);
      return found && { body: found.body.slice(), ageMs: this.now() - found.storedAt };
    });
  }

  async list(prefix: string, { after = "" } = {}): Promise<ListedObject[]> {
    return this.#request({ method: "list", key: prefix }, () =>
      [...this.objects]
        .filter(([key]) => key.startsWith(prefix) && key > after)
        .map(([key, { body }]) => ({ key, bytes: body.length }))
        .sort((one, other) => (one.key < other.key ? -1 : 1)),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#request({ method: "delete", key }, () => this.objects.delete(key));
  }

  /** The number of requests whose effect is late. */
  get late(): number {
    return this.#late.length;
  }

  /** Lets one of the late requests have its effect. */
  runLate(index: number): void {
    this.#late.splice(index, 1)[0]?.();
  }

  async #request<Result>(request: StoreRequest, run: (fault: StoreFault | undefined) => Result): Promise<Result> {
    this.requests.push(request);
    const fault = await this.intercept(request);
    if (fault === "failed") throw new ObjectStoreError("The connection was closed.", { isRefused: false });
    if (fault === "refused") throw new ObjectStoreError("Access denied.", { isRefused: true, status: 403 });
    if (fault === "late") {
      this.#late.push(() => run(undefined));
      throw new ObjectStoreError("The request has timed out.", { isRefused: false });
    }
    const result = run(fault);
    if (fault === "lost answer" || fault === "torn")
      throw new ObjectStoreError("The connection was closed.", { isRefused: false });
    return result;
  }
}
