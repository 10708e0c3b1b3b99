import { plainText } from "../core/terminal-text.ts";

/**
 * The lines of a stack that add to the reason of a failure: a frame of the source, and the calls that led there. None
 * where the only call is the one that the reason names.
 */
export function framesOf({ reason, stack = "" }: { reason: string; stack?: string | undefined }): readonly string[] {
  const lines = stack.split("\n").filter((line) => line.trim() !== "" && !reason.includes(line.trim()));
  return lines.length < 2 ? [] : lines.map((line) => `    ${plainText(line.trimEnd())}`);
}
