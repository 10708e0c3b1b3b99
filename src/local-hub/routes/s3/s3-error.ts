import { HTTPException } from "hono/http-exception";
import { toXml } from "./xml.ts";

/** The status of each error code. The codes are those of S3. */
const statuses = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  BadDigest: 400,
  EntityTooLarge: 413,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidRange: 416,
  InvalidURI: 400,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const;

/** An error code of the S3 API. */
export type S3ErrorCode = keyof typeof statuses;

/** An error of the S3 API, which is answered with XML. */
export class S3Error extends Error {
  readonly code: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param options.status is the status of a code that this file does not list. */
  constructor(
    code: S3ErrorCode | (string & {}),
    { message, status, headers = {} }: { message: string; status?: number; headers?: Record<string, string> },
  ) {
    super(message);
    this.code = code;
    this.status = status ?? (isKnown(code) ? statuses[code] : 500);
    this.headers = headers;
  }
}

function isKnown(code: string): code is S3ErrorCode {
  return Object.hasOwn(statuses, code);
}

/** Converts the error of a check that other APIs share. Returns `undefined` for unexpected errors. */
export function toS3Error(error: unknown): S3Error | undefined {
  if (error instanceof S3Error) return error;
  if (!(error instanceof HTTPException)) return undefined;
  const { message } = error;
  return new S3Error(error.status === 404 ? "NoSuchBucket" : "AccessDenied", { message });
}

/** Creates the response to a failed request. The body of a response to HEAD is empty. */
export function s3ErrorResponse({ code, message, status, headers }: S3Error, method: string): Response {
  const body = method === "HEAD" ? null : toXml("Error", { Code: code, Message: message });
  return new Response(body, { status, headers: { ...headers, "content-type": "application/xml" } });
}
