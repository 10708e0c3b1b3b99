import { WebhookError } from "../../core/errors.ts";
import { optionError } from "../../core/options.ts";
import { readBaseUrl } from "../../core/urls.ts";

export interface BucketLocation {
  /** The URL of the S3 API, without a trailing slash. */
  endpoint: string;
  region: string;
  bucket: string;
  /** The prefix of all keys, with a trailing slash, or an empty string. */
  prefix: string;
  /** The URL of the inbox without its query, for messages. */
  name: string;
}

export interface BucketCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** Reads an environment variable. Returns `undefined` if the variable is unset or empty. */
export type ReadVariable = (name: string) => string | undefined;

const hubEndpoint = "https://s3.hf.co";
const defaultRegion = "us-east-1";

/**
 * Parses the URL of an inbox in a bucket.
 *
 * - `hf://buckets/NAMESPACE/BUCKET[/PREFIX]` is a Storage Bucket of the Hub.
 * - `s3://BUCKET[/PREFIX][?endpoint=URL&region=REGION]` is a bucket of any other service with the S3 API. Default region:
 *   `AWS_REGION`, `AWS_DEFAULT_REGION`, or `us-east-1`.
 *
 * `AWS_ENDPOINT_URL_S3` and `AWS_ENDPOINT_URL` replace the default endpoint of both, as in the tools of AWS.
 *
 * @throws `OPTION_INVALID` if the URL, the endpoint, or the region is invalid.
 * @example
 * ```ts
 * const { endpoint, bucket, prefix } = parseBucketUrl("hf://buckets/me/inbox/production", () => undefined);
 * // "https://s3.hf.co/me", "inbox", "production/"
 * ```
 */
export function parseBucketUrl(url: string, readVariable: ReadVariable): BucketLocation {
  const [, scheme = "", path = "", query = ""] = /^(hf|s3):\/\/([^?#]*)(?:\?(.*))?$/s.exec(url) ?? [];
  const segments = path.replace(/\/$/, "").split("/");
  const isValid = segments.every((segment) => /^[A-Za-z0-9][A-Za-z0-9._=-]*$/.test(segment));
  if (!isValid) throw urlInvalid();
  const isHub = scheme === "hf";
  if (isHub && (segments[0] !== "buckets" || query !== "")) throw urlInvalid();
  const [bucket, ...folders] = isHub ? segments.slice(2) : segments;
  if (bucket === undefined) throw urlInvalid();
  const options = new URLSearchParams(query);
  for (const key of options.keys()) if (key !== "endpoint" && key !== "region") throw urlInvalid();
  const awsRegion =
    options.get("region") ?? readVariable("AWS_REGION") ?? readVariable("AWS_DEFAULT_REGION") ?? defaultRegion;
  const region = isHub ? defaultRegion : checkRegion(awsRegion);
  const endpoint = readVariable("AWS_ENDPOINT_URL_S3") ?? readVariable("AWS_ENDPOINT_URL");
  const defaultEndpoint = isHub ? `${hubEndpoint}/${segments[1]}` : `https://s3.${region}.amazonaws.com`;
  return {
    endpoint: checkEndpoint(options.get("endpoint") ?? endpoint ?? defaultEndpoint),
    region,
    bucket,
    prefix: folders.map((folder) => `${folder}/`).join(""),
    name: `${scheme}://${segments.join("/")}`,
  };
}

/** Reads the access key. @throws `INBOX_UNUSABLE` if the access key is not set or contains a line break. */
export function readBucketCredentials(name: string, readVariable: ReadVariable): BucketCredentials {
  // A line break is a common mistake when a value is copied. The error of an invalid header would contain the whole header.
  const read = (variable: string) => {
    const value = readVariable(variable);
    if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return value;
    const message = `${variable} contains a space, a line break, or a non-ASCII character. Copy the value again.`;
    throw new WebhookError(message, { code: "INBOX_UNUSABLE" });
  };
  const accessKeyId = read("AWS_ACCESS_KEY_ID");
  const secretAccessKey = read("AWS_SECRET_ACCESS_KEY");
  const sessionToken = read("AWS_SESSION_TOKEN");
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  }
  const steps = name.startsWith("hf:")
    ? "Open https://huggingface.co/settings/tokens, generate S3 credentials from an access token that can write to the bucket, and set both values as secrets of the server."
    : "Create an access key that can read, write, list, and delete objects of the bucket.";
  throw new WebhookError(
    `The inbox ${name} needs the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. ${steps}`,
    { code: "INBOX_UNUSABLE" },
  );
}

function checkEndpoint(endpoint: string): string {
  const base = readBaseUrl(endpoint);
  if (base !== undefined) return base;
  // The message does not quote the URL, because the URL may contain a password.
  throw optionError(
    "The endpoint of the bucket (`endpoint` in INBOX_URL, AWS_ENDPOINT_URL_S3, or AWS_ENDPOINT_URL) is invalid. Use an http or https URL without a username, password, query, or fragment, such as https://s3.eu-west-1.amazonaws.com.",
  );
}

function checkRegion(region: string): string {
  if (/^[A-Za-z0-9-]+$/.test(region)) return region;
  throw optionError(
    "The region of the bucket (`region` in INBOX_URL, AWS_REGION, or AWS_DEFAULT_REGION) is invalid. Use letters, digits, and hyphens, as in eu-west-1.",
  );
}

function urlInvalid() {
  // The message does not quote the URL, because the URL may contain a password.
  return optionError(
    'Unsupported inbox URL. Set INBOX_URL (or the "inbox" option) to hf://buckets/NAMESPACE/BUCKET, hf://buckets/NAMESPACE/BUCKET/PREFIX, or s3://BUCKET/PREFIX?endpoint=URL&region=REGION. Set the access key with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  );
}
