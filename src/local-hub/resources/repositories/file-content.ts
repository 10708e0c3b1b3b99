import { invalidRequest } from "../../error-response.ts";

/** A file in the body of a request. */
interface EncodedFile {
  path: string;
  content: string;
  encoding: "utf-8" | "base64";
}

/**
 * Decodes the content of a file.
 *
 * @throws HTTPException 400 if the content is not in Base64, of which Node would decode a part only.
 */
export function decodeContent({ path, content, encoding }: EncodedFile): Buffer {
  const bytes = Buffer.from(content, encoding);
  if (encoding === "utf-8") return bytes;
  const digits = content.replace(/\s+/g, "").replace(/={1,2}$/, "").length;
  if (digits % 4 !== 1 && bytes.byteLength === Math.floor((digits * 3) / 4)) return bytes;
  throw invalidRequest([`${path}: expected content in Base64`]);
}
