/**
 * Reads an http(s) address to which paths are to be added, and returns it without a slash at its end; `undefined` where it
 * is none, or holds a user name, a password, a query or a fragment. Whoever says so does not show it: what is wrong with
 * it may be that a password stands in it.
 *
 * @example
 * ```ts
 * readBaseAddress("https://bot.example.com/hooks/"); // "https://bot.example.com/hooks"
 * readBaseAddress("https://me:secret@example.com"); // undefined
 * ```
 */
export function readBaseAddress(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== "") return undefined;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
