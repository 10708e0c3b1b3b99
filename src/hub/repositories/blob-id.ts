const encoder = new TextEncoder();

/** Returns the ID that git gives to a file with this content, as 40 hexadecimal digits. */
export async function blobId(content: Uint8Array): Promise<string> {
  const header = encoder.encode(`blob ${content.byteLength}\0`);
  const object = new Uint8Array(header.byteLength + content.byteLength);
  object.set(header);
  object.set(content, header.byteLength);
  return toHex(await crypto.subtle.digest("SHA-1", object));
}

/** Returns the ID that git gives to the pointer of a large file (Git LFS) with this content. */
export async function pointerId(content: Uint8Array): Promise<string> {
  const oid = toHex(await crypto.subtle.digest("SHA-256", new Uint8Array(content)));
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.byteLength}\n`;
  return blobId(encoder.encode(pointer));
}

function toHex(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
