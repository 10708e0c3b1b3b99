import type { IncomingMessage } from "node:http";
import type { Context, HonoRequest } from "hono";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/option-error.ts";

const defaultBodyLimit = 10 * 1024 * 1024;

/** Far beyond any payload of the Hub. Deep nesting overflows the stack of code that walks the JSON recursively. */
const maxNesting = 100;

// Keeps a byte order mark, so that the stored text is what arrived. JSON.parse then refuses it.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Checks the option `bodyLimit`, in bytes. Default 10 MiB.
 *
 * @throws `OPTION_INVALID`
 */
export function checkedBodyLimit(option: number = defaultBodyLimit): number {
  if (Number.isInteger(option) && option > 0) return option;
  throw optionError({ option: "bodyLimit", value: option, expected: "a whole number of bytes above zero" });
}

/**
 * Reads the body of a request as text, at most `limit` bytes.
 *
 * @throws `ENCODING_UNSUPPORTED` (415), `BODY_TOO_LARGE` (413), `BODY_INCOMPLETE` (400) when the client disconnected,
 * `BODY_NOT_JSON` (400) when it is not UTF-8, `BODY_CONSUMED` (500) when something else has read it.
 */
export async function readBody({ req, env }: Context, limit: number): Promise<string> {
  const { raw, bodyCache } = req;
  const length = raw.headers.get("content-length");
  checkBodyHeaders({ encoding: raw.headers.get("content-encoding"), length }, limit);
  // Hono caches the body when middleware reads it.
  const cached = bodyCache.arrayBuffer ?? bodyCache.text;
  if (cached) return readCached(cached, limit);
  if (raw.bodyUsed) throw bodyConsumed();
  const incoming = nodeRequest(env);
  if (incoming && isUntouched(incoming) && isBodyOf(raw, incoming)) return readIncoming(incoming, limit);
  const wasRead = incoming !== undefined && (incoming.readableDidRead || incoming.readableEnded);
  if (raw.body?.locked) throw bodyConsumed();
  const bytes = await readStream(raw.body, limit);
  // A body parser on Node's stream leaves nothing, or the rest.
  if (wasRead && (length === null ? bytes.length === 0 : bytes.length < Number(length))) throw bodyConsumed();
  return decodeText(bytes);
}

/**
 * Checks the headers that describe the body, before it is read.
 *
 * @throws `ENCODING_UNSUPPORTED` (415), `BODY_TOO_LARGE` (413).
 */
export function checkBodyHeaders(
  { encoding, length }: { encoding: string | null | undefined; length: string | null | undefined },
  limit: number,
): void {
  // A few kilobytes of gzip can become gigabytes, and the Hub does not compress.
  if (encoding !== null && encoding !== undefined) {
    throw new WebhookError("Content-Encoding is not supported. Send the body uncompressed.", {
      code: "ENCODING_UNSUPPORTED",
      status: 415,
    });
  }
  if (Number(length) > limit) throw bodyTooLarge(limit);
}

/**
 * Parses a body as JSON.
 *
 * @throws `BODY_NOT_JSON` (400), `BODY_TOO_DEEP` (400).
 */
export function parseJson(body: string): unknown {
  if (isNestedTooDeep(body)) {
    throw new WebhookError(`The body is nested deeper than ${maxNesting} levels.`, {
      code: "BODY_TOO_DEEP",
      status: 400,
    });
  }
  try {
    return JSON.parse(body);
  } catch {
    throw notJson("The body is not valid JSON.");
  }
}

/** The request of Node's HTTP server, which Hono's adapter passes as a binding. */
function nodeRequest(bindings: unknown): IncomingMessage | undefined {
  const incoming = typeof bindings === "object" && bindings !== null && "incoming" in bindings && bindings.incoming;
  return isIncoming(incoming) ? incoming : undefined;
}

function isIncoming(value: unknown): value is IncomingMessage {
  return typeof value === "object" && value !== null && "readableDidRead" in value;
}

/** Whether nothing has read it, and nothing is about to: two readers would interfere. */
function isUntouched({ readableDidRead, readableFlowing, readableEnded }: IncomingMessage): boolean {
  return !readableDidRead && !readableEnded && readableFlowing === null;
}

/**
 * Whether `request` is the adapter's view of `incoming`, which it keeps under a symbol. A request derived from that view
 * (by `parent.mount()` or `clone()`) reads Node's stream by itself, at any time.
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

/**
 * Reads the body of a request of Node's HTTP server. A web stream around it would cost more than the rest of a delivery.
 *
 * @throws `BODY_TOO_LARGE` (413), `BODY_INCOMPLETE` (400, or the error that destroyed the request), `BODY_NOT_JSON`.
 */
export function readIncoming(incoming: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    let hasEnded = false;
    const onData = (chunk: Uint8Array) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limit) return;
      incoming.off("data", onData).pause();
      reject(bodyTooLarge(limit));
    };
    const onEnd = () => {
      hasEnded = true;
      try {
        resolve(decodeText(joined(chunks)));
      } catch (error) {
        reject(error);
      }
    };
    const onClose = (reason?: unknown) => {
      // "close" also follows "end".
      if (hasEnded) return;
      reject(WebhookError.isInstance(reason) ? reason : bodyIncomplete());
    };
    incoming.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
    if (incoming.destroyed) onClose(incoming.errored);
  });
}

/** Counts the bytes: without a socket, nothing enforces the Content-Length. */
async function readStream(stream: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (!stream) return new Uint8Array();
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((reason) => {
      throw WebhookError.isInstance(reason) ? reason : bodyIncomplete();
    });
    if (done) return joined(chunks);
    length += value.length;
    chunks.push(value);
    if (length > limit) {
      void reader.cancel().catch(() => {});
      throw bodyTooLarge(limit);
    }
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return first && chunks.length === 1 ? first : concatenate(chunks);
}

/**
 * Decodes a body.
 *
 * @throws `BODY_NOT_JSON` (400) when they are not UTF-8.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notJson("The body is not UTF-8.");
  }
}

/** Joins the chunks of a body. */
export function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Counts brackets outside of strings. Only a text with enough of them is scanned. */
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

function bodyTooLarge(limit: number): WebhookError {
  return new WebhookError(`The body is larger than ${limit} bytes.`, { code: "BODY_TOO_LARGE", status: 413 });
}

function bodyIncomplete(): WebhookError {
  return new WebhookError("The connection ended before the body was complete.", {
    code: "BODY_INCOMPLETE",
    status: 400,
  });
}

function bodyConsumed(): WebhookError {
  return new WebhookError(
    "The body was read before it reached the receiver, for example by express.json(). Mount the receiver before the body parser.",
    { code: "BODY_CONSUMED", status: 500 },
  );
}

function notJson(message: string): WebhookError {
  return new WebhookError(message, { code: "BODY_NOT_JSON", status: 400 });
}
