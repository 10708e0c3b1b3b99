import { type ElementOptions, readPart } from "./response-body.ts";

export interface EventOptions extends ElementOptions {
  /**
   * The maximum length of a line in UTF-16 code units. Default `1_000_000`, which is much longer than the lines that the Hub sends.
   */
  maxLineChars?: number;
}

/**
 * Yields the data of server-sent events as they arrive. Skips comments, events whose data is not a JSON object, and events with a
 * line that is too long. Exiting the loop cancels the response.
 *
 * @throws `ResponseStalledError` if no data arrives for `timeoutMs`, the signal's abort reason, and connection errors.
 */
export async function* readEvents(
  response: Response,
  { maxLineChars = 1_000_000, ...options }: EventOptions,
): AsyncGenerator<unknown, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  let isTooLong = false;
  try {
    for (;;) {
      const { done, value } = reader ? await readPart(reader, options) : { done: true };
      const lines = (rest + (value ? decoder.decode(value, { stream: true }) : decoder.decode())).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(5));
        if (line !== "") continue;
        const event = isTooLong ? undefined : parseObject(data.join("\n"));
        data = [];
        isTooLong = false;
        if (event !== undefined) yield event;
      }
      if (done) return;
      isTooLong ||= rest.length > maxLineChars;
      rest = rest.slice(0, maxLineChars);
    }
  } finally {
    reader?.cancel().catch(() => {}); // Discards the rest of the body, if there is any.
  }
}

function parseObject(text: string): unknown {
  try {
    return text.trimStart().startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
