import { HubError } from "../../core/errors.ts";
import { fieldInvalid } from "../validation/arguments.ts";

/** The content of a file to write. */
export type FileContent = Uint8Array | Blob;

/** The IDs of a file. */
export interface FileHashes {
  /** The ID that git gives to a file with this content, as 40 hexadecimal digits. */
  blob: string;
  /** The ID that git gives to the pointer of a large file (Git LFS) with this content. */
  pointer: string;
  /** The SHA-256 of the content, as 64 hexadecimal digits. */
  sha256: string;
}

/** The maximum size of a blob in runtimes that can only hash the whole content, in bytes. */
const maxHashedBytes = 100_000_000;
const encoder = new TextEncoder();

export function sizeOf(content: FileContent): number {
  return content instanceof Blob ? content.size : content.byteLength;
}

/** Reads the start of a file. @throws `ARGUMENT_INVALID` if the file of a blob was changed or deleted. */
export async function readStart(content: FileContent, bytes: number): Promise<Uint8Array> {
  if (!(content instanceof Blob)) return content.subarray(0, bytes);
  return new Uint8Array(await content.slice(0, bytes).arrayBuffer().catch(throwUnreadable));
}

function throwUnreadable(): never {
  const message = "A file was changed or deleted after it was opened. Try again.";
  throw new HubError(message, { code: "ARGUMENT_INVALID", fields: ["files"] });
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // Larger parts exceed the maximum number of arguments.
  for (let start = 0; start < bytes.byteLength; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary);
}

/**
 * Returns the IDs of a file. Reads a blob in parts on Node, Bun, and Deno.
 *
 * @throws `ARGUMENT_INVALID` for a blob of more than 100 MB in another runtime, because WebCrypto cannot hash parts, and if the file of a
 *   blob was changed or deleted.
 */
export async function hashFile(content: FileContent): Promise<FileHashes> {
  const size = sizeOf(content);
  const header = encoder.encode(`blob ${size}\0`);
  const [blob, sha256] = content instanceof Blob ? await hashBlob(header, content) : await hashBytes(header, content);
  const pointer = encoder.encode(`version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`);
  return { blob, sha256, pointer: await digest("SHA-1", encoder.encode(`blob ${pointer.byteLength}\0`), pointer) };
}

async function hashBlob(header: Uint8Array, content: Blob): Promise<[blob: string, sha256: string]> {
  const node: Partial<Pick<NodeJS.Process, "getBuiltinModule">> | undefined = globalThis.process;
  const crypto = node?.getBuiltinModule?.("node:crypto");
  if (!crypto) {
    if (content.size <= maxHashedBytes) return hashBytes(header, await readStart(content, content.size));
    const problem = `expected a Blob of at most ${maxHashedBytes} bytes, because this runtime cannot hash larger files`;
    throw fieldInvalid("files", problem);
  }
  const [blob, sha256] = [crypto.createHash("sha1").update(header), crypto.createHash("sha256")];
  try {
    for await (const chunk of content.stream()) {
      blob.update(chunk);
      sha256.update(chunk);
    }
  } catch {
    throwUnreadable();
  }
  return [blob.digest("hex"), sha256.digest("hex")];
}

async function hashBytes(header: Uint8Array, content: Uint8Array): Promise<[blob: string, sha256: string]> {
  return [await digest("SHA-1", header, content), await digest("SHA-256", new Uint8Array(), content)];
}

async function digest(algorithm: "SHA-1" | "SHA-256", header: Uint8Array, content: Uint8Array): Promise<string> {
  const bytes = new Uint8Array(header.byteLength + content.byteLength);
  bytes.set(header);
  bytes.set(content, header.byteLength);
  const hash = new Uint8Array(await crypto.subtle.digest(algorithm, bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
