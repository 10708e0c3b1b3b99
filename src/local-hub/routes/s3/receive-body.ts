import type { ReceivedBody } from "../../buckets/object-bodies.ts";
import type { ObjectStore } from "../../store/object-store.ts";
import { S3Error } from "./s3-error.ts";

/** The maximum size of an object that is uploaded with one request, in bytes. As on S3. */
const maxObjectBytes = 5 * 1024 ** 3;

const unsignedPayload = "UNSIGNED-PAYLOAD";
const sha256 = /^[\da-f]{64}$/;

/**
 * Receives the body of a signed request, and compares it with the hashes in the headers.
 *
 * @throws `S3Error` 400 if the body does not match a header, 413 if it is too large, 501 if it has trailing checksums.
 */
export async function receiveBody(objects: ObjectStore, { headers, body }: Request): Promise<ReceivedBody> {
  const expected = headers.get("x-amz-content-sha256") ?? "";
  if (expected.startsWith("STREAMING-") || /\baws-chunked\b/.test(headers.get("content-encoding") ?? "")) {
    throw new S3Error("NotImplemented", {
      message:
        'Chunked uploads with trailing checksums are not supported. Set the option request_checksum_calculation of the client to "when_required".',
    });
  }
  if (expected !== unsignedPayload && !sha256.test(expected)) {
    throw new S3Error("InvalidArgument", {
      message: `Send "x-amz-content-sha256" with the SHA-256 of the body, or with ${unsignedPayload}.`,
    });
  }
  const length = headers.get("content-length");
  if (Number(length ?? 0) > maxObjectBytes) throw tooLarge();
  const received = await objects.receive(limit(body ?? new Blob().stream()));
  try {
    checkBody(received, { expected, length, md5: headers.get("content-md5") });
    return received;
  } catch (error) {
    objects.discard(received);
    throw error;
  }
}

function checkBody(
  received: ReceivedBody,
  { expected, length, md5 }: { expected: string; length: string | null; md5: string | null },
): void {
  if (length !== null && Number(length) !== received.size) {
    throw new S3Error("IncompleteBody", { message: `The body has ${received.size} bytes instead of ${length}.` });
  }
  if (expected !== unsignedPayload && expected !== received.sha256) {
    throw new S3Error("XAmzContentSHA256Mismatch", { message: 'The body does not match "x-amz-content-sha256".' });
  }
  if (md5 === null) return;
  const digest = Buffer.from(md5, "base64");
  if (digest.byteLength !== 16) {
    throw new S3Error("InvalidDigest", { message: 'Send "content-md5" as base64 of 16 bytes.' });
  }
  if (digest.toString("hex") !== received.md5) {
    throw new S3Error("BadDigest", { message: 'The body does not match "content-md5".' });
  }
}

async function* limit(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxObjectBytes) throw tooLarge();
    yield chunk;
  }
}

function tooLarge(): S3Error {
  return new S3Error("EntityTooLarge", { message: `The body has more than ${maxObjectBytes} bytes.` });
}
