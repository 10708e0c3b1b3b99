import { argumentInvalid } from "../validation/arguments.ts";

/** The text that identifies a comment, discussion, pull request, or commit of this package. */
export interface Marker {
  /** The client that wrote the text, such as a server. */
  signature: string;
  /** The purpose of the text. `undefined` if the text has a signature only. */
  marker: string | undefined;
}

/** The signature of clients that have no observer. */
export const defaultSignature = "client";

const maxMarkerChars = 200;
// Only the last marker counts, because the text before it can quote other texts.
const inComment = /<!-- hub-webhooks: (\S{1,2000})(?: (\S{1,2000}))? -->\s*$/;
const inCommit = /(?:^|\n)Hub-Webhooks: (\S{1,2000})(?: (\S{1,2000}))?\s*$/;

/** Appends a marker to the Markdown text of a comment or description, as a comment that the Hub does not render. */
export function markComment(text: string, marker: Marker): string {
  return append(text, `<!-- hub-webhooks: ${encode(marker)} -->`);
}

/** Appends a marker to the description of a commit, as its last line. */
export function markCommit(description: string, marker: Marker): string {
  return append(description, `Hub-Webhooks: ${encode(marker)}`);
}

/** Returns the marker at the end of a comment, a description, or the message of a commit, or `undefined` if there is none. */
export function readMarker(text: string): Marker | undefined {
  const [, signature = "", marker] = inComment.exec(text) ?? inCommit.exec(text) ?? [];
  try {
    if (signature !== "") {
      return { signature: decodeURIComponent(signature), marker: marker && decodeURIComponent(marker) };
    }
  } catch {
    // Another program wrote a text that looks like a marker.
  }
  return undefined;
}

/** Whether a text ends with exactly this marker. */
export function hasMarker(text: string, { signature, marker }: Marker): boolean {
  const found = readMarker(text);
  return found?.signature === signature && found.marker === marker;
}

/**
 * Checks a marker from the caller.
 *
 * @throws `ARGUMENT_INVALID`
 */
export function checkMarker(marker: string): string {
  if (typeof marker === "string" && marker !== "" && marker.length <= maxMarkerChars && marker.isWellFormed())
    return marker;
  throw argumentInvalid([{ field: "marker", problem: `expected a string of 1 to ${maxMarkerChars} characters` }]);
}

/** Encodes spaces, and characters that could end the surrounding HTML comment. */
function encode({ signature, marker }: Marker): string {
  const parts = marker === undefined ? [signature] : [signature, marker];
  return parts.map((part) => encodeURIComponent(part).replaceAll("--", "-%2D")).join(" ");
}

function append(text: string, line: string): string {
  const before = text.trimEnd();
  return before === "" ? line : `${before}\n\n${line}`;
}
