import { HTTPException } from "hono/http-exception";

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

/** The content of an XML element: a text, other elements by name, or nothing. A list stands for several elements with one name. */
export type XmlContent = string | number | boolean | undefined | XmlElements;

/** The children of an XML element. */
export interface XmlElements {
  [name: string]: XmlContent | readonly XmlContent[];
}

/**
 * Creates an XML document.
 *
 * @example
 * ```ts
 * toXml("Error", { Code: "NoSuchKey" }); // '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code></Error>'
 * ```
 */
export function toXml(root: string, content: XmlElements, { namespace }: { namespace?: string } = {}): string {
  const attributes = namespace === undefined ? "" : ` xmlns="${namespace}"`;
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

/**
 * Returns the texts of all elements with a name. Ignores the structure of the document. Returns `undefined` if a text has a reference
 * that stands for no character of XML, such as `&#x110000;`.
 */
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
