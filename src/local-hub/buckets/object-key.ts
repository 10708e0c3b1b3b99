/** The maximum length of a key, in bytes. As on S3. */
const maxKeyBytes = 1_024;

/**
 * Returns the problem with the key of an object, or `undefined` if the key is valid. The rules are those of the Hub's Storage Buckets.
 *
 * @example
 * ```ts
 * findKeyProblem("data//train.txt"); // 'contains "//"'
 * ```
 */
export function findKeyProblem(key: string): string | undefined {
  if (Buffer.byteLength(key) > maxKeyBytes) return `has more than ${maxKeyBytes} bytes`;
  if (key.startsWith("/") || key.endsWith("/")) return 'starts or ends with "/"';
  const invalid = ["//", "../", "\\", "\0"].find((part) => key.includes(part));
  return invalid === undefined ? undefined : `contains ${JSON.stringify(invalid)}`;
}
