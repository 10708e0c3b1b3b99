/** A text of at most `most` characters (UTF-16), with an ellipsis where something is missing. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${cutAt(text, most - 1)}…`;
}

/** The beginning of a text, of at most `most` characters, without half a character at its end. */
export function cutAt(text: string, most: number): string {
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "");
}
