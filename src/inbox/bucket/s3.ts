import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { directFetch } from "../../core/fetch.ts";
import { isWithinReach } from "../../hub/transport/redirects.ts";
import { loadPackages } from "../errors.ts";
import {
  type ListedObject,
  type ObjectStore,
  ObjectStoreError,
  type StoreConnection,
  type StoredObject,
} from "./object-store.ts";

/** Reads the code of an error, such as `SlowDown`. Returns `undefined` for the body of another server, such as a proxy. */
function parseErrorCode(body: Uint8Array): string | undefined {
  return /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(new TextDecoder().decode(body))?.[1];
}

/** Reads a response to ListObjectsV2, whose objects have their whole keys. Returns `undefined` if it is incomplete: an empty list would be taken for an empty bucket. */
function parsePage(body: Uint8Array): { objects: ListedObject[]; next: string | undefined } | undefined {
  const xml = new TextDecoder().decode(body);
  if (!/<ListBucketResult[\s>].*<\/ListBucketResult>\s*$/s.test(xml)) return undefined;
  try {
    const isEncoded = textOf(xml, "EncodingType") === "url";
    const objects: ListedObject[] = [];
    for (const [, content = ""] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const written = textOf(content, "Key");
      const bytes = Number(textOf(content, "Size"));
      if (written === undefined || !Number.isSafeInteger(bytes)) return undefined;
      objects.push({ key: isEncoded ? decodeURIComponent(written.replaceAll("+", " ")) : written, bytes });
    }
    if (textOf(xml, "IsTruncated") !== "true") return { objects, next: undefined };
    const next = textOf(xml, "NextContinuationToken");
    return next === undefined ? undefined : { objects, next };
  } catch {
    // A corrupted key is not valid percent-encoding, or a corrupted character reference is no character.
    return undefined;
  }
}

function textOf(xml: string, element: string): string | undefined {
  const written = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
  return written?.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot|apos));/gi, (_entity, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? "";
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

interface S3Request {
  method: "GET" | "HEAD" | "PUT" | "DELETE";
  url: URL;
  body?: Uint8Array;
  /** Whether the store stores the body only if no object has the key. */
  ifAbsent?: boolean;
}

interface S3Response {
  /** The headers of the store. If the store redirected the request to a CDN, these are the headers of the redirect. */
  headers: Headers;
  isRedirected: boolean;
  body: Uint8Array;
}

/** A repeatable request is sent up to three times, with these pauses. */
const pausesMs = [200, 800];
const maxRequestedPauseMs = 5_000;
/** A transfer may take longer than the timeout if it is at least this fast. */
const minBytesPerMs = 100;

/** Statuses below 500 after which the same request can succeed, or after which its effect is unknown. */
const transientStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429]);
/** Codes with status 400 for a body that was changed or cut off on the way. */
const transientCodes: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "RequestTimeout",
  "XAmzContentSHA256Mismatch",
]);

const hints: Readonly<Record<string, string>> = {
  RequestTimeTooSkewed: " Set the clock of this machine.",
  PermanentRedirect: " Check the region and the endpoint.",
  TemporaryRedirect: " Check the region and the endpoint.",
  AuthorizationHeaderMalformed: " Check the region.",
};

/** Aborts a request. The time can be extended for the size of a transfer. */
function createDeadline(timeoutMs: number) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: controller.signal,
    restart(bytes: number): void {
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(), timeoutMs + bytes / minBytesPerMs);
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

function redirectTarget({ status, headers }: Response, url: URL): URL | undefined {
  const location = headers.get("location");
  if (status < 300 || status >= 400 || location === null) return undefined;
  const target = URL.parse(location, url);
  const isReadable = target?.protocol !== "https:" && target?.protocol !== url.protocol;
  return target && !isReadable && isWithinReach(target, url) ? target : undefined;
}

async function readResponse(
  response: Response,
  method: S3Request["method"],
  { deadline, isFromCdn = false }: { deadline: ReturnType<typeof createDeadline>; isFromCdn?: boolean },
): Promise<S3Response> {
  const { status, headers } = response;
  const bytes = Number(headers.get("content-length"));
  deadline.restart(method === "HEAD" || !Number.isSafeInteger(bytes) ? 0 : bytes);
  const body = await response.bytes();
  const isRedirectOfHead = method === "HEAD" && status >= 300 && status < 400;
  if (response.ok || isRedirectOfHead) return { headers, isRedirected: false, body };
  // A CDN does not decide whether an object exists or a request is valid: its URLs expire.
  if (isFromCdn) {
    throw new ObjectStoreError(`The CDN of the bucket responded to ${method} with status ${status}.`, { status });
  }
  // The response to HEAD has no body. HEAD is only sent for objects that exist, so the bucket exists.
  const code = method === "HEAD" && status === 404 ? "NoSuchKey" : parseErrorCode(body);
  const retryAfterMs = 1_000 * Number(headers.get("retry-after") ?? Number.NaN);
  const detail = code === undefined ? "" : ` (${code})`;
  const hint = hints[code ?? ""] ?? "";
  throw new ObjectStoreError(`The bucket responded to ${method} with status ${status}${detail}.${hint}`, {
    // 501: the store does not support a header of the request.
    isRefused: status === 501 || (status < 500 && !transientStatuses.has(status) && !transientCodes.has(code ?? "")),
    status,
    s3Code: code,
    retryAfterMs: retryAfterMs >= 0 && Number.isFinite(retryAfterMs) ? retryAfterMs : undefined,
  });
}

/** Returns the code of a failed connection, such as ` (ECONNREFUSED)`. Messages of failed connections contain addresses. */
function describeCause(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
}

/**
 * Opens a bucket of a service with the S3 API. Does not send a request. Errors of the store contain no URLs, keys, or signatures.
 *
 * @throws `INBOX_UNUSABLE` if the package `aws4fetch` is not installed.
 */
export async function openS3ObjectStore(connection: StoreConnection): Promise<ObjectStore> {
  const { location, credentials, timeoutMs = 10_000 } = connection;
  const { prefix: root } = location;
  const bucketUrl = `${location.endpoint}/${location.bucket}`;
  const { AwsClient } = await loadPackages(
    ["aws4fetch"],
    async (name): Promise<typeof import("aws4fetch")> => import(name),
  );
  const signer = new AwsClient({ ...credentials, service: "s3", region: location.region, retries: 0 });

  async function put(key: string, body: Uint8Array, { ifAbsent = false } = {}): Promise<"stored" | "exists"> {
    const request: S3Request = { method: "PUT", url: urlOf(key), body, ifAbsent };
    try {
      // The caller decides whether to repeat the request: the first one can have stored the object although it failed.
      await (ifAbsent ? send(request) : sendRepeatedly(request));
      return "stored";
    } catch (error) {
      if (ifAbsent && error instanceof ObjectStoreError && error.status === 412) return "exists";
      throw error;
    }
  }

  async function get(key: string): Promise<StoredObject | undefined> {
    const url = urlOf(key);
    try {
      const { headers, isRedirected, body } = await sendRepeatedly({ method: "GET", url });
      // A CDN can store equal objects once, so only the store itself has the age of an object.
      const needsHead = isRedirected && !headers.has("last-modified");
      const response = needsHead ? await sendRepeatedly({ method: "HEAD", url }) : { headers };
      return { body, ageMs: ageOf(response.headers) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async function list(prefix: string, { after }: { after?: string } = {}): Promise<ListedObject[]> {
    const found = new Map<string, ListedObject>();
    let token: string | undefined;
    do {
      const url = new URL(bucketUrl);
      url.searchParams.set("list-type", "2");
      url.searchParams.set("encoding-type", "url");
      url.searchParams.set("prefix", root + prefix);
      if (token !== undefined) url.searchParams.set("continuation-token", token);
      else if (after !== undefined) url.searchParams.set("start-after", root + after);
      const { body } = await sendRepeatedly({ method: "GET", url });
      const page = parsePage(body);
      if (page === undefined || (page.next !== undefined && page.next === token)) {
        throw new ObjectStoreError("The bucket responded with an invalid list of objects.");
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

  function urlOf(key: string): URL {
    return new URL(`${bucketUrl}/${root}${key}`);
  }

  async function sendRepeatedly(request: S3Request): Promise<S3Response> {
    for (const pauseMs of pausesMs) {
      try {
        return await send(request);
      } catch (error) {
        if (!(error instanceof ObjectStoreError) || error.isRefused) throw error;
        await wait(Math.max(pauseMs, Math.min(error.retryAfterMs ?? 0, maxRequestedPauseMs)));
      }
    }
    return send(request);
  }

  async function send({ method, url, body = new Uint8Array(), ifAbsent = false }: S3Request): Promise<S3Response> {
    const request = {
      method,
      headers: {
        ...(ifAbsent && { "if-none-match": "*" }),
        // The store rejects a body that was cut off or changed on the way.
        "x-amz-content-sha256": createHash("sha256").update(body).digest("hex"),
      },
      ...(method === "PUT" && { body: new Uint8Array(body) }),
      redirect: "manual" as const,
    };
    using deadline = createDeadline(timeoutMs);
    deadline.restart(body.length);
    try {
      // Not in the signed `Request`: a garbage collection then removes the connection between the two signals.
      const first = await directFetch(await signer.sign(url, request), { signal: deadline.signal });
      const target = method === "GET" ? redirectTarget(first, url) : undefined;
      if (target === undefined) return await readResponse(first, method, { deadline });
      await first.body?.cancel();
      // The signature is only for the store. A CDN receives none of the headers.
      const second = await directFetch(target, { redirect: "manual", signal: deadline.signal });
      const { body } = await readResponse(second, method, { deadline, isFromCdn: true });
      return { headers: first.headers, isRedirected: true, body };
    } catch (cause) {
      if (cause instanceof ObjectStoreError) throw cause;
      const reason = deadline.signal.aborted
        ? `has not responded to ${method} in time`
        : `is not reachable for ${method}${describeCause(cause)}`;
      // Without the cause, whose message can contain the URL of a CDN with a signature.
      throw new ObjectStoreError(`The bucket ${reason}.`);
    }
  }

  return {
    name: location.name,
    connection,
    put,
    get,
    list,
    async delete(key) {
      await sendRepeatedly({ method: "DELETE", url: urlOf(key) }).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    },
    wait: (ms) => wait(ms),
  };
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
