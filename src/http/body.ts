import type { IncomingMessage } from "node:http";
import type { Context, HonoRequest } from "hono";
import { readField } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import { shorten } from "../core/text.ts";

// Keep a byte order mark, so that the text matches the received bytes. `JSON.parse` then rejects the mark.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Checks the headers that describe the body before the body is read.
 *
 * @throws `ENCODING_UNSUPPORTED` (415), `BODY_TOO_LARGE` (413).
 */
export function checkBodyHeaders(
  { encoding, length }: { encoding: string | null | undefined; length: string | null | undefined },
  limit: number,
): void {
  // A few kilobytes of gzip can expand to gigabytes, and the Hub does not compress bodies.
  if (encoding !== null && encoding !== undefined) {
    throw new WebhookError(
      `Content-Encoding "${shorten(encoding, 50)}" is not supported. Send the body uncompressed.`,
      { code: "ENCODING_UNSUPPORTED", status: 415 },
    );
  }
  if (Number(length) > limit) throw bodyTooLarge(limit);
}

/**
 * Reads the body of a request of Node's HTTP server. Does not use a web stream, which takes longer than the rest of a
 * delivery.
 *
 * @throws `BODY_TOO_LARGE` (413), `BODY_INCOMPLETE` (400, or the error that destroyed the request), `BODY_NOT_JSON`.
 */
export function readIncoming(incoming: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const onData = (chunk: Uint8Array) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limit) return;
      incoming.off("data", onData).pause();
      reject(bodyTooLarge(limit));
    };
    const onEnd = () => {
      // Node also emits "close" after "end".
      incoming.off("close", onClose);
      try {
        resolve(decodeText(joinChunks(chunks)));
      } catch (error) {
        reject(error);
      }
    };
    const onClose = (reason?: unknown) => {
      reject(WebhookError.isInstance(reason) ? reason : bodyIncomplete());
    };
    incoming.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
    if (incoming.destroyed) onClose(incoming.errored);
  });
}

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return first && chunks.length === 1 ? first : concatenate(chunks);
}

/**
 * Decodes a body.
 *
 * @throws `BODY_NOT_JSON` (400) when the body is not UTF-8.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new WebhookError("The body is not UTF-8. Send JSON in UTF-8.", { code: "BODY_NOT_JSON", status: 400 });
  }
}

/** Copies the chunks of a body into one array. */
export function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function bodyTooLarge(limit: number): WebhookError {
  return new WebhookError(
    `The body is larger than ${limit} bytes. Send a smaller body, or raise the limit on the server.`,
    { code: "BODY_TOO_LARGE", status: 413 },
  );
}

/** Creates the error for a body whose client has disconnected. */
export function bodyIncomplete(): WebhookError {
  return new WebhookError("The connection ended before the body was complete. Send the request again.", {
    code: "BODY_INCOMPLETE",
    status: 400,
  });
}

const defaultBodyLimit = 10 * 1024 * 1024;

/**
 * Reads the `bodyLimit` option, in bytes. Default: 10 MiB.
 *
 * @throws `OPTION_INVALID`
 */
export function readBodyLimit(option: number = defaultBodyLimit): number {
  if (Number.isInteger(option) && option > 0) return option;
  throw optionError({ option: "bodyLimit", value: option, expected: "a positive integer (in bytes)" });
}

/**
 * Reads the body of a request that Hono has routed, as text of at most `limit` bytes. The source is the body that middleware
 * has cached, the request of Node's HTTP server, or a web stream.
 *
 * @throws `ENCODING_UNSUPPORTED` (415); `BODY_TOO_LARGE` (413); `BODY_INCOMPLETE` (400) when the client has disconnected;
 * `BODY_NOT_JSON` (400) when the body is not UTF-8; `BODY_CONSUMED` (500) when other code has read the body.
 */
export async function readHonoBody({ req, env }: Context, limit: number): Promise<string> {
  const { raw, bodyCache } = req;
  const length = raw.headers.get("content-length");
  checkBodyHeaders({ encoding: raw.headers.get("content-encoding"), length }, limit);
  // Hono caches the body when middleware reads the body through Hono.
  const cached = bodyCache.arrayBuffer ?? bodyCache.text;
  if (cached) return readCached(cached, limit);
  if (raw.bodyUsed) throw bodyConsumed();
  const incoming = nodeRequest(env);
  if (incoming && isUntouched(incoming) && isBodyOf(raw, incoming)) return readIncoming(incoming, limit);
  const wasRead = incoming !== undefined && (incoming.readableDidRead || incoming.readableEnded);
  if (raw.body?.locked) throw bodyConsumed();
  const bytes = await readStream(raw.body, limit);
  // After a body parser has read from Node's stream, the stream is empty or contains only the rest of the body.
  if (wasRead && (length === null ? bytes.length === 0 : bytes.length < Number(length))) throw bodyConsumed();
  return decodeText(bytes);
}

/** Returns the request of Node's HTTP server, which Hono's adapter passes as a binding. */
export function nodeRequest(bindings: unknown): IncomingMessage | undefined {
  const incoming = readField(bindings, "incoming");
  return isIncoming(incoming) ? incoming : undefined;
}

function isIncoming(value: unknown): value is IncomingMessage {
  return typeof value === "object" && value !== null && "readableDidRead" in value;
}

/** Whether no other code has read the body or is about to read it. Two readers would each receive only parts of the body. */
function isUntouched({ readableDidRead, readableFlowing, readableEnded }: IncomingMessage): boolean {
  return !readableDidRead && !readableEnded && readableFlowing === null;
}

/**
 * Whether `request` is the adapter's own `Request` object for `incoming`, which the adapter stores in a symbol property. A
 * `Request` that is derived from this object (by `parent.mount()` or `clone()`) may read Node's stream at any time.
 */
function isBodyOf(request: Request, incoming: IncomingMessage): boolean {
  const kept = Object.getOwnPropertySymbols(request).map((symbol): unknown => Reflect.get(request, symbol));
  return kept.includes(incoming) && !kept.some((value) => Object.prototype.toString.call(value) === "[object Request]");
}

type CachedBody = NonNullable<HonoRequest["bodyCache"]["arrayBuffer" | "text"]>;

async function readCached(cached: CachedBody, limit: number): Promise<string> {
  const body = await Promise.resolve(cached).catch(() => {
    throw bodyIncomplete();
  });
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  if (bytes.length > limit) throw bodyTooLarge(limit);
  return typeof body === "string" ? body : decodeText(bytes);
}

/** Reads a web stream. Counts the bytes, because `Content-Length` is not enforced for requests without a socket. */
async function readStream(stream: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (!stream) return new Uint8Array();
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((reason) => {
      throw WebhookError.isInstance(reason) ? reason : bodyIncomplete();
    });
    if (done) return joinChunks(chunks);
    length += value.length;
    chunks.push(value);
    if (length > limit) {
      void reader.cancel().catch(() => {});
      throw bodyTooLarge(limit);
    }
  }
}

function bodyConsumed(): WebhookError {
  return new WebhookError(
    "Other code, such as express.json(), read the body before the server could. Mount the server before the body parser.",
    { code: "BODY_CONSUMED", status: 500 },
  );
}

/**
 * Limits nesting, because deeply nested JSON overflows the stack of recursive code. Hub payloads have far fewer levels.
 */
const maxNesting = 100;

/**
 * Parses a body as JSON.
 *
 * @throws `BODY_NOT_JSON` (400), `BODY_TOO_DEEP` (400).
 */
export function parseJson(body: string): unknown {
  if (isNestedTooDeep(body)) {
    throw new WebhookError(`The body is nested more than ${maxNesting} levels deep. Send a flatter payload.`, {
      code: "BODY_TOO_DEEP",
      status: 400,
    });
  }
  try {
    return JSON.parse(body);
  } catch {
    throw new WebhookError("The body is not valid JSON. Send the payload as JSON.", {
      code: "BODY_NOT_JSON",
      status: 400,
    });
  }
}

/** Counts the depth of brackets outside of strings. Texts with few brackets are not scanned. */
function isNestedTooDeep(text: string): boolean {
  if (!hasMoreOpeners(text, maxNesting)) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === 0x5c) index += 1;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x7b || character === 0x5b) {
      depth += 1;
      if (depth > maxNesting) return true;
    } else if (character === 0x7d || character === 0x5d) depth -= 1;
  }
  return false;
}

function hasMoreOpeners(text: string, count: number): boolean {
  let found = 0;
  for (const opener of ["{", "["]) {
    for (let at = text.indexOf(opener); at !== -1; at = text.indexOf(opener, at + 1)) {
      found += 1;
      if (found > count) return true;
    }
  }
  return false;
}
