import { WebhookError } from "../core/errors.ts";

/**
 * Limits nesting, because deeply nested JSON overflows the stack of recursive code. Hub payloads have far fewer levels.
 */
const maxNesting = 100;

/**
 * Parses a body as JSON.
 *
 * @throws `BODY_NOT_JSON` (400), `BODY_TOO_DEEP` (400).
 */
export function parseJson(body: string): unknown {
  if (isNestedTooDeep(body)) {
    throw new WebhookError(`The body is nested more than ${maxNesting} levels deep. Send a flatter payload.`, {
      code: "BODY_TOO_DEEP",
      status: 400,
    });
  }
  try {
    return JSON.parse(body);
  } catch {
    throw new WebhookError("The body is not valid JSON. Send the payload as JSON.", {
      code: "BODY_NOT_JSON",
      status: 400,
    });
  }
}

/** Counts the depth of brackets outside of strings. Texts with few brackets are not scanned. */
function isNestedTooDeep(text: string): boolean {
  if (!hasMoreOpeners(text, maxNesting)) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (inString) {
      if (character === 0x5c) index += 1;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x7b || character === 0x5b) {
      depth += 1;
      if (depth > maxNesting) return true;
    } else if (character === 0x7d || character === 0x5d) depth -= 1;
  }
  return false;
}

function hasMoreOpeners(text: string, count: number): boolean {
  let found = 0;
  for (const opener of ["{", "["]) {
    for (let at = text.indexOf(opener); at !== -1; at = text.indexOf(opener, at + 1)) {
      found += 1;
      if (found > count) return true;
    }
  }
  return false;
}
