import { fieldInvalid } from "../validation/arguments.ts";

/** A part of a text that identifies a comment, discussion, pull request, or commit of this package. */
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
const inDescription = /<!-- hub-webhooks discussion: (\S{1,2000})(?: (\S{1,2000}))? -->\s*$/;
const inCommit = /(?:^|\n)Hub-Webhooks: (\S{1,2000})(?: (\S{1,2000}))?\s*$/;

/** Appends a marker to the Markdown text of a comment, as an HTML comment that the Hub does not render. */
export function markComment(text: string, marker: Marker): string {
  return append(text, `<!-- hub-webhooks: ${encode(marker)} -->`);
}

/**
 * Appends a marker to the description of a discussion or pull request. It differs from the marker of a comment, because the Hub
 * returns the description as the first comment.
 */
export function markDescription(text: string, marker: Marker): string {
  return append(text, `<!-- hub-webhooks discussion: ${encode(marker)} -->`);
}

/** Appends a marker to the description of a commit, as its last line. */
export function markCommit(description: string, marker: Marker): string {
  return append(description, `Hub-Webhooks: ${encode(marker)}`);
}

/** Returns the marker at the end of a comment or of the message of a commit, or `undefined` if there is none. */
export function readMarker(text: string): Marker | undefined {
  return decode(inComment.exec(text) ?? inCommit.exec(text));
}

/** Returns the marker at the end of the description of a discussion or pull request, or `undefined` if there is none. */
export function readDescriptionMarker(text: string): Marker | undefined {
  return decode(inDescription.exec(text));
}

/** Whether two markers are equal. */
export function isSameMarker(left: Marker | undefined, right: Marker): boolean {
  return left?.signature === right.signature && left.marker === right.marker;
}

/** Checks a marker from the caller. @throws `ARGUMENT_INVALID` */
export function checkMarker(marker: string): string {
  if (typeof marker === "string" && marker !== "" && marker.length <= maxMarkerChars && marker.isWellFormed())
    return marker;
  throw fieldInvalid("marker", `expected a string of 1 to ${maxMarkerChars} characters`);
}

/** Encodes spaces, and characters that could end the surrounding HTML comment. */
function encode({ signature, marker }: Marker): string {
  const parts = marker === undefined ? [signature] : [signature, marker];
  return parts.map((part) => encodeURIComponent(part).replaceAll("--", "-%2D")).join(" ");
}

function decode(match: RegExpExecArray | null): Marker | undefined {
  const [, signature = "", marker] = match ?? [];
  if (signature === "") return undefined;
  try {
    return { signature: decodeURIComponent(signature), marker: marker && decodeURIComponent(marker) };
  } catch {
    return undefined; // Another program wrote a text that looks like a marker.
  }
}

function append(text: string, line: string): string {
  const before = text.trimEnd();
  return before === "" ? line : `${before}\n\n${line}`;
}
