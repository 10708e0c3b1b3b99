/** Shortens a text to at most `maxLength` UTF-16 code units. A shortened text ends with an ellipsis. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${cutAt(text, maxLength - 1)}…`;
}

/** Returns at most the first `maxLength` UTF-16 code units of a text. Never splits a surrogate pair. */
export function cutAt(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
}
