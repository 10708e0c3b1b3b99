import { timingSafeEqual } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { HTTPException } from "hono/http-exception";
import { type Caller, findAccessKey } from "../accounts.ts";
import { incompleteBody, isIncompleteBody } from "../error-response.ts";

const statuses = {
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  BadDigest: 400,
  EntityTooLarge: 413,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidDigest: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidURI: 400,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  QuotaExceeded: 403,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  SlowDown: 503,
  XAmzContentSHA256Mismatch: 400,
} as const;

type S3ErrorCode = keyof typeof statuses;

export class S3Error extends Error {
  readonly code: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param options.status is the status of a code that this file does not list. */
  constructor(
    code: S3ErrorCode | (string & {}),
    message: string,
    { status, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
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
  if (isIncompleteBody(error)) return new S3Error("IncompleteBody", incompleteBody);
  if (!(error instanceof HTTPException)) return undefined;
  return new S3Error(error.status === 404 ? "NoSuchBucket" : "AccessDenied", error.message);
}

/** The body of a response to HEAD is empty. */
export function s3ErrorResponse({ code, message, status, headers }: S3Error, method: string): Response {
  const body = method === "HEAD" ? null : toXml("Error", { Code: code, Message: message });
  return new Response(body, { status, headers: { ...headers, "content-type": "application/xml" } });
}

/** The content of an XML element: a text, other elements by name, or nothing. A list stands for several elements with one name. */
type XmlContent = string | number | boolean | undefined | XmlElements;

interface XmlElements {
  [name: string]: XmlContent | readonly XmlContent[];
}

export function xmlResponse(root: string, content: XmlElements, { hasNamespace = true } = {}): Response {
  return new Response(toXml(root, content, { hasNamespace }), { headers: { "content-type": "application/xml" } });
}

function toXml(root: string, content: XmlElements, { hasNamespace = false } = {}): string {
  const attributes = hasNamespace ? ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"' : "";
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${attributes}>${childrenOf(content)}</${root}>`;
}

function childrenOf(content: XmlElements): string {
  return Object.entries(content)
    .flatMap(([name, value]) => (isList(value) ? value : [value]).map((item) => element(name, item)))
    .join("");
}

function element(name: string, content: XmlContent): string {
  if (content === undefined) return "";
  return `<${name}>${typeof content === "object" ? childrenOf(content) : escapeText(String(content))}</${name}>`;
}

function isList(value: XmlContent | readonly XmlContent[]): value is readonly XmlContent[] {
  return Array.isArray(value);
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function escapeText(text: string): string {
  return text.replace(/[&<>"\u0000-\u001f]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Ignores the structure. `undefined` if a text has a reference that stands for no character of XML, such as `&#x110000;`. */
export function readElements(xml: string, name: string): string[] | undefined {
  const written = [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) => text);
  const reference = /&([^;]*;?)/g;
  const isValid = written.every((text) => [...text.matchAll(reference)].every(([, one = ""]) => characterOf(one)));
  return isValid
    ? written.map((text) => text.replace(reference, (_all, one: string) => characterOf(one) ?? ""))
    : undefined;
}

const xmlCharacter = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]$/u;

/** @param written a reference without the ampersand, such as `#38;` or `amp;`. */
function characterOf(written: string): string | undefined {
  const [, decimal, hexadecimal, named] = /^(?:#(\d+)|#x([\da-f]+)|(\w+));$/i.exec(written) ?? [];
  if (named !== undefined) return Object.hasOwn(entities, named) ? entities[named] : undefined;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  const character = code <= 0x10_ffff ? String.fromCodePoint(code) : "";
  return xmlCharacter.test(character) ? character : undefined;
}

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
    throw new S3Error(
      "AccessDenied",
      "The request is not signed. Sign it with an access key of the local Hub. Presigned URLs are not supported.",
    );
  }
  const [, accessKeyId = "", day = "", region, service, names = "", signature = ""] =
    authorizationPattern.exec(authorization) ?? [];
  if (signature === "") {
    throw malformed("Use AWS Signature Version 4: AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…");
  }
  const key = findAccessKey(accessKeyId);
  if (!key) {
    throw new S3Error(
      "InvalidAccessKeyId",
      "The access key does not exist on the local Hub. Use the key that `hub-webhooks hub --bucket NAME` prints.",
    );
  }
  if (region !== s3Region || service !== "s3") throw malformed(`Sign for the region ${s3Region} and the service s3.`);

  const signed = names.split(";");
  const sent = [...headers.keys()].filter((name) => name.startsWith("x-amz-"));
  const unsigned = [...requiredHeaders, ...sent].find((name) => !signed.includes(name));
  if (unsigned !== undefined) {
    throw new S3Error("AccessDenied", `The header "${unsigned}" is not signed. Sign this header.`);
  }
  const datetime = headers.get("x-amz-date") ?? "";
  const sentAt = parseDate(datetime);
  if (sentAt === undefined || !datetime.startsWith(day)) {
    throw malformed('Send "x-amz-date" in the form 20260131T091527Z, on the day of the credential.');
  }
  if (Math.abs(now - sentAt) > maxSkewMs) {
    throw new S3Error(
      "RequestTimeTooSkewed",
      `The request was signed at ${datetime}, but it is ${new Date(now).toISOString()}. Set the clock of the client.`,
    );
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
    throw new S3Error(
      "SignatureDoesNotMatch",
      "The signature does not match the request. Check the secret access key and the signed headers.",
    );
  }
  return key.caller;
}

function parseDate(text: string): number | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  const [year, month, day, hours, minutes, seconds] = parts;
  const time = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) ? undefined : time;
}

function malformed(message: string): S3Error {
  return new S3Error("AuthorizationHeaderMalformed", message);
}
