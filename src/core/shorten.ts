/** Shortens a text to at most `maxLength` UTF-16 code units. A shortened text ends with an ellipsis. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${cutAt(text, maxLength - 1)}…`;
}

/** Copies the start of a text, in UTF-16 code units. A slice would keep the whole text in memory. */
export function copyStart(text: string, length: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text.slice(0, length)));
}

/** Returns at most the first `maxLength` UTF-16 code units of a text. Never splits a surrogate pair. */
export function cutAt(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
}
