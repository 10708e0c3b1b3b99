import type { IncomingMessage } from "node:http";
import { WebhookError } from "../core/errors.ts";
import { shorten } from "../core/shorten.ts";

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
      {
        code: "ENCODING_UNSUPPORTED",
        status: 415,
      },
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

/** Joins the chunks of a body. If there is only one chunk, returns it without copying. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
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

/** Creates the error for a body that is larger than the limit. */
export function bodyTooLarge(limit: number): WebhookError {
  return new WebhookError(
    `The body is larger than ${limit} bytes. Send a smaller body, or raise the limit on the server.`,
    { code: "BODY_TOO_LARGE", status: 413 },
  );
}

/** Creates the error for a body that is incomplete because the connection ended. */
export function bodyIncomplete(): WebhookError {
  return new WebhookError("The connection ended before the body was complete. Send the request again.", {
    code: "BODY_INCOMPLETE",
    status: 400,
  });
}
