import type { ListedObject } from "./object-store.ts";

/** A page of the response to ListObjectsV2. */
interface S3Page {
  /** The objects with their whole keys. */
  objects: ListedObject[];
  /** The token of the next page, or `undefined` if this page is the last one. */
  next: string | undefined;
}

/** Reads the code of an error, such as `SlowDown`. Returns `undefined` for the body of another server, such as a proxy. */
export function parseErrorCode(body: Uint8Array): string | undefined {
  const code = textOf(new TextDecoder().decode(body), "Code");
  return code !== undefined && /^[A-Za-z0-9]{1,60}$/.test(code) ? code : undefined;
}

/**
 * Reads the body of a response to ListObjectsV2. Returns `undefined` if the body is not a complete list: an empty list would be taken
 * for an empty bucket.
 */
export function parsePage(body: Uint8Array): S3Page | undefined {
  const xml = new TextDecoder().decode(body);
  if (!/<ListBucketResult[\s>].*<\/ListBucketResult>\s*$/s.test(xml)) return undefined;
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
}

function textOf(xml: string, element: string): string | undefined {
  const written = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
  return written?.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot|apos));/gi, (_entity, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? "";
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
