import { timingSafeEqual } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import type { Caller } from "../../accounts.ts";
import { findAccessKey } from "../../buckets/access-keys.ts";
import { S3Error } from "./s3-error.ts";

/** The region of the Hub's S3 API. */
export const s3Region = "us-east-1";

/** The maximum difference between the clocks of the client and the local Hub. As on S3. */
const maxSkewMs = 15 * 60 * 1_000;

/** The headers that a client must sign, in addition to all other `x-amz-` headers that it sends. */
const requiredHeaders = ["host", "x-amz-content-sha256", "x-amz-date"];

/** The signing keys by secret access key and day. Deriving one takes as long as the rest of the check. */
const signingKeys = new Map<string, ArrayBuffer>();

const authorizationPattern =
  /^AWS4-HMAC-SHA256\s+Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request,\s*SignedHeaders=([^,\s]+),\s*Signature=([\da-f]{64})$/;

/**
 * Returns the caller of a request that is signed with AWS Signature Version 4. Does not check that the body matches the signed hash.
 *
 * @throws `S3Error` if the signature is missing, invalid, or too old, or the access key is unknown.
 */
export async function verifySignature(request: Request, { now }: { now: number }): Promise<Caller> {
  const { headers } = request;
  const authorization = headers.get("authorization") ?? "";
  if (authorization === "") {
    throw new S3Error("AccessDenied", {
      message:
        "The request is not signed. Sign it with an access key of the local Hub. Presigned URLs are not supported.",
    });
  }
  const [, accessKeyId = "", day = "", region, service, names = "", signature = ""] =
    authorizationPattern.exec(authorization) ?? [];
  if (signature === "") {
    throw malformed("Use AWS Signature Version 4: AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…");
  }
  const key = findAccessKey(accessKeyId);
  if (!key) {
    throw new S3Error("InvalidAccessKeyId", {
      message:
        "The access key does not exist on the local Hub. Use the key that `hub-webhooks hub --bucket NAME` prints.",
    });
  }
  if (region !== s3Region || service !== "s3") throw malformed(`Sign for the region ${s3Region} and the service s3.`);

  const signed = names.split(";");
  const sent = [...headers.keys()].filter((name) => name.startsWith("x-amz-"));
  const unsigned = [...requiredHeaders, ...sent].find((name) => !signed.includes(name));
  if (unsigned !== undefined) {
    throw new S3Error("AccessDenied", { message: `The header "${unsigned}" is not signed. Sign this header.` });
  }
  const datetime = headers.get("x-amz-date") ?? "";
  const sentAt = parseDate(datetime);
  if (sentAt === undefined || !datetime.startsWith(day)) {
    throw malformed('Send "x-amz-date" in the form 20260131T091527Z, on the day of the credential.');
  }
  if (Math.abs(now - sentAt) > maxSkewMs) {
    throw new S3Error("RequestTimeTooSkewed", {
      message: `The request was signed at ${datetime}, but it is ${new Date(now).toISOString()}. Set the clock of the client.`,
    });
  }
  const signer = new AwsV4Signer({
    method: request.method,
    url: request.url,
    headers: [...headers].filter(([name]) => name !== "host" && signed.includes(name)),
    accessKeyId,
    secretAccessKey: key.secretAccessKey,
    ...{ service, region, datetime, allHeaders: true, cache: signingKeys },
  });
  const expected = Buffer.from(await signer.signature());
  if (!timingSafeEqual(expected, Buffer.from(signature))) {
    throw new S3Error("SignatureDoesNotMatch", {
      message: "The signature does not match the request. Check the secret access key and the signed headers.",
    });
  }
  return key.caller;
}

/** Converts a date such as `20260131T091527Z` to milliseconds since the epoch. */
function parseDate(text: string): number | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  const [year, month, day, hours, minutes, seconds] = parts;
  const time = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) ? undefined : time;
}

function malformed(message: string): S3Error {
  return new S3Error("AuthorizationHeaderMalformed", { message });
}
