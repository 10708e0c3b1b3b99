import type { AwsClient } from "aws4fetch";
import { loadPackages } from "../optional-packages.ts";
import type { BucketCredentials, BucketLocation } from "./bucket-url.ts";
import { type ListedObject, type ObjectStore, ObjectStoreError, type StoredObject } from "./object-store.ts";
import { S3Client, type S3Request } from "./s3-client.ts";
import { parsePage } from "./s3-xml.ts";

export interface S3ObjectStoreOptions {
  location: BucketLocation;
  credentials: BucketCredentials;
  /** The timeout of each request, in milliseconds. Large transfers may take longer. Default `10_000`. */
  timeoutMs?: number;
}

/**
 * Opens a bucket of a service with the S3 API. Does not send a request.
 *
 * @throws `INBOX_UNUSABLE` if the package `aws4fetch` is not installed.
 */
export async function openS3ObjectStore({
  location,
  credentials,
  timeoutMs = 10_000,
}: S3ObjectStoreOptions): Promise<ObjectStore> {
  const aws4fetch = await loadPackages(
    ["aws4fetch"],
    async (name): Promise<typeof import("aws4fetch")> => import(name),
  );
  const signer = new aws4fetch.AwsClient({ ...credentials, service: "s3", region: location.region, retries: 0 });
  return new S3ObjectStore({ location, signer, timeoutMs });
}

class S3ObjectStore implements ObjectStore {
  readonly name: string;
  readonly #location: BucketLocation;
  readonly #client: S3Client;

  constructor({ location, ...client }: { location: BucketLocation; signer: AwsClient; timeoutMs: number }) {
    this.name = location.name;
    this.#location = location;
    this.#client = new S3Client(client);
  }

  async put(key: string, body: Uint8Array, { ifAbsent = false } = {}): Promise<"stored" | "exists"> {
    const request: S3Request = { method: "PUT", url: this.#urlOf(key), body };
    if (!ifAbsent) {
      await this.#client.sendRepeatedly(request);
      return "stored";
    }
    try {
      // The caller decides whether to repeat the request: the first one can have stored the object although it failed.
      await this.#client.send({ ...request, headers: { "if-none-match": "*" } });
      return "stored";
    } catch (error) {
      if (error instanceof ObjectStoreError && error.status === 412) return "exists";
      throw error;
    }
  }

  async get(key: string): Promise<StoredObject | undefined> {
    const url = this.#urlOf(key);
    try {
      const { headers, isRedirected, body } = await this.#client.sendRepeatedly({ method: "GET", url });
      const needsHead = isRedirected && !headers.has("last-modified");
      return { body, ageMs: ageOf(needsHead ? await this.#readHead(url) : headers) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** A CDN can store equal objects once, so only the store itself has the age of an object. */
  async #readHead(url: URL): Promise<Headers> {
    return (await this.#client.sendRepeatedly({ method: "HEAD", url })).headers;
  }

  async list(prefix: string, { after }: { after?: string } = {}): Promise<ListedObject[]> {
    const { prefix: root } = this.#location;
    const found = new Map<string, ListedObject>();
    let token: string | undefined;
    do {
      const url = this.#bucketUrl();
      url.searchParams.set("list-type", "2");
      url.searchParams.set("encoding-type", "url");
      url.searchParams.set("prefix", root + prefix);
      if (token !== undefined) url.searchParams.set("continuation-token", token);
      else if (after !== undefined) url.searchParams.set("start-after", root + after);
      const { body } = await this.#client.sendRepeatedly({ method: "GET", url });
      const page = parsePage(body);
      if (page === undefined || (page.next !== undefined && page.next === token)) {
        throw new ObjectStoreError("The bucket responded with an invalid list of objects.", { isRefused: false });
      }
      for (const { key: whole, bytes } of page.objects) {
        const key = whole.slice(root.length);
        // Not all stores support `start-after`.
        if (whole.startsWith(root + prefix) && key > (after ?? "")) found.set(key, { key, bytes });
      }
      token = page.next;
    } while (token !== undefined);
    return [...found.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  async delete(key: string): Promise<void> {
    try {
      await this.#client.sendRepeatedly({ method: "DELETE", url: this.#urlOf(key) });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  #bucketUrl(): URL {
    return new URL(`${this.#location.endpoint}/${this.#location.bucket}`);
  }

  #urlOf(key: string): URL {
    return new URL(`${this.#bucketUrl()}/${this.#location.prefix}${key}`);
  }
}

/** Other responses with status 404 can come from a proxy or mean that there is no such bucket. */
function isMissing(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.s3Code === "NoSuchKey";
}

/** Returns the age of an object by the clock of the store. An object of unknown age counts as new. */
function ageOf(headers: Headers): number {
  const ageMs = Date.parse(headers.get("date") ?? "") - Date.parse(headers.get("last-modified") ?? "");
  return Number.isNaN(ageMs) ? 0 : Math.max(0, ageMs);
}
