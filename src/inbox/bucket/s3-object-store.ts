import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { AwsClient } from "aws4fetch";
import { loadPackages } from "../optional-packages.ts";
import type { BucketCredentials, BucketLocation } from "./bucket-url.ts";
import { type ListedObject, type ObjectStore, ObjectStoreError, type StoredObject } from "./object-store.ts";

export interface S3ObjectStoreOptions {
  location: BucketLocation;
  credentials: BucketCredentials;
  /** The timeout of each request, in milliseconds. Default `10_000`. */
  timeoutMs?: number;
}

/** Requests other than conditional ones are sent up to three times, with these pauses in milliseconds. */
const pausesMs = [200, 800];

/** The statuses after which the same request fails again. Other failures have an unknown effect. */
const refusals: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 411, 413, 501]);

type Method = "GET" | "PUT" | "DELETE";

interface S3Request {
  method: Method;
  url: URL;
  headers?: Record<string, string>;
  body?: Uint8Array;
}

/** A response whose body was read. */
interface S3Response {
  status: number;
  headers: Headers;
  body: Uint8Array;
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
  const client = new aws4fetch.AwsClient({ ...credentials, service: "s3", region: location.region, retries: 0 });
  return new S3ObjectStore({ location, client, timeoutMs });
}

class S3ObjectStore implements ObjectStore {
  readonly name: string;
  readonly #location: BucketLocation;
  readonly #client: AwsClient;
  readonly #timeoutMs: number;

  constructor({ location, client, timeoutMs }: { location: BucketLocation; client: AwsClient; timeoutMs: number }) {
    this.name = location.name;
    this.#location = location;
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  async put(key: string, body: Uint8Array, { ifAbsent = false } = {}): Promise<"stored" | "exists"> {
    const headers = {
      // The store rejects a body that was cut off or changed on the way.
      "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
      ...(ifAbsent && { "if-none-match": "*" }),
    };
    const request = { method: "PUT" as const, url: this.#urlOf(key), headers, body };
    const { status } = ifAbsent ? await this.#send(request) : await this.#sendRepeatedly(request);
    return status === 412 ? "exists" : "stored";
  }

  async get(key: string): Promise<StoredObject | undefined> {
    const { status, headers, body } = await this.#sendRepeatedly({ method: "GET", url: this.#urlOf(key) });
    if (status === 404) return undefined;
    const ageMs = Date.parse(headers.get("date") ?? "") - Date.parse(headers.get("last-modified") ?? "");
    // Without both headers, the age is unknown. An object of unknown age counts as new.
    return { body, ageMs: Number.isNaN(ageMs) ? 0 : Math.max(0, ageMs) };
  }

  async list(prefix: string, { after }: { after?: string } = {}): Promise<ListedObject[]> {
    const found: ListedObject[] = [];
    let token: string | undefined;
    do {
      const url = this.#bucketUrl();
      url.searchParams.set("list-type", "2");
      url.searchParams.set("encoding-type", "url");
      url.searchParams.set("prefix", this.#location.prefix + prefix);
      if (after !== undefined) url.searchParams.set("start-after", this.#location.prefix + after);
      if (token !== undefined) url.searchParams.set("continuation-token", token);
      const { body } = await this.#sendRepeatedly({ method: "GET", url });
      const page = parseList(new TextDecoder().decode(body));
      for (const { key, bytes } of page.objects) found.push({ key: key.slice(this.#location.prefix.length), bytes });
      token = page.next;
    } while (token !== undefined);
    return found.sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  async delete(key: string): Promise<void> {
    await this.#sendRepeatedly({ method: "DELETE", url: this.#urlOf(key) });
  }

  #bucketUrl(): URL {
    return new URL(`${this.#location.endpoint}/${this.#location.bucket}`);
  }

  #urlOf(key: string): URL {
    return new URL(`${this.#location.endpoint}/${this.#location.bucket}/${this.#location.prefix}${key}`);
  }

  /** Repeats a request whose effect is the same if it is sent twice. */
  async #sendRepeatedly(request: S3Request): Promise<S3Response> {
    for (const pauseMs of pausesMs) {
      try {
        return await this.#send(request);
      } catch (error) {
        if (!(error instanceof ObjectStoreError) || error.isRefused) throw error;
        await wait(Math.max(pauseMs, error.retryAfterMs ?? 0), undefined, { ref: false });
      }
    }
    return this.#send(request);
  }

  /** @throws {@link ObjectStoreError} unless the status is 2xx, 404 for a missing object, or 412. */
  async #send({ method, url, headers = {}, body }: S3Request): Promise<S3Response> {
    const response = await this.#receive(method, async (signal) => {
      const signed = await this.#client.sign(url, { method, headers, ...(body && { body: toArrayBuffer(body) }) });
      const first = await fetch(signed, { signal, redirect: "manual" });
      const location = first.headers.get("location");
      if (first.status < 300 || first.status >= 400 || location === null) return first;
      await first.body?.cancel();
      // The object is on a CDN. The signature is only for the store.
      return fetch(new URL(location, url), { signal });
    });
    const { status } = response;
    if ((status >= 200 && status < 300) || status === 412) return response;
    const s3Code = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(new TextDecoder().decode(response.body))?.[1];
    if (status === 404 && s3Code !== "NoSuchBucket" && method !== "PUT" && !url.searchParams.has("list-type")) {
      return response;
    }
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    throw new ObjectStoreError(`The bucket answered ${method} with status ${status}${s3Code ? ` (${s3Code})` : ""}.`, {
      isRefused: refusals.has(status) && s3Code !== "RequestTimeout",
      status,
      ...(s3Code !== undefined && { s3Code }),
      ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1_000 }),
    });
  }

  async #receive(method: Method, send: (signal: AbortSignal) => Promise<Response>): Promise<S3Response> {
    try {
      const response = await send(AbortSignal.timeout(this.#timeoutMs));
      return { status: response.status, headers: response.headers, body: await response.bytes() };
    } catch (cause) {
      const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
      const reason = isTimeout
        ? `has not answered ${method} within ${this.#timeoutMs} ms`
        : `is not reachable for ${method}`;
      throw new ObjectStoreError(`The bucket ${reason}.`, { isRefused: false, cause });
    }
  }
}

/** `fetch` does not accept a view of a shared buffer, so the types require a copy. */
function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(copy).set(bytes);
  return copy;
}

/** Reads the response to ListObjectsV2. Keys are percent-encoded, so they contain no XML entities. */
function parseList(xml: string): { objects: ListedObject[]; next: string | undefined } {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, content = ""]) => ({
    key: decodeURIComponent((textOf(content, "Key") ?? "").replaceAll("+", " ")),
    bytes: Number(textOf(content, "Size")),
  }));
  const next = textOf(xml, "NextContinuationToken");
  return { objects, next: next === undefined || textOf(xml, "IsTruncated") !== "true" ? undefined : unescapeXml(next) };
}

function textOf(xml: string, element: string): string | undefined {
  return new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_entity, name: string) => entities[name] ?? "");
}
